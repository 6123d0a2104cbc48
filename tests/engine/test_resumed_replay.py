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


def steps(session: Session, count: int) -> Session:
    """Return a session that has taken so many steps."""
    for _ in range(count):
        session.step()
    return session


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


CHANGES: list[Change] = [
    lambda session: session.edit(session.calls[0], text="hello"),
    lambda session: session.edit(session.calls[2], letter="Letter#1"),
    lambda session: session.decide_anew(session.calls[1], "reject", reason="No stamps."),
    lambda session: session.decide_anew(session.calls[2], "answer", result=7),
    lambda session: session.edit(session.calls[3], by="him").run().edit("call_1", text="hello"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_wherever_it_is_cut_off_the_recorded_replies_go_on_and_no_model_is_asked(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    whole, edited = change(recorded()), "you" if change is CHANGES[-1] else ""
    before = len(whole.journal)
    expected = told(whole.run())
    assert expected[0] == "Done."
    for cut in range(len(whole.journal) - before):
        path = tmp_path / f"{cut}.jsonl"
        steps(change(recorded()), cut).save(path)
        again = finished(Session.load(path, BOX, nobody, approve="all"), edited)
        assert told(again) == expected, f"cut off after {cut} steps"


def test_what_was_said_otherwise_on_the_new_branch_ends_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    other = recorded().edit("call_1", text="hello").run().fork("call_3_2").reply("Enough.")
    other.save(tmp_path / "s.jsonl")
    again = Session.load(tmp_path / "s.jsonl", BOX, nobody, approve="all").run()
    assert (again.text, again.head) == ("Enough.", other.head)


@pytest.mark.parametrize("approve", ["all", "ask"])
def test_a_fresh_replay_that_was_cut_off_goes_on_and_runs_no_call_twice(
    approve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    ran, year = list[str](), 2000

    def post(text: str) -> str:
        ran.append(text)
        return f"{text}, {year}"

    box, calls = Toolbox(post), [("post", {"text": text}) for text in "abcd"]
    model = Scripted([calls[0], calls[1:3], calls[3], "Done."])
    for cut in range(20):
        path, year = tmp_path / f"{cut}.jsonl", 2000
        main = finished(Session(box, model, scheme="flat", approve=approve).tell("Go."))
        count, year = len(main.journal), 2001
        ran.clear()
        replay = main.replay(fresh=True)
        for _ in range(cut):
            if steps(replay, 1).pending:
                replay.decide(replay.pending[0])
        replay.save(path)
        again = finished(Session.load(path, box, nobody, approve=approve))
        # Without an entry of its own it left no trace: what ran came out as recorded.
        if len(replay.journal) > count:
            assert (ran, again.text) == ([*"abcd"], "Done."), f"cut off after {cut} steps"
            assert [call.result[-4:] for call in again.calls] == ["2001"] * 4
    assert len(replay.journal) > count
