"""Journals on disk: what is torn is cut, kept aside and said; nothing that was whole is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_toolcall.disk import Kept, open_journal
from jupyter_toolcall.events import Asked, Opened
from jupyter_toolcall.journal import Journal


def closed(kept: Kept) -> Journal:
    kept.close()
    return kept.journal


def written(path: Path) -> None:
    journal = open_journal(path)
    head = journal.journal.append(None, Opened()).id
    journal.journal.append(head, Asked("grüße\u2028 you"), {"note": "ü\u0085"})
    closed(journal)


@pytest.mark.parametrize("tear", [b'{"id": "x', b"\xff\xfe\n", b'{"id": "\xc3', b"null\nmore\n"])
def test_what_is_torn_is_kept_aside_and_the_rest_is_the_file_that_it_was(
    tmp_path: Path, tear: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole + tear)
    kept = open_journal(path)
    assert "torn; 2 entries are whole" in kept.note
    assert path.read_bytes() == whole
    assert len(closed(kept)) == 2
    assert path.with_suffix(".torn").read_bytes().rstrip() == tear.rstrip()
    again = open_journal(path)
    assert again.note == ""
    closed(again)


def test_a_second_tear_leaves_the_first_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path)
    for tear in ("first", "second"):
        with path.open("a") as file:
            file.write(tear)
        closed(open_journal(path))
    assert path.with_suffix(".torn").read_text() == "first\nsecond\n"


def test_what_another_kernel_writes_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path)
    mine = open_journal(path)
    path.write_bytes(path.read_bytes() + b"\xff")
    before = path.read_bytes()
    other = open_journal(path)
    other.journal.append(None, Opened(system="other"))
    assert "Another kernel" in other.note
    assert len(other.journal) == 3
    assert path.read_bytes() == before
    assert len(closed(mine)) == 2
