"""Code of a notebook that this computer did not make runs only where a person says so."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.sign import NotebookNotary

from jupyter_toolcall import cli
from tests.notebooks import write_notebook

CELLS = (
    "%load_ext jupyter_toolcall\nfrom jupyter_toolcall import Scripted\n"
    "open('ran', 'a').write('x')\n"
    'def double(n: int) -> int:\n    "Double it."\n    return 2 * n',
    'model = Scripted([("double", {"n": 21}), "Done."])',
    "%%toolchat -m model -t double --scheme flat --approve all\nDouble.",
)
EXERCISE = """# Six
## Checks
- It is six: `six == 6`
## Solution
```python
six = {}
```
"""
CHECKED = ("%load_ext jupyter_toolcall", "open('ran', 'a').write('x')", "%toolchat check six")


class Terminal(io.StringIO):
    """A person's terminal, with what they type."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def nobody_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))


def ran(path: Path) -> int:
    """How often the cells of a notebook ran."""
    count = path.parent / "ran"
    return len(count.read_text()) if count.exists() else 0


def made_here(tmp_path: Path) -> Path:
    source = write_notebook(tmp_path / "a" / "source.ipynb", *CELLS)
    target = tmp_path / "a" / "made.ipynb"
    assert cli.main(["run", "--trust", str(source), "--output", str(target)]) == 0
    return target


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_notebook_from_elsewhere_is_not_executed_without_a_terminal_or_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    path = Path(shutil.copy(made_here(tmp_path), tmp_path / "elsewhere"))
    for command in ("run", "verify", "check"):
        capsys.readouterr()
        assert cli.main([command, str(path)]) == 2
        captured = capsys.readouterr()
        assert (ran(path), captured.out, captured.err.count("\n")) == (0, "", 1)
        assert re.match(f"toolcall: {command} executes the code .* with your rights", captured.err)
        assert "--trust" in captured.err
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        said = " ".join(capsys.readouterr().out.split())
        assert "executes the notebook's code with your rights" in said
        assert "--trust" in said


@pytest.mark.parametrize(("answer", "status", "times"), [("y\n", 0, 1), ("n\n", 2, 0), ("", 2, 0)])
def test_a_person_is_asked_before_anything_runs(
    answer: str,
    status: int,
    times: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write_notebook(tmp_path / "b" / "a.ipynb", *CELLS)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    assert cli.main(["run", str(path)]) == status
    assert ran(path) == times
    assert "it was not made on this computer. Execute it? [y/N]" in capsys.readouterr().err


def test_what_run_wrote_is_verified_without_a_question_until_somebody_changes_any_place_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made_here(tmp_path)
    capsys.readouterr()
    assert cli.main(["verify", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"toolcall: verify executes the code of {path} with your rights.\n"
    assert captured.out == f"same     {path}: 1 session, 1 call\n"
    before, text = ran(path), path.read_text(encoding="utf-8")
    changes = ("return 2 * n", "return 2 + n"), ("model =", "print(1); model ="), ("21})", "22})")
    for old, new in (*changes, ("Done.", "Done!")):
        path.write_text(text, encoding="utf-8")
        change(path, old, new)
        assert cli.main(["run", str(path)]) == 2
        assert ran(path) == before


def in_jupyter(path: Path, sign: bool = True) -> Path:
    """Execute a notebook as Jupyter does: the kernel knows its file, and saving signs it."""
    notebook = nbformat.read(write_notebook(path, *CELLS), as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JPY_SESSION_NAME", os.path.abspath(path))
        NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.write(notebook, path)
    return signed(path) if sign else path


def signed(path: Path) -> Path:
    folder = Path(os.environ["JUPYTER_DATA_DIR"])
    folder.mkdir(exist_ok=True)
    notary = NotebookNotary(data_dir=str(folder))
    notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
    return path


def test_what_a_person_ran_in_jupyter_is_verified_unless_it_changed(tmp_path: Path) -> None:
    path = in_jupyter(tmp_path / "j" / "a.ipynb")
    assert cli.main(["verify", str(path)]) == 0
    change(path, "return 2 * n", "return 3 * n")
    assert cli.main(["verify", str(path)]) == 2
    assert cli.main(["verify", str(in_jupyter(tmp_path / "k" / "a.ipynb", sign=False))]) == 2


def test_the_signature_of_jupyter_alone_is_no_proof(tmp_path: Path) -> None:
    """Jupyter signs a notebook without outputs that it only opened and saved."""
    path = signed(write_notebook(tmp_path / "s" / "a.ipynb", *CELLS))
    assert cli.main(["run", str(path)]) == 2
    assert ran(path) == 0


def test_code_of_an_exercise_that_somebody_changed_is_asked_about(tmp_path: Path) -> None:
    folder = tmp_path / "lesson"
    source = write_notebook(folder / "source.ipynb", *CHECKED)
    (folder / "exercises").mkdir()
    file = folder / "exercises" / "six.md"
    file.write_text(EXERCISE.format("6"))
    made = folder / "made.ipynb"
    assert cli.main(["run", "--trust", str(source), "--output", str(made)]) == 0
    assert cli.main(["check", str(made)]) == 0
    before = ran(made)
    for old, new in (("six = 6", "six = 3 + 3"), ("six == 6", "6 == six")):
        file.write_text(EXERCISE.format("6"))
        change(file, old, new)
        assert cli.main(["check", str(made)]) == 2
        assert ran(made) == before


def test_nothing_is_asked_about_files_that_are_not_executed(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n" / "a.ipynb", "1 + 1")
    assert cli.main(["verify", str(path)]) == 0
    assert cli.main(["show", str(path)]) == 0


def test_a_kernel_that_is_not_here_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_notebook(tmp_path / "n" / "a.ipynb", "1 + 1")
    made: dict[str, Any] = json.loads(path.read_text())
    made["metadata"]["kernelspec"] = {"name": "no\x1bsuch", "display_name": "", "language": ""}
    path.write_text(json.dumps(made))
    assert cli.main(["run", "--trust", str(path)]) == 1
    assert "has no kernel" in capsys.readouterr().err.splitlines()[-1]
