"""What another machine wrote is history: it is shown, and allows nothing."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core import journal_entries
from jupyter_toolcall.core.errors import BrokenJournal
from jupyter_toolcall.core.events import Asked, Opened, Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder, open_journal
from jupyter_toolcall.storage.signatures import key_refusal, signer


@dataclass(frozen=True)
class Letter:
    text: str


class Post:
    """A tool with an effect, and its sessions."""

    def __init__(self, idempotent: bool = False) -> None:
        self.sent: list[str] = []

        @tool(idempotent=idempotent)
        def send(letter: Letter, to: str) -> str:
            self.sent.append(to)
            return f"sent to {to}"

        self.box = Toolbox(send)

    def model(self) -> Scripted:
        return Scripted([("send", {"letter": "$Letter", "to": "Ann"}), "done"])

    def session(self, **options: Any) -> Session:
        given = {"inputs": {"letter": Letter("hi")}, "scheme": "flat", **options}
        return Session(self.box, self.model(), **given).ask("send it")

    def load(self, path: Path, **options: Any) -> Session:
        given = {"inputs": {"letter": Letter("hi")}, **options}
        return Session.load(path, self.box, self.model(), **given)


def foreign(path: Path) -> None:
    """Make a file into one that another machine wrote."""
    path.write_text(Journal.loads(path.read_text()).dumps())


def resealed(path: Path, **change: Any) -> None:
    """Change the last line of a journal, whose sum fits then."""
    *before, last = path.read_text().splitlines()
    data = json.loads(last)
    del data["sum"]
    path.write_text("\n".join([*before, journal_entries.line(data | change), ""]))


@pytest.mark.parametrize(
    "change",
    [
        foreign,
        lambda path: resealed(path, seal="0" * 32),
        lambda path: resealed(path, meta={"at": 1, "by": "person"}),
    ],
    ids=["another machine", "another seal", "what the seal is not of"],
)
def test_an_approval_that_this_machine_has_not_sealed_is_asked_about(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    post, path = Post(), tmp_path / "s.jsonl"
    session = post.session().run()
    session.decide(session.pending[0].id).save(path)
    change(path)
    session = post.load(path).run()
    assert [call.status for call in session.pending] == ["approved"]
    assert post.sent == []
    session.decide(session.pending[0].id).run()
    assert (post.sent, session.text) == (["Ann"], "done")


def test_what_started_elsewhere_never_runs_again_on_its_own(tmp_path: Path) -> None:
    post, path = Post(idempotent=True), tmp_path / "s.jsonl"
    post.session(approve="all").run().save(path)
    lines = path.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if '"started"' in line)
    path.write_text("".join(lines[: last + 1]))
    post.sent.clear()
    mine = post.load(path).run()
    assert (post.sent, mine.text) == (["Ann"], "done")
    foreign(path)
    post.sent.clear()
    session = post.load(path).run()
    assert ([call.status for call in session.pending], post.sent) == (["unknown"], [])


def test_the_seal_of_a_folder_is_one_and_its_key_is_the_users_alone(tmp_path: Path) -> None:
    one, two, other = signer(tmp_path), signer(tmp_path), signer(tmp_path / "other")
    assert one
    assert two
    assert other
    assert one("x") == two("x") != other("x")
    assert one("x") != one("y")
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    assert os.listdir(tmp_path / "other") == ["key"]


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing here")
@pytest.mark.parametrize("mode", [0o666, 0o644, 0o640, 0o604, 0o620])
def test_a_key_open_to_others_is_refused_with_what_mends_it(mode: int, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    key.chmod(mode)
    assert signer(tmp_path) is None
    assert f"chmod 600 {key}" in key_refusal(tmp_path)
    assert "\n" not in key_refusal(tmp_path)
    assert os.listdir(tmp_path) == ["key"]
    key.chmod(0o600)
    assert signer(tmp_path)
    assert key_refusal(tmp_path) == ""


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing here")
def test_a_refused_key_says_how_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path))
    (tmp_path / "key").write_bytes(bytes(32))
    (tmp_path / "key").chmod(0o666)
    kept = open_journal(journal_file("a.ipynb", ""), signer(tmp_path))
    kept.close()
    assert f"chmod 600 {tmp_path / 'key'}" in kept.note


def test_no_modes_are_needed_for_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file looks open to others there, so it says nothing of the key."""
    made = os.open
    monkeypatch.setattr(os, "open", lambda *given: _widened(made(*given)))
    assert signer(tmp_path)


def _widened(descriptor: int) -> int:
    if os.name != "nt" and not os.path.isdir(f"/proc/self/fd/{descriptor}"):
        os.fchmod(descriptor, 0o777)
    return descriptor


def test_no_links_are_needed_for_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*given: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", link)
    one = signer(tmp_path)
    assert one
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["key"]
    sealed = hmac.new((tmp_path / "key").read_bytes(), b"x", "sha256").hexdigest()
    assert sealed.startswith(one("x"))


def test_without_a_place_for_a_key_nothing_is_sealed_and_all_still_works(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert signer(tmp_path / "file") is None
    assert '"seal"' not in Post().session().journal.dumps(None)


def test_a_line_without_a_parent_follows_the_line_above_and_fits_behind_no_other() -> None:
    key, journal = signer(journals_folder()), Journal()
    first = journal.append(None, Opened())
    asked = journal.append(first.id, Asked("one"))
    journal.append(asked.id, Replied("two"))
    other = journal.append(first.id, Asked("three"))
    journal.append(other.id, Replied("four"))
    lines = journal.dumps(key).splitlines(keepends=True)
    assert ['"parent"' in line for line in lines[1:]] == [True, False, False, True, False]
    assert [*Journal.loads("".join(lines), key)] == [*journal]
    for moved in ([*lines[:3], lines[5]], [*lines[:2], lines[3]]):
        with pytest.raises(BrokenJournal, match=r"line [34] of the journal"):
            Journal.loads("".join(moved), key)
