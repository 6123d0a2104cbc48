"""A recording repeats a model's replies as long as the requests are the recorded ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import ModelError, UsageError
from jupyter_toolcall.core.events import Call, Event, Opened, Usage
from jupyter_toolcall.core.secrets import HIDDEN
from jupyter_toolcall.kitchen import FRIES, Plate, Potato
from jupyter_toolcall.models import Recorded, Recording, Reply, Request
from jupyter_toolcall.schemes.messages import Model, User
from tests.example_tools import fries_session

CANARY = "canary-0123456789abcdef"
PROMPT = "Bake me some fries."


def said(session: Session) -> list[Event]:
    """What happened in a session, whoever its model was."""
    return [e.event for e in session.journal if not isinstance(e.event, Opened)]


def lines(tape: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in tape.read_text().split("\n")[:-1]]


def telling(session: Session, *prompts: str) -> Session:
    for prompt in prompts:
        session.tell(prompt)
    return session


def refusal(act: Callable[[], object], kind: type[Exception] = ModelError) -> str:
    with pytest.raises(kind) as found:
        act()
    assert len(str(found.value).splitlines()) <= 2
    return str(found.value)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """The kitchen's own session, recorded."""
    fries_session(Recording(FRIES, tmp_path / "tape.jsonl")).tell(PROMPT)
    return tmp_path / "tape.jsonl"


# -- the same again ------------------------------------------------------------------------


SPOKEN: dict[str, dict[str, Any]] = {
    "select": {},
    "flat": {"scheme": "flat"},
    "current": {"scheme": "current"},
    "native": {"scheme": "flat", "native": True},
}


@pytest.mark.parametrize("kind", ["recording", "journal"])
@pytest.mark.parametrize("how", SPOKEN)
def test_what_was_recorded_is_replayed_in_every_scheme(tmp_path: Path, how: str, kind: str) -> None:
    wrong = ("Potato_rinse", {"x": 1})
    turns: list[Any] = [
        ["First the dirt.", ("Potato_rinse", {"sink": "$Sink"}), wrong],
        ("Potato_peel", {}),
        ["Here.", ("save", {"fries": "$Plate"})],
    ]
    path = tmp_path / "tape.jsonl"
    model = Recording(Scripted(turns), path) if kind == "recording" else Scripted(turns)
    first = fries_session(model, **SPOKEN[how]).tell(PROMPT)
    if kind == "journal":
        first.save(path)
    again = fries_session(Recorded(path), **SPOKEN[how]).tell(PROMPT)
    assert len(first.calls) == (5 if how == "select" else 4)
    assert {"succeeded", "failed"} <= {call.status for call in first.calls}
    assert said(again) == said(first)


def test_everything_of_a_reply_is_kept(tmp_path: Path) -> None:
    reply = Reply(
        "half \ud800, line\u2028end, naïve",
        (Call("a", "f", {"x": [1, {"y": None}]}), Call("b", "g", {}, "broken: no JSON")),
        "tools",
        Usage(10, 4, 3, 2),
        {"provider": [{"signature": "abc"}]},
        "hm",
    )
    model = Recording(lambda request: reply, tmp_path / "tape.jsonl")
    request = Request("", (), (User("Go."),))
    assert model(request) == reply
    assert Recorded(tmp_path / "tape.jsonl")(request) == reply


words = st.text(st.characters(exclude_categories=()), min_size=1, max_size=20)
values = st.one_of(st.none(), st.booleans(), st.integers(), words)
turns: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(words, st.tuples(st.sampled_from(["f", "?"]), st.dictionaries(words, values))),
    max_size=6,
)


@given(turns=turns, prompts=st.lists(words.filter(str.strip), min_size=1, max_size=3))
def test_any_recording_says_the_same_again(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Any], prompts: list[str]
) -> None:
    def f(x: str = "") -> str:
        return x

    path = tmp_path_factory.mktemp("tape") / "tape.jsonl"
    script = Scripted([*turns, *["done"] * len(prompts)])
    options: dict[str, Any] = {"scheme": "flat", "approve": "all"}
    first = telling(Session(Toolbox(f), Recording(script, path), **options), *prompts)
    again = telling(Session(Toolbox(f), Recorded(path), **options), *prompts)
    assert said(again) == said(first)


def test_text_comes_in_pieces_and_a_long_one_in_few(tape: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    fries_session(Recorded(tape, on_text=heard.append)).tell(PROMPT)
    assert len(heard) > 10
    assert "".join(heard) == "".join(line["reply"].get("text", "") for line in lines(tape))
    heard.clear()
    text, path = "many  words\n\n" * 5_000, tmp_path / "long.jsonl"
    Session(Toolbox(), Recording(Scripted([text]), path)).tell("Go.")
    Session(Toolbox(), Recorded(path, on_text=heard.append)).tell("Go.")
    assert "".join(heard) == text
    assert 10 < len(heard) < 30


def test_a_recording_is_a_model_by_its_name(tape: Path) -> None:
    session = fries_session(f"recorded:{tape}").tell(PROMPT)
    assert session.outputs["fries"] == Plate("fries: sticks")


def test_another_recording_is_another_model(tape: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    fries_session(Recording(Scripted(["No."]), other)).tell(PROMPT)
    names = [Recorded(path, name="tape.jsonl").identity for path in (tape, tape, other)]
    assert names[0] == names[1] != names[2]
    assert all(name.startswith("recorded:tape.jsonl:") for name in names)


# -- what is in the file -------------------------------------------------------------------


def test_a_line_is_a_turn_and_says_only_what_is_new(tape: Path) -> None:
    found = lines(tape)
    assert [line["turn"] for line in found] == [*range(1, 9)]
    assert [line["told"][0] for line in found] == [
        {"user": PROMPT},
        *({"reply": turn} for turn in range(1, 8)),
    ]
    assert [len(line["told"]) for line in found] == [1, *[2] * 7]
    text = tape.read_text()
    assert text.count(PROMPT) == 1
    assert text.count("You work with objects by tools.") == 1
    assert text.count('"name": "Potato_slice"') == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found[0]["at"])
    assert {line["model"] for line in found} == {FRIES.identity}


def test_the_body_that_was_sent_is_known_by_its_digest(tmp_path: Path) -> None:
    class Adapter:
        name = "mine"

        def __call__(self, request: Request) -> Reply:
            return Reply("Hello.")

        def body(self, request: Request) -> dict[str, Any]:
            return {"turn": request.turn, "key": CANARY}

    telling(Session(Toolbox(), Recording(Adapter(), tmp_path / "a.jsonl")), "One.", "Two.")
    bodies = [line["body"] for line in lines(tmp_path / "a.jsonl")]
    assert len({*bodies}) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", body) for body in bodies)


LEAKS = {
    "a secret": f"{CANARY}-secret",
    "a header": f"x-api-key: {CANARY}",
    "a bearer": f"Authorization: Bearer {CANARY}",
    "json": json.dumps({"authorization": f"Bearer {CANARY}", "X-Api-Key": CANARY}),
    "json in json": json.dumps(json.dumps({"api_key": CANARY})),
    "a python text": str({"Cookie": CANARY, "x-goog-api-key": CANARY}),
    "a key": f"sk-ant-{CANARY}",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_no_key_and_no_secret_reaches_a_recording(
    tmp_path: Path, leak: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", f"{CANARY}-secret")
    text, path = LEAKS[leak], tmp_path / "tape.jsonl"

    @tool(description=text)
    def f(x: Any = None) -> str:
        return text

    raw = {"headers": {"Authorization": f"{CANARY}", "x-request-id": "r-1"}, "content": [text]}
    replies = [Reply(text, (Call("a", "f", {"x": text}),), "tools", raw=raw, thought=text)]
    model = Recording(lambda request: replies.pop() if replies else Reply("done"), path)
    options: dict[str, Any] = {"scheme": "flat", "approve": "all", "system": text}
    Session(Toolbox(f), model, **options).tell(text)
    for file in tmp_path.iterdir():
        assert CANARY not in file.read_text()
        assert HIDDEN in file.read_text()
        assert "r-1" in file.read_text()
    # Told with the secret in its place, it is the same request.
    assert Session(Toolbox(f), Recorded(path), **options).tell(text).text == "done"


# -- a file that is cut, or is another one -------------------------------------------------


def test_a_recording_that_is_cut_anywhere_is_read_up_to_there(tape: Path, tmp_path: Path) -> None:
    whole, cut = tape.read_bytes(), tmp_path / "cut.jsonl"
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for size in range(1, len(whole), 7):
        cut.write_bytes(whole[:size])
        # A line that lacks only its end is whole.
        turns = sum(end <= size + 1 for end in ends)
        model = Recorded(cut)
        assert sum(len(course.turns) for course in model.courses) == turns
        assert ("torn" in model.note) == (size not in ends and size + 1 not in ends)


@pytest.mark.parametrize("lost", [1, 2, 40, 400])
def test_recording_goes_on_behind_a_torn_line_and_says_so(tape: Path, lost: int) -> None:
    before = lines(tape)
    tape.write_bytes(tape.read_bytes()[:-lost])
    model = Recording(FRIES, tape, clock=lambda: 0)
    # A last line that lacks only its end is whole.
    torn = "torn and is left out; 7 turns before it are whole"
    assert torn in model.note if lost > 1 else not model.note
    fries_session(model).tell(PROMPT).tell("And now?")
    assert len(lines(tape)) > 8
    for line, old in zip(lines(tape), before, strict=False):
        assert {**line, "at": ""} == {**old, "at": ""}


def test_a_kernel_that_is_killed_in_a_turn_leaves_the_turns_before(tmp_path: Path) -> None:
    path, kept = tmp_path / "tape.jsonl", list[Any]()

    def model(request: Request) -> Reply:
        kept.append([line["reply"]["text"] for line in lines(path)] if request.turn else [])
        return Reply(f"turn {request.turn}")

    telling(Session(Toolbox(), Recording(model, path)), "1?", "2?", "3?")
    assert kept == [[], ["turn 0"], ["turn 0", "turn 1"]]


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", '{"turn": 1}\n{"turn": 2}\n', "[]\n", '{"cells": []}']
)
def test_what_is_no_recording_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    for make in (lambda: Recorded(path), lambda: Recording(FRIES, path)):
        assert "line 1 is no turn" in refusal(make, UsageError)
    assert path.read_text() == text


def test_a_wrong_line_is_named(tape: Path) -> None:
    good = tape.read_text().splitlines(keepends=True)
    for wrong in (['{"turn": 3}\n', *good[3:]], [good[0]]):
        tape.write_text("".join([*good[:2], *wrong]))
        assert "line 3 is no turn" in refusal(lambda: Recorded(tape), UsageError)


def test_a_file_that_is_not_there_is_missed_at_once(tmp_path: Path) -> None:
    said = refusal(lambda: Recorded(tmp_path / "no.jsonl", name="no.jsonl"), UsageError)
    assert said == "there is no recording no.jsonl; --record no.jsonl makes one"
    assert "cannot be written" in refusal(lambda: Recording(FRIES, tmp_path), UsageError)


def test_a_reply_that_cannot_be_written_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def model(request: Request) -> Reply:
        asked.append(request.turn)
        return Reply(f"turn {request.turn}")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "tape.jsonl"
    session = Session(Toolbox(), Recording(model, path)).tell("One?")
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        told = refusal(lambda: session.tell("Two?"))
    assert "cannot be written (No space left on device)" in told
    assert [line["turn"] for line in lines(path)] == [1]
    assert session.run().text == "turn 1"
    assert asked == [0, 1]
    assert [line["turn"] for line in lines(path)] == [1, 2]


# -- something else than was recorded ------------------------------------------------------


def test_another_prompt_is_named_and_shown(tape: Path) -> None:
    told = refusal(lambda: fries_session(Recorded(tape, name="tape.jsonl")).tell("Bake me fries."))
    assert told.splitlines() == [
        "turn 1 differs from tape.jsonl in the prompt: "
        "recorded “Bake me some fries.”, now “Bake me fries.”.",
        "To continue with another model, name it: -m NAME; --record FILE records it.",
    ]


def washing(
    model: Model, about: str = "Wash the dirt off.", fails: bool = False, **options: Any
) -> Session:
    """A session with one tool, which may be another one."""

    @tool(description=about)
    def wash(potato: Potato) -> Potato:
        if fails:
            raise ValueError("the sink is full")
        return replace(potato, rinsed=True)

    options = {"inputs": {"potato": Potato()}, "scheme": "flat", "approve": "all", **options}
    return Session(Toolbox(wash), model, **options)


WASHED = Scripted([("wash", {"potato": "$Potato"}), "Clean."])


@pytest.fixture
def washed(tmp_path: Path) -> Recorded:
    """A recording of `washing`."""
    washing(Recording(WASHED, tmp_path / "tape.jsonl")).tell("Wash.")
    return Recorded(tmp_path / "tape.jsonl", name="tape.jsonl")


@pytest.mark.parametrize(
    ("turn", "options", "what", "recorded", "now"),
    [
        (
            *(2, {"fails": True}, "result of wash (call_1)", '{"result": "Potato#2"}'),
            '{"error": "ValueError: the sink is full"}',
        ),
        (1, {"about": "Wash it."}, "description of tool wash", "Wash the dirt off.", "Wash it."),
        (
            *(1, {"system": "Be brief."}, "system text", "…at the start:⏎- Potato#1"),
            "…at the start:⏎- Potato#1⏎⏎Be brief.",
        ),
        (1, {"outputs": {"clean": Potato}}, "tools", "wash", "save, wash"),
    ],
)
def test_what_is_told_otherwise_is_named_with_its_turn(
    washed: Recorded, turn: int, options: dict[str, Any], what: str, recorded: str, now: str
) -> None:
    told = refusal(lambda: washing(washed, **options).tell("Wash.")).splitlines()[0]
    differs = f"turn {turn} differs from tape.jsonl in the {what}"
    assert told == f"{differs}: recorded “{recorded}”, now “{now}”."
    assert washing(washed).tell("Wash.").text == "Clean."


def test_a_long_text_is_shown_where_it_differs(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    Session(Toolbox(), Recording(Scripted(["Yes."]), path)).tell("a" * 5_000 + "b")
    told = refusal(lambda: Session(Toolbox(), Recorded(path)).tell("a" * 5_000 + "\x1bc"))
    assert f"recorded “…{'a' * 24}b”, now “…{'a' * 24}\\u001bc”" in told


def test_the_session_goes_on_with_another_model_from_there(washed: Recorded) -> None:
    session = washing(washed, fails=True)
    refusal(lambda: session.tell("Wash."))
    count = len(session.journal)
    refusal(session.run)
    assert len(session.journal) == count
    session.cursor.context.model = Scripted(["", "I cannot."])
    assert session.run().text == "I cannot."


def test_a_recording_that_is_at_its_end_says_so(tape: Path) -> None:
    session = fries_session(Recorded(tape, name="tape.jsonl")).tell(PROMPT)
    told = refusal(lambda: session.tell("And now?"))
    assert told.startswith("tape.jsonl holds turns 1 to 8, and turn 9 was asked for.\n")


# -- recording goes on ---------------------------------------------------------------------


def test_a_recording_goes_on_where_it_ended_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    """Questions beside the conversation are courses of their own."""
    asked: list[int] = []

    def model(request: Request) -> Reply:
        asked.append(request.turn + request.beside)
        return Reply(f"reply {asked[-1]}")

    def texts(model: Any, prompts: str = "ABC") -> list[str]:
        session = Session(Toolbox(), model)
        questions = [session.query([1], "What?"), session.tell("A?").text]
        questions += [session.query([n], "What?") for n in (1, 2)]
        return [*questions, *(session.tell(f"{prompt}?").text for prompt in prompts)]

    path = tmp_path / "tape.jsonl"
    recorded = [texts(Recording(model, path), prompts) for prompts in ("B", "BC", "BC", "BCD")][-1]
    assert recorded == texts(Recorded(path), "BCD")
    assert asked == [*range(len(asked))]
    assert recorded[-1] == f"reply {asked[-1]}"


def test_another_course_is_refused_before_anybody_is_asked(tape: Path) -> None:
    before = tape.read_bytes()

    def never(request: Request) -> Reply:
        raise AssertionError("asked")

    other = fries_session(Recording(never, tape, name="tape.jsonl"))
    told = refusal(lambda: other.tell("Boil it."))
    assert "tape.jsonl holds another recording: turn 1 differs in the prompt" in told
    same = fries_session(Recording(never, tape))
    assert "turn 1 was said by scripted:kitchen" in refusal(lambda: same.tell(PROMPT))
    assert tape.read_bytes() == before


def test_a_branch_that_leaves_the_recording_is_recorded_elsewhere(tmp_path: Path) -> None:
    script = Scripted([("Potato_peel", {}), "one", "two", "three"])
    path = tmp_path / "tape.jsonl"
    session = fries_session(Recording(script, path), scheme="flat", outputs={}).tell("Peel.")
    branch = session.tell("And?").fork(session.calls[0]).run()
    branch.ask("Or?")
    assert "turn 3 differs in the prompt" in refusal(branch.run)
    other = tmp_path / "other.jsonl"
    branch.cursor.context.model = Recording(script, other)
    assert branch.run().text == "two"
    [line] = lines(other)
    assert line["turn"] == 3
    assert [*line["told"][0]] == ["user"]
    replayed = fries_session(Recorded(other), scheme="flat", outputs={})
    assert "holds turns 3 to 3, and turn 1 was asked for" in refusal(lambda: replayed.tell("Peel."))


def test_two_recorders_of_one_file_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    one, two = (Recording(Scripted(["a", "b", "c"]), path) for _ in range(2))
    for number, model in enumerate((one, two, one)):
        telling(Session(Toolbox(), model), *["?"] * (number + 1))
    assert [line["turn"] for line in lines(path)] == [1, 2, 3]


def test_a_file_that_another_program_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"

    def model(request: Request) -> Reply:
        path.write_text("mine\n")
        return Reply("yours")

    session = Session(Toolbox(), Recording(model, path))
    assert "was changed by another program" in refusal(lambda: session.tell("?"))
    assert path.read_text() == "mine\n"


def test_a_recorder_is_called_and_heard_as_its_model_is(tmp_path: Path) -> None:
    class Adapter:
        name = "mine"
        on_text: Callable[[str], object] = staticmethod(lambda text: None)

        def __call__(self, request: Request) -> Reply:
            self.on_text("Hel")
            self.on_text("lo")
            return Reply("Hello")

    heard: list[str] = []
    model = Recording(Adapter(), tmp_path / "tape.jsonl")
    assert model.name == "mine"
    assert not hasattr(model, "on_wait")
    assert not hasattr(model, "body")
    model.on_text = heard.append
    Session(Toolbox(), model).tell("?")
    assert heard == ["Hel", "lo"]


# -- a journal is a recording --------------------------------------------------------------


@pytest.mark.parametrize("how", SPOKEN)
def test_what_a_call_came_to_is_compared_with_a_journal(tmp_path: Path, how: str) -> None:
    select = [("selectTools", {"tools": ["wash"]})] if how == "select" else []
    script = Scripted([*select, *([("wash", {"potato": "$Potato"})] * 2), "Good."])
    options = {"scheme": "select", **SPOKEN[how]}
    washing(script, **options).tell(PROMPT).save(tmp_path / "session.jsonl")
    model = Recorded(tmp_path / "session.jsonl")
    told = refusal(lambda: washing(model, fails=True, **options).tell(PROMPT))
    assert f"turn {2 + len(select)} differs" in told
    assert "Potato#2" in told


def test_every_branch_of_a_journal_is_said_again(tmp_path: Path) -> None:
    session = fries_session(FRIES).tell(PROMPT)
    edited = session.edit(session.calls[3], shape="SLICES").run()
    session.save(tmp_path / "session.jsonl")
    again = fries_session(Recorded(tmp_path / "session.jsonl")).tell(PROMPT)
    branch = again.edit(again.calls[3], shape="SLICES").run()
    assert said(branch)[-1] == said(edited)[-1]
    assert branch.fork(branch.calls[4]).run().text == edited.text


def test_a_journal_without_a_reply_is_no_recording(tmp_path: Path) -> None:
    fries_session(FRIES).ask(PROMPT).save(tmp_path / "session.jsonl")
    said = refusal(lambda: Recorded(tmp_path / "session.jsonl", name="s.jsonl"), UsageError)
    assert said == "s.jsonl holds no session with a reply in it"
