"""The laws of replay, held against random sessions: tools, schemes, policies, decisions, faults.

A session is drawn as data (`Plan`), so that one plan can be played again and again; every
tool notes its runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import Absent, CallError, NotYourTurn
from jupyter_toolcall.core.events import DECISIONS, Decided, Interrupted, Replied, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import Entry
from jupyter_toolcall.core.state_fold import state_at
from jupyter_toolcall.engine.replay import advance
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.schemes.messages import Assistant, Results
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.storage.value_store import ValueFolder
from jupyter_toolcall.tools.running_tool import (
    InputRequest,
    InputRequired,
    InputResponse,
    OutcomeUnknown,
)
from jupyter_toolcall.tools.tool import Changed
from tests.examples import examples


class Thing:
    """An object that can change, so that only copies keep it as it is."""

    def __init__(self, parts: Sequence[int] = ()) -> None:
        self.parts = list(parts)

    def grow(self, by: int) -> Thing:
        """Return a bigger one."""
        RAN.append("grow")
        return Thing([*self.parts, by])

    def spoil(self, by: int) -> None:
        """Change this one."""
        RAN.append("spoil")
        self.parts.append(by)

    def same(self) -> Thing:
        """Return this one."""
        RAN.append("same")
        return self

    def total(self) -> int:
        """Say how much it is."""
        RAN.append("total")
        return sum(self.parts)


class Holder(BaseModel):
    """A thing in a model."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    thing: Thing
    note: str = ""


class Shelf:
    """One stateful instance."""

    def __init__(self) -> None:
        self.held: list[Thing] = []

    def put(self, thing: Thing) -> int:
        """Put a thing on the shelf; say how many there are."""
        RAN.append("put")
        self.held.append(thing)
        return len(self.held)

    def take(self) -> Thing:
        """Take the thing that was put there last."""
        RAN.append("take")
        return self.held.pop()


RAN: list[str] = []
"""What ran, in its order."""


def mix(things: list[Thing], other: Thing | None = None) -> Thing:
    """Make one of many."""
    RAN.append("mix")
    more = other.parts if other else []
    return Thing([part for thing in things for part in thing.parts] + more)


def hold(holder: Holder) -> list[Thing]:
    """Make two of the one that is held."""
    RAN.append("hold")
    holder.thing.parts.append(0)
    return [holder.thing, Thing([len(holder.note)])]


@tool(read_only=True)
def look(thing: Thing) -> str:
    """Say what it is made of."""
    RAN.append("look")
    thing.parts.clear()
    return "seen"


def fail(x: int) -> int:
    RAN.append("fail")
    raise ValueError(f"no {x}")


def leave(x: int) -> int:
    """Leave."""
    RAN.append("leave")
    raise SystemExit(x)


def stop(x: int) -> int:
    """Be interrupted."""
    RAN.append("stop")
    raise KeyboardInterrupt


COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def _ask_more(left: int, total: int) -> int:
    if left:
        question = InputRequest("How many?", COUNT)
        raise InputRequired({"more": question}, {"left": left - 1, "total": total})
    return total


def go_on(state: Any, responses: Mapping[str, InputResponse], arguments: Mapping[str, Any]) -> int:
    """Add what the person said, and ask again."""
    RAN.append("ask")
    response = responses["more"]
    more = response.content["n"] if response.action == "accept" else 100
    return _ask_more(state["left"], state["total"] + more)


@tool(resume=go_on)
def ask(x: int) -> int:
    """Ask the person so often."""
    RAN.append("ask")
    return _ask_more(x, 0)


def lose(x: int) -> int:
    """Lose its outcome."""
    RAN.append("lose")
    raise OutcomeUnknown(f"{x} went away")


def note(thing: Thing) -> Any:
    """Note down how much it is."""
    RAN.append("note")
    return Changed("noted", {"noted": sum(thing.parts)})


def recall(variables: Mapping[str, Any]) -> int:
    """Say what was noted down."""
    RAN.append("recall")
    return int(variables["noted"])


TOOLS = (
    *("Thing_grow", "Thing_spoil", "Thing_same", "Thing_total", "mix", "hold", "look"),
    *("Shelf_put", "Shelf_take", "note", "recall", "fail", "leave", "stop"),
    *("ask", "lose"),
)


RECALL = Tool(
    "recall",
    "Say what was noted down.",
    {"type": "object", "properties": {}},
    recall,
    reads=("noted",),
    variables={"noted": 0},
)
BOX = Toolbox(Thing, mix, hold, look, note, RECALL, fail, leave, stop, ask, lose, Shelf())


names = st.sampled_from(["$Thing", "Thing#1", "Thing#2", "Thing#3", "Thing#9", "Thing#01", "$a"])
numbers = st.integers(0, 3)


def calls_of(tools: str | list[str], optional: Any = None, /, **fields: Any) -> Any:
    """Return calls of a tool, or of one of several, with what is drawn for each argument."""
    drawn = st.sampled_from([tools] if isinstance(tools, str) else tools)
    return st.tuples(drawn, st.fixed_dictionaries(fields, optional=optional))


fields = st.fixed_dictionaries({"thing": names}, optional={"note": st.just("n")})
arguments = st.one_of(
    calls_of("Thing_grow", Thing=names, by=numbers),
    calls_of("Thing_grow", by=numbers),
    calls_of("Thing_spoil", Thing=names, by=numbers),
    calls_of("Thing_same", Thing=names),
    calls_of("Thing_total", Thing=names),
    calls_of("mix", {"other": st.none() | names}, things=st.lists(names, max_size=3)),
    calls_of("hold", holder=fields),
    calls_of("look", thing=names),
    calls_of("Shelf_put", thing=names),
    calls_of("Shelf_take"),
    calls_of("note", thing=names),
    calls_of("recall"),
    calls_of(["fail", "leave", "stop"], x=numbers),
    calls_of(["ask", "ask", "lose"], x=numbers),
    # Faults of the model: no such tool, no such argument, a wrong type, what is not JSON.
    st.just(("nowhere", {})),
    st.just(("Thing_grow", {"by": "many", "why": 1})),
    st.just(("fail", {"x": float("nan")})),
    st.just(("selectTools", {"tools": ["look", "nowhere"]})),
    calls_of("save", made=names, count=numbers),
    # The tools of scheme current: what has no object of its own runs on the current one.
    calls_of("Thing_spoil", by=numbers),
    calls_of("Thing_total"),
    calls_of("_use_Thing", id=names),
    calls_of("_saveAs", name=st.sampled_from(["a", "$b"])),
)
turns = st.one_of(
    st.lists(arguments, min_size=1, max_size=3), st.just(["I think."]), arguments.map(lambda a: [a])
)
choices = st.tuples(
    st.sampled_from(["approve", "approve", "edit", "reject", "answer"]), st.integers(0, 2), numbers
)


@dataclass(frozen=True)
class Plan:
    """All that a play of a session depends on."""

    scheme: str
    approve: str
    outputs: bool
    prompts: int
    script: tuple[Any, ...]
    choices: tuple[tuple[str, int, int], ...]


plans = st.builds(
    Plan,
    st.sampled_from([*SCHEMES, *(f"native({name})" for name in SCHEMES)]),
    st.sampled_from(["all", "ask", "none", "read-only"]),
    st.booleans(),
    st.integers(1, 2),
    st.lists(turns, max_size=7).map(tuple),
    st.lists(choices, max_size=12).map(tuple),
)


def without_gifts(plan: Plan) -> Plan:
    """Return a plan in which no person gives an object, which is nowhere in the journal."""
    return replace(plan, choices=tuple((verdict, n, 0) for verdict, n, _ in plan.choices))


def opened(
    plan: Plan, journal: Journal | None = None, approve: str = "", shelf: ValueFolder | None = None
) -> Session:
    script = list(plan.script)
    if "select" in plan.scheme:
        script.insert(0, ("selectTools", {"tools": list(TOOLS[:-1])}))
    if "current" in plan.scheme:
        script.insert(0, [("_use_Thing", {"id": "Thing#1"}), ("_saveAs", {"name": "a"})])
    session = Session(
        BOX,
        Scripted(script),
        scheme=plan.scheme,
        approve=approve or plan.approve,
        inputs={"thing": Thing([1])},
        outputs={"made": Thing, "count": int} if plan.outputs else {},
        journal=journal,
    )
    session.cursor.context.values.value_store = shelf
    return session


def run(session: Session) -> Session:
    """Run to the next pause, as a person would who was interrupted."""
    while True:
        try:
            return session.run()
        except KeyboardInterrupt:
            continue


def decide(session: Session, waiting: CallRecord, choice: tuple[str, int, int]) -> None:
    """Decide as was drawn; what cannot be is rejected in its place."""
    verdict, _, number = choice
    try:
        match verdict:
            case "approve" | "answer" if waiting.waits_for_input:
                session.decide(waiting, "answer", result={"n": number})
            case "edit":
                changed = {
                    k: number if isinstance(v, int) else v for k, v in waiting.arguments.items()
                }
                session.decide(waiting, "edit", arguments=changed)
            case "answer":
                session.decide(waiting, "answer", result=["Thing#1", 7, Thing([7])][number % 3])
            case "reject":
                session.decide(waiting, "reject", reason="no")
            case _:
                session.decide(waiting)
    except CallError:
        session.decide(waiting, "reject", reason="it does not fit")


def play(plan: Plan, shelf: ValueFolder | None = None) -> Session:
    """Play a plan from its first prompt to a pause in which nothing waits, or no choice is left."""
    session, drawn = opened(plan, shelf=shelf), list(plan.choices)
    for number in range(plan.prompts):
        run(session.ask(f"prompt {number}"))
        while session.pending and drawn:
            choice = drawn.pop()
            waiting = session.pending
            decide(session, waiting[choice[1] % len(waiting)], choice)
            run(session)
        if session.pending:
            break
    return session


many = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


@given(plans)
@many
def test_an_unchanged_replay_adds_no_entry_and_runs_nothing_from_any_place(plan: Plan) -> None:
    session = play(plan)
    entries = [entry.id for entry in session.journal.path(session.head)]
    count, RAN[:] = len(session.journal), []
    for place in [None, *entries, *(call.id for call in session.calls)]:
        assert run(session.replay(place)).head == session.head
    assert len(session.journal) == count
    assert RAN == []


@given(plans)
@many
def test_a_journal_that_was_saved_and_loaded_is_the_same_session(plan: Plan) -> None:
    session = play(without_gifts(plan))
    seal = signer(journals_folder())
    text = session.journal.dumps(seal)
    loaded = Journal.loads(text, seal=seal)
    assert loaded.dumps(seal) == text
    state = state_at(loaded, session.head)
    assert state == session.state
    assert all(map(CallRecord.same_facts, state.all_calls(), session.state.all_calls()))
    # With the same inputs the values come back, and an unchanged replay adds nothing.
    reopened = opened(plan, loaded)
    reopened.cursor.context.values.by_digest.update(session.cursor.context.values.by_digest)
    reopened.checkout(session.head)
    again = run(reopened.replay())
    assert again.head == session.head
    assert len(loaded) == len(session.journal)
    for name in session.objects:
        assert again[name].parts == session[name].parts


@given(plans)
@many
def test_every_call_id_gets_exactly_one_result_in_call_order(plan: Plan) -> None:
    session = play(plan)
    for message, after in zip(
        session.cursor.request.messages, [*session.cursor.request.messages[1:], None], strict=True
    ):
        if isinstance(message, Assistant) and message.calls and after is not None:
            assert isinstance(after, Results)
            assert [r.call_id for r in after.results] == [c.id for c in message.calls]
    ids = [call.id for call in session.calls]
    assert len(set(ids)) == len(ids)


@given(plans)
@many
def test_nothing_runs_that_was_not_approved_as_it_ran(plan: Plan) -> None:
    RAN.clear()
    session = play(plan)
    path = session.journal.path(session.head)
    started = [e.event.call_id for e in path if isinstance(e.event, Started)]
    assert len(RAN) == sum(call_id in of_tools(session) for call_id in started)
    approved: dict[str, Entry] = {}
    responses: dict[str, Entry] = {}
    for entry in path:
        match entry.event:
            case Decided(call_id, round=number) if number:
                responses[call_id] = entry
            case Decided(call_id):
                approved[call_id] = entry
                responses.pop(call_id, None)
            case Started(call_id, approval_digest=approval_digest) if approval_digest:
                # The policy approved it.
                assert plan.approve != "none" or call_id not in of_tools(session)
            case Started(call_id) if call_id in responses:
                # A response is good for one start.
                assert responses.pop(call_id).meta["by"] == "person"
            case Started(call_id):
                decided = approved[call_id].event
                assert isinstance(decided, Decided)
                assert decided.decision in ("approve", "edit")
                assert decided.approval_digest
                assert approved[call_id].meta["by"] == "person"


@given(plans)
@many
def test_an_object_never_changes_and_a_name_is_never_used_twice(plan: Plan) -> None:
    session = opened(plan, approve="all")
    session.ask("go")
    seen: dict[str, list[int]] = {}
    moving = True
    while moving:
        try:
            moving = advance(session.cursor) is not None
        except KeyboardInterrupt:
            continue
        for name in session.objects:
            assert seen.setdefault(name, session[name].parts) == session[name].parts
            session[name].parts.append(99)
    assert list(session.objects) == list(dict.fromkeys(session.objects))
    assert [name.partition("#")[2] for name in session.objects] == [
        str(number + 1) for number in range(len(session.objects))
    ]


def of_tools(session: Session) -> set[str]:
    """Return the calls of the toolbox: a scheme's own are kept as they were spelled out."""
    return {call.id for call in session.state.all_calls() if call.tool in BOX}


# -- another kernel, another machine, every call again ---------------------------------------


def elsewhere(plan: Plan, session: Session, shelf: ValueFolder | None, own: bool = True) -> Session:
    """Return a session as another kernel has it, on this machine or on another."""
    seal = signer(journals_folder())
    loaded = Journal.loads(session.journal.dumps(seal if own else None), seal=seal)
    return opened(plan, loaded, shelf=shelf).checkout(session.head)


def starts(session: Session, since: int) -> list[Started]:
    """Return the starts of calls of the toolbox."""
    events = (entry.event for entry in session.journal.entries_after(since))
    mine = of_tools(session)
    return [e for e in events if isinstance(e, Started) and e.call_id in mine]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ValueFolder:
    seal = signer(journals_folder())
    assert seal is not None
    return ValueFolder(tmp_path_factory.mktemp("values"), seal, 1 << 30)


@given(plan=plans)
@many
def test_with_its_values_a_replay_elsewhere_adds_nothing(plan: Plan, store: ValueFolder) -> None:
    session = play(plan, store)
    again = elsewhere(plan, session, store)
    count, RAN[:] = len(again.journal), []
    assert run(again.replay()).head == session.head
    # What is read quickly is not stored: `look` may run again for the object that it changed.
    assert (len(again.journal), {*RAN} - {"look"}) == (count, set())
    for name in session.objects:
        assert again[name].parts == session[name].parts


@given(plans.map(without_gifts))
@many
def test_in_another_kernel_without_values_nothing_runs_twice_on_one_word(plan: Plan) -> None:
    again = elsewhere(plan, play(plan), None)
    count, RAN[:] = len(again.journal), []
    run(again.replay())
    assert all(start.approval_digest for start in starts(again, count)), "by the policy"
    # What ran once more on a recorded word is what the policy of today lets run.
    allowed = {"look"} if plan.approve in ("ask", "read-only", "none") else {*RAN}
    assert {*RAN} <= allowed


@given(plan=plans.map(without_gifts))
@many
def test_the_record_of_another_machine_allows_nothing(plan: Plan, store: ValueFolder) -> None:
    session = play(plan, store)
    theirs = elsewhere(plan, session, store, own=False)
    assert [call.id for call in theirs.calls] == [call.id for call in session.calls]
    for name in theirs.objects[1:]:
        with pytest.raises(Absent):
            theirs[name]
    count, RAN[:] = len(theirs.journal), []
    run(theirs.replay())
    assert all(start.approval_digest for start in starts(theirs, count)), "by the policy"
    assert plan.approve == "all" or {*RAN} <= {"look"}
    assert plan.approve != "none" or RAN == []


@given(plans)
@many
def test_a_fresh_replay_runs_everything_once_and_equal_results_add_nothing(plan: Plan) -> None:
    RAN.clear()
    session = play(plan)
    # Nobody is asked again, and what has no known outcome does not run again.
    kept = {"ask", "lose"}
    ran, count = sorted(name for name in RAN if name not in kept), len(session.journal)
    RAN.clear()
    again = run(session.replay(fresh=True))
    assert (again.head, len(again.journal)) == (session.head, count)
    assert sorted(name for name in RAN if name not in kept) == ran
    assert not again.journal.path(again.head)[1:] or again.came_out().same


def test_the_random_sessions_reach_what_they_are_drawn_for() -> None:
    """Plays a fixed plan, so that the laws above cannot hold for want of anything to check."""
    script = (
        [("Thing_grow", {"by": 1}), ("fail", {"x": 1})],
        [("stop", {"x": 1})],
        [("hold", {"holder": {"thing": "$Thing"}})],
        [("save", {"made": "$Thing", "count": 1})],
    )
    session = play(Plan("flat", "ask", True, 1, script, (("approve", 0, 0),) * 9))
    assert [c.status for c in session.calls] == [
        *("succeeded", "failed", "interrupted", "succeeded", "succeeded")
    ]
    assert isinstance(session.state.calls["call_2"].outcome, Interrupted)
    assert session.outputs["count"] == 1
    assert isinstance(session.state.last, Replied)
    assert session.objects == ("Thing#1", "Thing#2", "Thing#3", "Thing#4")


def test_a_decision_on_a_call_that_does_not_wait_changes_nothing() -> None:
    session = play(Plan("flat", "all", False, 1, ([("Thing_grow", {"by": 1})],), ()))
    count = len(session.journal)
    for verdict in DECISIONS:
        with pytest.raises(NotYourTurn, match="call_1"):
            session.decide("call_1", verdict, arguments={"by": 2} if verdict == "edit" else None)
    assert len(session.journal) == count
