"""The page of figures: what each benchmark printed, with command, date, commit and machine.

make figures                 # all benchmarks
make figures ONLY="core graph"   # these; the sections of the others stay as they are
"""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PAGE = ROOT / "docs/reference/figures.md"
BEGINS = "\n## "
"""What a section begins with."""


def machine() -> str:
    """Return the machine in a few words, and how busy it is before a benchmark begins."""
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{os.cpu_count()} cores, {python}, {load}"


def section(path: Path) -> str:
    """Run a benchmark; return its heading, when and where it ran, and what it printed."""
    title = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or path.stem).split("\n\n")[0]
    revision = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(revision, cwd=ROOT, capture_output=True, text=True, check=True)
    command = f"python {path.relative_to(ROOT).as_posix()}"
    where = f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.stdout.strip()}, {machine()}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, path], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise SystemExit(f"{command} failed")
    printed = done.stdout.strip("\n")
    heading = f"{' '.join(title.split())}\n\n`{command}`: {where}."
    return f"{heading}\n\n<!-- not run: what it printed -->\n```text\n{printed}\n```\n"


def main(*names: str) -> None:
    """Run benchmarks, and write their sections into the page, in the order of their names."""
    head, *existing = PAGE.read_text("utf-8").split(BEGINS)
    sections = {text.partition("`:")[0].rpartition("`")[2]: text for text in existing}
    for path in sorted(FOLDER.glob("bench_*.py")):
        if not names or path.stem.removeprefix("bench_") in names:
            text = section(path)
            sections[text.partition("`:")[0].rpartition("`")[2]] = text
            ordered = [sections[command] for command in sorted(sections)]
            PAGE.write_text(BEGINS.join([head, *ordered]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
