"""A replay that the end of its kernel cut off goes on in the next one as it would have gone on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.models import Scripted
from jupyter_toolcall.schemes.messages import Reply, Request


@dataclass(frozen=True)
class Letter:
    text: str
    stamps: tuple[str, ...] = ()

    def stamp(self, by: str) -> Letter:
        """Put a stamp on it."""
        return Letter(self.text, (*self.stamps, by))


def write(text: str) -> Letter:
    """Write a letter."""
    return Letter(text)


def count(letter: Letter) -> int:
    """Count the stamps of a letter."""
    return len(letter.stamps)


BOX = Toolbox(write, count, Letter)
SCRIPT: list[Any] = [
    ("write", {"text": "hi"}),
    [("Letter_stamp", {"by": "me"}), ("count", {"letter": "Letter#1"})],
    [("Letter_stamp", {"by": "you"}), ("write", {"text": "bye"})],
    ("count", {"letter": "$Letter"}),
    "Done.",
]
Change = Callable[[Session], Session]


def nobody(request: Request) -> Reply | None:
    """Fail: a model that is asked for what is recorded is asked in vain."""
    raise AssertionError(f"the model was asked again, in turn {len(request.messages)}")


def recorded() -> Session:
    """Return a finished session of five turns, two of which have two calls."""
    return Session(BOX, Scripted(SCRIPT), scheme="flat", approve="all").tell("Send it.")


def told(session: Session) -> list[Any]:
    """Return what a session came to."""
    calls = [(call.tool, dict(call.arguments), call.status, call.result) for call in session.calls]
    return [session.text, *calls]


def finished(session: Session, again: str = "") -> Session:
    """Return a session that has run to its end; what a cut left open is approved once more.

    A stamp by `again` is edited once more to be by him.

    A saved file is a copy: the session may have gone on elsewhere, so a person is asked.
    """
    session.run()
    while session.pending:
        call = session.pending[0]
        if call.status == "proposed" and call.arguments.get("by") == again:
            session.decide(call, "edit", arguments={**call.arguments, "by": "him"}).run()
        else:
            session.decide(call).run()
    return session


def with_other_tool(session: Session) -> Session:
    """Return a saved session as it is loaded after a tool was changed."""

    def count(letter: Letter) -> int:
        """Count the stamps of a letter."""
        return len(letter.stamps) + 100

    session.save("recorded.jsonl")
    return Session.load("recorded.jsonl", Toolbox(write, count, Letter), nobody, approve="all")


CHANGES: list[Change] = [
    lambda session: session.edit(session.calls[0], text="hello"),
    lambda session: session.edit(session.calls[2], letter="Letter#1"),
    lambda session: session.edit("call_3_1", by="him").edit("call_1", text="hello"),
    lambda session: session.edit("call_3_1", by="him").replay("call_1"),
    lambda session: session.edit("call_3_1", by="x").decide_anew("call_1", "answer", result="no"),
    lambda session: session.decide_anew(session.calls[1], "reject", reason="No stamps."),
    lambda session: session.decide_anew(session.calls[2], "answer", result=7),
    lambda session: with_other_tool(session).replay(),
    lambda session: session.edit(session.calls[3], by="him").run().edit("call_1", text="hello"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_wherever_it_is_cut_off_the_recorded_replies_go_on_and_no_model_is_asked(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    whole, cut = change(recorded()).run(), change(recorded())
    edited = "you" if change is CHANGES[-1] else ""
    assert whole.text == "Done."
    while cut.head != whole.head:
        cut.save("cut.jsonl")
        # Before its first new entry nothing tells of a replay.
        if len(cut.journal) > len(recorded().journal):
            again = Session.load("cut.jsonl", whole.toolbox, nobody, approve="all")
            assert told(finished(again, edited)) == told(whole)
        cut.step()


def test_what_a_fork_replied_otherwise_ends_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    edited = recorded().edit("call_1", text="hello").run()
    # Calls have the ids of the recorded ones.
    calls = [("Letter_stamp", {"by": "her"}), ("write", {"text": "no"})]
    for reply, model in ((["Enough."], nobody), (["", *calls], Scripted([*SCRIPT[:3], "Enough."]))):
        edited.fork("call_2_2").reply(*reply).save(tmp_path / "s.jsonl")
        again = Session.load(tmp_path / "s.jsonl", BOX, model)
        assert finished(again).text == "Enough."
