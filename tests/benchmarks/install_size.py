"""How many packages `pip install` of a wheel brings, how large they are, and who needs them.

Run it as `python tests/benchmarks/install_size.py WHEEL [EXTRA ...]`. The last column is what
would not be installed if the wheel did not depend on that package.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

NAME = "jupyter-toolcall"
LISTING = """
import json, re
from importlib.metadata import distributions
from pip._vendor.packaging.requirements import Requirement

def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()

def needed(distribution, extras):
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            yield normal(requirement.name), sorted(requirement.extras)

found = {}
for each in distributions():
    size = sum(path.stat().st_size for path in map(each.locate_file, each.files or ())
               if path.is_file())
    requires = {extra: list(needed(each, ["", extra]))
                for extra in ["", *(each.metadata.get_all("Provides-Extra") or ())]}
    found[normal(each.metadata["Name"])] = {"size": size, "requires": requires}
print(json.dumps(found))
"""

Packages = Mapping[str, Mapping[str, object]]


def installed(wheel: Path, extras: Collection[str], folder: Path) -> dict[str, dict[str, object]]:
    """Return the packages of a new environment: size and requirements by extra."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    target = f"{wheel.resolve()}[{','.join(extras)}]" if extras else str(wheel.resolve())
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", target], check=True)
    listed = subprocess.run([python, "-c", LISTING], check=True, capture_output=True, text=True)
    packages: dict[str, dict[str, object]] = json.loads(listed.stdout)
    return packages


def requirements(packages: Packages, name: str, extra: str) -> Iterator[tuple[str, str]]:
    """Yield the installed packages that one needs under an extra, each with its extras."""
    requires = packages[name]["requires"]
    assert isinstance(requires, dict)
    for needed, extras in requires.get(extra, ()):
        if needed in packages:
            yield from ((needed, each) for each in ["", *extras])


def reached(packages: Packages, extras: Collection[str], without: str = "") -> set[str]:
    """Return the packages that the wheel brings when it does not itself need `without`."""
    seen = {(NAME, extra) for extra in ["", *extras]}
    queue = [*seen]
    while queue:
        name, extra = queue.pop()
        for needed in requirements(packages, name, extra):
            if needed not in seen and not (name == NAME and needed[0] == without):
                seen.add(needed)
                queue.append(needed)
    return {name for name, _ in seen}


def megabytes(packages: Packages, names: Collection[str]) -> float:
    return sum(size for name in names if isinstance(size := packages[name]["size"], int)) / 1e6


def main(wheel: Path, *extras: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        packages = installed(wheel, extras, Path(folder) / "env")
    everything = reached(packages, extras)
    print(f"{len(everything)} packages, {megabytes(packages, everything):.1f} MB")
    direct = {name for each in ["", *extras] for name, _ in requirements(packages, NAME, each)}
    shares = {name: everything - reached(packages, extras, name) for name in direct}
    for name in sorted(direct, key=lambda each: -megabytes(packages, shares[each])):
        own = megabytes(packages, [name])
        share = megabytes(packages, shares[name])
        print(f"{name:20} {own:6.1f} MB  without it {share:6.1f} MB and {len(shares[name])} less")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
