"""The toolset `files` reads, lists and writes in one folder, and never outside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_toolcall.toolsets import files
from tests.example_tools import play

SECRET = "outside-9182"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, in one that holds a file which is nobody's business."""
    inside = tmp_path / "inside"
    (inside / "reports").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "inside-too").mkdir()
    (tmp_path / "inside-too" / "secret.txt").write_text(SECRET)
    (inside / "notes.txt").write_text("one\ntwo\nthree\n")
    (inside / "reports" / "2024.csv").write_text("a,b\n1,2\n")
    (inside / ".env").write_text(SECRET)
    return inside


def called(folder: Path, name: str, /, **arguments: Any) -> Any:
    """The call of one tool, approved."""
    return play(files(folder), (f"files_{name}", arguments)).calls[0]


def snapshot(folder: Path) -> dict[str, bytes]:
    """The files around a folder, with what they hold."""
    paths = (path for path in folder.parent.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in paths}


def test_files_are_listed_and_read_by_lines(folder: Path) -> None:
    listed, inner = (called(folder, "list", folder=name).result for name in (".", "reports"))
    assert listed["entries"] == [{"file": "notes.txt", "bytes": 14}, {"folder": "reports"}]
    assert inner["entries"] == [{"file": "2024.csv", "bytes": 8}]
    made = called(folder, "read", path="notes.txt", first_line=2, lines=1).result
    assert made == {"text": "two\n", "lines_in_file": 3}
    assert called(folder, "read", path="reports/2024.csv").result["text"] == "a,b\n1,2\n"


def test_writing_says_what_it_replaced(folder: Path) -> None:
    created = called(folder, "write", path="reports/new.txt", text="é").result
    assert created == {"written": "2 bytes", "replaced": "nothing: the file is new"}
    assert called(folder, "write", path="notes.txt", text="x").result["replaced"] == "14 bytes"
    assert (folder / "notes.txt").read_text() == "x"
    assert sorted(os.listdir(folder)) == [".env", "notes.txt", "reports"]


def test_reading_runs_unasked_and_writing_waits(folder: Path) -> None:
    write = ("files_write", {"path": "notes.txt", "text": ""})
    session = play(files(folder), ("files_read", {"path": "notes.txt"}), write, approve="ask")
    assert [call.tool for call in session.pending] == ["files_write"]
    assert (folder / "notes.txt").read_text().startswith("one")


OUTSIDE = [
    *("../secret.txt", "reports/../../secret.txt", "./notes.txt", "reports//2024.csv"),
    *("/etc/passwd", "//server/share/x", "..", "...", ".", "", "~/x", "~root/x"),
    *("C:\\Windows\\win.ini", "C:notes.txt", "..\\secret.txt", "reports\\2024.csv"),
    *("notes.txt::$DATA", "notes.txt:hidden", "notes.txt\0.png", "notes.txt\n", "notes.txt."),
    *("notes.txt ", " notes.txt", "CON", "con.txt", "reports/nul.txt", "NUL.tar.gz", "COM1"),
    *("lpt9.log", "com\u00b2", "CONIN$", "aux .txt", ".env", "reports/.hidden", "NOTES.TXT"),
    *("Reports/2024.csv", "file://notes.txt", "%2e%2e/secret.txt", "notes.txt/../../secret.txt"),
    *("\u2024\u2024/secret.txt", "inside-too/secret.txt"),
    "a/" * 40 + "x",
    "x" * 300,
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_outside(folder: Path, path: str) -> None:
    before = snapshot(folder)
    for name, more in (("read", {}), ("write", {"text": "gone"})):
        call = called(folder, name, path=path, **more)
        assert call.status == "failed", (name, call.result)
        assert SECRET not in str(call.outcome)
        assert str(folder) not in str(call.outcome)
        assert "\n" not in str(call.outcome.message)
    assert called(folder, "list", folder=path or "?").status == "failed" or path == "."
    assert snapshot(folder) == before


def test_a_link_is_neither_followed_nor_replaced(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "up").symlink_to(folder.parent)
    (folder / "loop").symlink_to("loop")
    (folder / "inner.txt").symlink_to("notes.txt")
    before = snapshot(folder)
    for path in ("link.txt", "up/secret.txt", "loop", "inner.txt", "up/inside/notes.txt"):
        for name, more in (("read", {}), ("write", {"text": "gone"})):
            assert called(folder, name, path=path, **more).status == "failed"
    assert called(folder, "list", folder="up").status == "failed"
    assert {"file": "link.txt", "bytes": 12} not in called(folder, "list").result["entries"]
    assert snapshot(folder) == before
    assert (folder / "link.txt").is_symlink()


def test_a_hard_link_to_a_file_outside_is_replaced_and_not_written_through(folder: Path) -> None:
    (folder / "hard.txt").hardlink_to(folder.parent / "secret.txt")
    assert called(folder, "write", path="hard.txt", text="new").status == "succeeded"
    assert (folder.parent / "secret.txt").read_text() == SECRET


def test_a_pipe_and_a_folder_are_no_files(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in ("pipe", "reports"):
        assert called(folder, "read", path=path).status == "failed"
        assert called(folder, "write", path=path, text="x").status == "failed"


def test_a_name_in_another_case_is_refused_with_the_existing_one(folder: Path) -> None:
    call = called(folder, "write", path="Notes.txt", text="x")
    assert call.outcome.message == "Notes.txt differs from notes.txt in case only; use that name"
    call = called(folder, "read", path="Notes.txt")
    assert "Did you mean notes.txt?" in call.outcome.message


def test_sizes_are_capped(folder: Path) -> None:
    (folder / "large.txt").write_bytes(b"x" * 10_000_001)
    (folder / "long.txt").write_bytes(b"x" * 60_000)
    (folder / "binary").write_bytes(b"\x89PNG\0")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    assert "larger than" in called(folder, "read", path="large.txt").outcome.message
    made = called(folder, "read", path="long.txt").result
    assert (len(made["text"]), made["cut"]) == (50_000, "the first 50,000 characters")
    assert called(folder, "read", path="binary").outcome.message == "binary is no text file"
    assert "UTF-8" in called(folder, "read", path="latin.txt").outcome.message
    assert called(folder, "write", path="much.txt", text="x" * 500_001).status == "failed"
    assert not (folder / "much.txt").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "", "/", "\\", "reports", "secret.txt", "inside", "~",
                                 "\0", "CON", "x", ":", "%2e", "\u202e", " "]), max_size=7),
       st.sampled_from(["/", "", "\\", "//"]))  # fmt: skip
def test_no_random_path_reads_or_changes_anything_outside(
    folder: Path, parts: list[str], separator: str
) -> None:
    outside = folder.parent / "secret.txt"
    path = separator.join(parts)
    assert SECRET not in str(called(folder, "read", path=path).outcome)
    called(folder, "write", path=path, text="written")
    assert outside.read_text() == SECRET
    assert sorted(os.listdir(folder.parent)) == ["inside", "inside-too", "secret.txt"]


def test_the_card_says_which_file_is_replaced(folder: Path) -> None:
    tool = files(folder)["files_write"]
    assert tool.effect is not None
    assert tool.effect({"path": "notes.txt"}, "m") == "Replaces notes.txt (14 bytes)."
    assert tool.effect({"path": "new.txt"}, "m") == "Creates new.txt."
