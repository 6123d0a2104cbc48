"""Forks, edits and replays of a session, and replays that the end of a kernel cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import CallError, NotYourTurn, UsageError
from jupyter_toolcall.models import Reply, Request
from tests.example_tools import run_calls

RAN: list[str] = []


@dataclass(frozen=True)
class Cup:
    taste: str = ""

    def add(self, what: str) -> Cup:
        RAN.append(f"add {what}")
        if what == "salt":
            raise ValueError("no salt")
        return Cup(f"{self.taste}+{what}")

    @tool(read_only=True)
    def smell(self) -> str:
        RAN.append("smell")
        return self.taste


def pour() -> Cup:
    RAN.append("pour")
    return Cup("water")


def add_up(x: int, y: int = 1) -> int:
    return x + y


def mix(cups: dict[str, list[Cup]]) -> Cup:
    """Mix cups."""
    return Cup("+".join(cup.taste for each in cups.values() for cup in each))


POUR: Any = ("pour", {})
SCRIPT = [
    ("Cup_add", {"Cup": "Cup#1", "what": "tea"}),
    ("pour", {}),
    ("Cup_add", {"Cup": "Cup#2", "what": "milk"}),
    ("Cup_smell", {"Cup": "Cup#4"}),
    "done",
]


def make(script: Any = SCRIPT, approve: str = "all") -> Session:
    RAN.clear()
    return run_calls(Cup, pour, calls=script, approve=approve, inputs={"cup": Cup()})


def test_an_edit_is_told_to_the_model() -> None:
    edited = make().edit("call_1", what="mint").run()
    told = edited.cursor.request.messages[2].results[0].content  # type: ignore[union-attr]
    assert "A person changed this call" in told
    assert "mint" in told


def test_what_fails_for_want_of_an_object_names_the_call_where_it_began() -> None:
    edited = make().edit("call_1", what="salt").run()
    assert edited.calls[3].arguments["Cup"] == "Cup#4"
    assert edited.calls[1].result == "Cup#3"
    assert (
        "Cup#4 was not made on this branch, since call 1 (Cup_add) failed: "
        "edit that call, or fork from it and ask the model again; objects of that type: Cup#3"
    ) in edited.calls[3].error
    with pytest.raises(CallError, match=r"since call 1 \(Cup_add\) failed"):
        edited.edit("call_3", what="honey")
    assert edited.edit("call_3", Cup="Cup#1").run().calls[2].result == "Cup#4"


class Plate:
    """Another object."""


def served(kinds: str) -> list[Cup | Plate]:
    return [Cup() if kind == "c" else Plate() for kind in kinds]


def test_a_result_with_new_and_old_names_takes_none_of_a_later_call() -> None:
    calls, inputs = [("served", {"kinds": "pp"}), POUR], {"c": Cup()}
    session = run_calls(Cup, Plate, served, pour, calls=calls, inputs=inputs)
    assert session.calls[1].result == "Cup#2"
    once = session.edit("call_1", kinds="pc").run()
    assert [call.result for call in once.calls] == [["Plate#1", "Cup#3"], "Cup#2"]
    twice = once.edit("call_1", kinds="cc").run()
    assert [call.result for call in twice.calls] == [["Cup#4", "Cup#3"], "Cup#2"]


def test_what_is_missing_inside_of_an_argument_is_found_again() -> None:
    calls = [POUR, ("mix", {"cups": {"first": ["Cup#1", "Cup#2"]}})]
    whole = run_calls(Cup, pour, mix, calls=calls, inputs={"c": Cup()})
    gone = whole.decide_anew("call_1", "reject").run()
    error = gone.calls[1].error
    assert "Cup#2 was not made on this branch, since call 1 (pour) was rejected" in error
    assert gone.decide_anew("call_1", "approve").run().calls[1] == whole.calls[1]


def test_a_fork_asks_the_model_again_and_a_new_call_always_runs() -> None:
    session = make()
    RAN.clear()
    forked = session.fork("call_1").run()
    assert RAN == ["pour", "add milk", "smell"]
    assert forked.text == "done"
    assert session.checkout(forked.head).head == forked.head


@pytest.mark.parametrize(
    ("follow", "tea"),
    [
        (lambda edited: edited.edit("call_1", what="mint"), "mint"),
        (lambda edited: edited.decide_anew("call_1", "edit", arguments={"what": "mint"}), "mint"),
        (lambda edited: edited.replay("call_2"), "tea"),
        (lambda edited: edited.replay(), "tea"),
    ],
    ids=["an edit", "a decision", "a replay from a call", "a replay"],
)
def test_what_follows_an_edit_before_its_run_repeats_it_to_the_end_and_asks_no_model(
    follow: Callable[[Session], Session], tea: str
) -> None:
    asked, script = list[Request](), Scripted(SCRIPT)

    def model(request: Request) -> Reply | None:
        asked.append(request)
        return script(request)

    options: Any = {"scheme": "flat", "approve": "all", "inputs": {"cup": Cup()}}
    session = Session(Toolbox(Cup, pour), model, **options).tell("tea")
    edited = session.edit("call_3", what="honey")
    with pytest.raises(NotYourTurn, match="has not come to call_4 yet: run"):
        edited.edit("call_4", Cup="Cup#1")
    asked.clear()
    ended = follow(edited).run()
    tastes = [ended[name].taste for name in ended.objects]
    assert tastes == ["", f"+{tea}", "water", f"+{tea}+honey"]
    assert (ended.calls[3].result, ended.text, asked) == (f"+{tea}+honey", "done", [])


class Noted(Session):
    """A session with something of its own."""

    note = ""


def test_a_session_of_a_subclass_forks_and_loads_into_its_class(tmp_path: Path) -> None:
    session = Noted(Toolbox(Cup), Scripted(["done"]), scheme="flat", inputs={"cup": Cup()})
    session.tell("tea").note = "kept"
    forked = session.shown().fork()
    assert isinstance(forked, Noted)
    assert (forked.note, "_ipython_display_" in vars(forked)) == ("kept", False)
    session.save(tmp_path / "s.jsonl")
    assert isinstance(Noted.load(tmp_path / "s.jsonl", Toolbox(Cup)), Noted)


def test_an_edit_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    session = make()
    count = len(session.journal)
    with pytest.raises(CallError, match="there is no such argument"):
        session.edit("call_1", how="hot")
    with pytest.raises(CallError, match="there is no object 'Cup#3'"):
        session.edit("call_1", Cup="Cup#3")
    with pytest.raises(NotYourTurn, match="there is no call 'call_9'"):
        session.edit("call_9", what="x")
    assert len(session.journal) == count


def test_a_place_of_another_branch_is_not_replayed_from() -> None:
    session = make()
    edited = session.edit("call_1", what="mint").run()
    with pytest.raises(NotYourTurn, match="not on this branch"):
        session.replay(edited.head)


def test_a_call_that_was_shown_before_it_changed_is_not_approved() -> None:
    session = make([[POUR, ("Cup_add", {"what": "tea"})], "done"], approve="ask")
    waiting = session.state.calls["call_1_2"]
    shown = session.cursor.prepared(waiting, session.state)[0].approval_digest
    session.decide("call_1_2", approval_digest=shown)
    session.decide("call_1_1").run()
    # The newest cup is another one now, so that what was approved is not what would run.
    assert [(call.id, call.status) for call in session.pending] == [("call_1_2", "approved")]
    with pytest.raises(NotYourTurn, match="has changed since it was shown"):
        session.decide("call_1_2", approval_digest=shown)
    with pytest.raises(NotYourTurn, match="has changed since it was shown"):
        session.decide("call_1_2", bound=shown)
    session.decide("call_1_2").run()
    assert session["Cup#3"] == Cup("water+tea")


def test_an_edit_survives_a_second_approval() -> None:
    session = make([[POUR, ("Cup_add", {"what": "tea"})], "done"], approve="ask")
    session.decide("call_1_2", "edit", arguments={"what": "mint"}).decide("call_1_1").run()
    session.decide("call_1_2").run()
    assert session.calls[1].arguments["what"] == "mint"
    assert session["Cup#3"] == Cup("water+mint")


def test_a_decision_is_taken_once_and_again_on_a_fork_where_a_replay_repeats_it() -> None:
    session = make(approve="ask").decide("call_1")
    with pytest.raises(NotYourTurn, match="decided on already"):
        session.decide("call_1")
    fork = session.fork()
    session.run()
    fork.decide("call_1").run()
    count, paused = len(fork.journal), fork.replay("call_1")
    assert (paused.calls[0].status, paused.pending) == ("proposed", ())
    with pytest.raises(NotYourTurn, match="decided on already"):
        paused.decide("call_1")
    assert paused.run().head == fork.head
    assert (len(fork.journal), RAN) == (count, ["add tea", "add tea"])


def test_an_edit_chooses_another_tool_which_a_replay_and_a_later_edit_keep() -> None:
    failed = run_calls(Cup, pour, add_up, calls=[("pur", {})])
    with pytest.raises(UsageError, match="'approve' takes no tool"):
        failed.decide_anew("call_1", "approve", tool="pour")
    with pytest.raises(CallError, match="there is no tool 'pore'"):
        failed.decide_anew("call_1", "edit", arguments={}, tool="pore")
    poured = failed.decide_anew("call_1", "edit", arguments={}, tool="pour").run()
    assert (poured.calls[0].tool, poured.calls[0].result) == ("pour", "Cup#1")
    assert "what ran in its place: pour()" in repr(poured.cursor.request.messages)
    added = failed.decide_anew("call_1", "edit", arguments={"x": 1}, tool="add_up").run()
    again = added.edit("call_1", x=4).run()
    assert [call.result for call in (*again.calls, *again.replay().run().calls)] == [5, 5]
    assert [*again.branch_names][1:] == [
        "pour (call 1)",
        "add_up, x=1 (call 1)",
        "add_up, x=4 (call 1)",
    ]


# -- a replay that the end of its kernel cut off goes on in the next one as it would have gone on --


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
LETTERS: list[Any] = [
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
    return Session(BOX, Scripted(LETTERS), scheme="flat", approve="all").tell("Send it.")


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
    lambda session: session.edit(session.calls[3], by="him").edit("call_1", text="hello"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize("change", CHANGES)
def test_wherever_it_is_cut_off_the_recorded_replies_go_on(change: Change, folder: Path) -> None:
    whole, edited = change(recorded()), "you" if change in CHANGES[-2:] else ""
    before = len(whole.journal)
    expected = told(whole.run())
    assert expected[0] == "Done."
    for cut in range(len(whole.journal) - before):
        path = folder / f"{cut}.jsonl"
        steps(change(recorded()), cut).save(path)
        again = finished(Session.load(path, BOX, nobody, approve="all"), edited)
        assert told(again) == expected, f"cut off after {cut} steps"


def test_what_was_said_otherwise_on_the_new_branch_ends_the_replay(folder: Path) -> None:
    other = recorded().edit("call_1", text="hello").run().fork("call_3_2").reply("Enough.")
    other.save(folder / "s.jsonl")
    again = Session.load(folder / "s.jsonl", BOX, nobody, approve="all").run()
    assert (again.text, again.head) == ("Enough.", other.head)


@pytest.mark.parametrize("approve", ["all", "ask"])
def test_a_fresh_replay_that_was_cut_off_runs_no_call_twice(approve: Any, folder: Path) -> None:
    ran, year = list[str](), 2000

    def post(text: str) -> str:
        ran.append(text)
        return f"{text}, {year}"

    box, calls = Toolbox(post), [("post", {"text": text}) for text in "abcd"]
    model = Scripted([calls[0], calls[1:3], calls[3], "Done."])
    for cut in range(20):
        path, year = folder / f"{cut}.jsonl", 2000
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
