"""`docs/architecture.md`: its examples run as they stand, and the files that it names are there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jupyter_toolcall.export import formats

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_examples_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "FORMATS", dict(formats.FORMATS))
    monkeypatch.chdir(tmp_path)
    assert len(EXAMPLES) == 6
    module = ModuleType("architecture_examples")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for example in EXAMPLES:
        exec(compile(example, "docs/architecture.md", "exec"), vars(module))


def test_the_files_and_packages_that_it_names_are_there() -> None:
    package = ROOT / "jupyter_toolcall"
    files = {name for name in re.findall(r"`(\w+/\w+\.py)`", PAGE) if not name.startswith("tests")}
    assert len(files) > 20
    assert [name for name in sorted(files) if not (package / name).is_file()] == []
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    table = PAGE.partition("## The life of a call")[0]
    assert packages == {*re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)}
    renamed = re.findall(r"^\| `([\w/]+\.ts)` \|", PAGE, re.MULTILINE)
    sources = ROOT / "labextension" / "src"
    assert [name for name in renamed if not (sources / name).is_file()] == []
