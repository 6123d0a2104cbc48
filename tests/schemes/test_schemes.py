"""The schemes: what a model is offered and told, what is news, and schemes of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import NotYourTurn, UsageError
from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.state import State
from jupyter_toolcall.evaluation import compare
from jupyter_toolcall.evaluation.tasks import Task
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.models.anthropic import Claude
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.schemes import SCHEMES, Flat, Native, Offer, Scheme
from jupyter_toolcall.schemes.messages import Reply, Results, Sent, model_identity
from tests.example_tools import fries_session, play, results
from tests.schemes.test_xml_reading import WeatherTool


def open_kitchen(script: Any = FRIES, scheme: str = "select", **options: Any) -> Session:
    model = script if isinstance(script, Scripted) else Scripted(script)
    return fries_session(model, scheme, **options)


def test_flat_offers_every_tool_and_names_the_objects_of_the_start() -> None:
    inputs = {"potato": (Potato(), "The raw potato.")}
    session = open_kitchen(scheme="flat", inputs=inputs).ask("go")
    assert len(session.cursor.request.tools) == 1 + len(kitchen())
    assert "- Potato#1: The raw potato." in session.cursor.request.system


WHAT_IS_SENT = """
from jupyter_toolcall import Session
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.engine.replay import advance

given = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
for scheme in SCHEMES:
    session = Session(kitchen(), FRIES, scheme=scheme, inputs=given, approve="all").ask("go")
    while advance(session.cursor) is not None:
        request = session.cursor.request
        print([tool.definition() for tool in (*request.tools, *request.deferred)])
"""


def test_the_same_session_sends_the_same_bytes_in_every_process() -> None:
    """A prompt cache lives by that; the order of a set differs from process to process."""

    def sent(seed: str) -> str:
        code = f"SCHEMES = {[*SCHEMES]}\n{WHAT_IS_SENT}"
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert not done.stderr
        return done.stdout

    first, second = map(sent, "12")
    assert first.count("Potato_peel") > len(SCHEMES)
    assert first == second


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_the_schemes_own_tools_say_no_api_refuses(scheme: str) -> None:
    session = open_kitchen(scheme=scheme, outputs={"n": int, "fries": Plate}).ask("go")
    for tool in session.cursor.offer.own:
        text = json.dumps(tool.definition())
        assert '"format"' not in text
        assert '"description": ""' not in text


def test_the_tools_of_the_scheme_never_wait() -> None:
    script = [("selectTools", {"tools": ["Oven_bake"]}), ("save", {"fries": "Plate#1"})]
    session = open_kitchen(script, approve="none").tell("go")
    assert [call.status for call in session.calls] == ["succeeded", "succeeded"]


def test_a_replay_knows_a_model_by_its_name_settings_and_code() -> None:
    gpt = [OpenAI("gpt", options=options) for options in ({}, {"temperature": 0}, {"top_p": 1})]
    functions: list[Any] = [lambda request: Reply("One."), lambda request: Reply("Two.")]
    known = [*map(model_identity, [*gpt, *functions, Claude("claude-opus-5-5", max_tokens=9)])]
    assert known[0] == "openai:gpt"
    assert len({*known}) == len(known)


def test_a_result_is_json_that_names_objects() -> None:
    script = [("Potato_peel", {}), ("Potato_slice", {"Potato": "Potato#1", "shape": "STICKS"}), "x"]
    session = open_kitchen(script, scheme="flat").tell("go")
    assert [json.loads(result.content) for result in results(session)] == [
        {"result": "Potato#2"},
        {"error": "ValueError: peel the potato before you cut it"},
    ]


def test_a_session_reads_as_what_it_is() -> None:
    session = open_kitchen(name="lunch").tell("go")
    assert repr(session) == "<Session lunch: 8 calls, 9 objects>"
    assert str(session) == session.text
    assert session.branches == (session.head,)
    assert session.generate() is not None
    with pytest.raises(NotYourTurn):
        open_kitchen(approve="none").tell("go").ask("more")


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_description_of_a_class_is_sent_once(scheme: str, native: bool) -> None:
    options: Any = {"scheme": scheme, "native": native, "inputs": {"potato": Potato()}}
    session = Session(Toolbox(Potato, WeatherTool()), Scripted(["Done."]), **options).tell("Go.")
    request = session.requests[0].request
    text = "\n".join([request.system, *(tool.description for tool in request.tools)])
    assert text.count(str(Potato.__doc__)) == 1
    assert text.count("Tells the weather.") == 1
    # A model gets data alone: no address of an object, and no function of a tool.
    assert " at 0x" not in json.dumps(asdict(request), default=str)


# -- definitions as first sent, and what is news ------------------------------------------


def stir(minutes: int) -> str:
    """Stir."""
    return "stirred"


def bake(minutes: int) -> str:
    """Bake."""
    return "baked"


def stir_well(minutes: int) -> str:
    """Stir.

    Never stops early.
    """
    return "stirred well"


def stir_with(minutes: int, spoon: str) -> str:
    """Stir with a spoon."""
    return f"stirred with {spoon}"


NEWS = "stir now says too:\nNever stops early."
stir_well.__name__ = stir_with.__name__ = "stir"


def begun(*tools: object, scheme: str = "flat") -> Session:
    """Return a session that stirred once, and then asks its model."""
    script = Scripted([("stir", {"minutes": 1}), "Done.", "Done again."])
    session = Session(Toolbox(*tools), script, scheme=scheme, approve="all").ask("Cook.")
    while not session.calls or session.calls[0].status != "succeeded":
        session.step()
    return session


def again(session: Session, *tools: object) -> Session:
    """Return the same session in a kernel where the tools are these."""
    made = Session(
        Toolbox(*tools),
        session.cursor.context.model,
        scheme="flat",
        approve="all",
        journal=session.journal,
    )
    return made.checkout(session.head)


def sent(session: Session) -> list[tuple[int, str, str]]:
    return [(one.turn, one.name, one.description) for one in session.cursor.request.first]


def test_definitions_are_there_as_first_sent_by_turn_and_name(tmp_path: Path) -> None:
    session = begun(stir, bake)
    assert sent(session) == [(0, "bake", "Bake."), (0, "stir", "Stir.")]
    assert isinstance(session.cursor.request.first[0], Sent)
    session.save(tmp_path / "session.jsonl")
    loaded = Session.load(tmp_path / "session.jsonl", Toolbox(bake, stir), approve="all")
    assert sent(loaded) == sent(session)


def test_a_tool_that_takes_other_arguments_is_sent_again() -> None:
    later = again(begun(stir), stir_with).run()
    assert sent(later) == [(0, "stir", "Stir."), (1, "stir", "Stir with a spoon.")]
    [event] = [e.event for e in later.journal if isinstance(e.event, Replied) and not e.event.calls]
    assert (list(event.offered), event.news) == (["stir"], "")


def test_a_tool_that_says_more_is_news_behind_the_results_told_once_and_kept() -> None:
    later = again(begun(stir), stir_well)
    request = later.cursor.request
    assert request.news == NEWS
    last = request.messages[-1]
    assert isinstance(last, Results)
    assert last.news == request.news
    later.run()
    assert later.ask("Once more.").cursor.request.news == ""
    assert later.cursor.request.messages[: len(request.messages)] == request.messages
    assert sent(later) == [(0, "stir", "Stir.")]


def test_a_replay_of_news_adds_no_entry() -> None:
    first = Session(Toolbox(stir), Scripted(["Hello.", "Done."]), scheme="flat").tell("Hello?")
    later = again(first, stir_well).tell("Cook.")
    [_, reply] = [e.event for e in later.journal if isinstance(e.event, Replied)]
    assert reply.news == NEWS
    count = len(later.journal)
    assert later.replay().run().head == later.head
    assert len(later.journal) == count


def test_what_is_news_goes_behind_a_prompt_where_no_result_is_due() -> None:
    later = again(begun(stir).run(), stir_well).ask("Once more.")
    texts = [getattr(message, "text", "") for message in later.cursor.request.messages[-2:]]
    assert texts == ["Once more.", NEWS]


# -- a scheme of one's own: what to offer is all that it has to say ------------------------

GIVEN = {"oven": Oven(), "plate": Plate(), "sink": Sink(), "potato": Potato()}
PLAN: list[tuple[str, dict[str, Any]]] = [
    ("Potato_rinse", {"Potato": "$Potato", "sink": "$Sink"}),
    ("Potato_peel", {"Potato": "$Potato"}),
]


def washed(scheme: Scheme, **options: Any) -> Session:
    """Return a session in a scheme, in which a potato is rinsed and peeled."""
    return play(kitchen(), *PLAN, scheme=scheme, **{"inputs": GIVEN, **options})


class Plain(Scheme):
    """Every tool, and not a word."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        return Offer(tools=tuple(toolbox))


class Newest(Flat):
    """What the newest object can be given to."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        newest = {name.partition("#")[0] for name in state.names[-1:]}
        fits = tuple(tool for tool in toolbox if newest & {*tool.takes})
        return replace(super().offer(state, toolbox), tools=fits)


def offered(session: Session) -> list[list[str]]:
    return [[tool.name for tool in turn.request.tools] for turn in session.requests]


def test_a_scheme_that_says_no_more_than_its_offer_runs_a_session() -> None:
    session = washed(Plain())
    assert [call.object for call in session.calls] == ["Potato#2", "Potato#3"]
    assert (session.state.opened.scheme, session.text) == ("plain", "Done.")


def test_a_scheme_on_the_shoulders_of_another_offers_by_what_there_is_and_is_replayed() -> None:
    session = washed(Newest())
    takes_potatoes = ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"]
    assert offered(session) == [takes_potatoes] * 3
    assert "Potato#1" in session.requests[0].request.system
    assert session.replay().run().head == session.head


def test_a_tool_takes_the_types_that_its_schema_names_at_any_depth() -> None:
    def lay(first: Plate | None, rest: list[Potato], said: str) -> str:
        return said

    box = Toolbox(lay, Potato, Oven, Plate)
    assert box["lay"].takes == ("Plate", "Potato")
    assert box["Oven_bake"].takes == ("Oven", "Potato")


def test_a_scheme_of_ones_own_can_be_spoken_as_xml() -> None:
    session = washed(Plain(), native=True)
    assert session.state.opened.scheme == Native(Plain()).name == "native(plain)"
    assert offered(session) == [[]] * 3
    assert "rinse" in session.requests[0].request.system


def test_a_saved_session_in_a_scheme_of_ones_own_is_loaded_with_it(tmp_path: Path) -> None:
    made = Session(kitchen(), Scripted([*PLAN, "Done."]), scheme=Newest(), inputs=GIVEN)
    made.save(tmp_path / "it.jsonl")
    again = Session.load(tmp_path / "it.jsonl", kitchen(), scheme=Newest(), inputs=GIVEN)
    assert again.head == made.head
    with pytest.raises(UsageError, match="is a session in scheme 'newest'; give it with scheme="):
        Session.load(tmp_path / "it.jsonl", kitchen(), inputs=GIVEN)
    with pytest.raises(UsageError, match="is a session in scheme 'newest', not 'flat'"):
        Session.load(tmp_path / "it.jsonl", kitchen(), scheme="flat", inputs=GIVEN)


def test_schemes_of_ones_own_are_compared_with_ours() -> None:
    task = Task("wash", "Go.", kitchen(), GIVEN, {"washed": Potato}, plan=PLAN)
    runs = list(compare([task], [Newest(), "flat", "native"]))
    assert [run.scheme for run in runs] == ["newest", "flat", "native"]
    assert all(run.solved for run in runs)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Newest, r"Newest is a class; its scheme is Newest\(\)"),
        (42, "42 is no scheme: give a name"),
    ],
)
def test_what_is_no_scheme_is_told_what_one_is(wrong: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Session(kitchen(), Scripted([]), scheme=wrong)


def scheme_of(line: str, **variables: Any) -> Scheme:
    known = {"m": Scripted([]), **variables}
    return context_for_cell(parse_options(f"-m m {line}"), known, Journal(), Path())[0].scheme


def test_a_cell_takes_a_variable_that_holds_a_scheme() -> None:
    mine = Newest()
    assert scheme_of("--scheme mine", mine=mine) is mine
    assert scheme_of("--scheme flat", flat=mine) is SCHEMES["flat"]


@pytest.mark.parametrize("inner", SCHEMES)
def test_a_cell_says_that_calls_are_xml_and_that_one_has_to_be_made(inner: str) -> None:
    assert scheme_of(f"--native --force --scheme {inner}") == Native(inner, force=True)


def test_a_cell_that_names_no_scheme_is_told_which_there_are() -> None:
    with pytest.raises(UsageError, match=r"no scheme 'neweste'.*flat, newest. Did you mean newest"):
        scheme_of("--scheme neweste", newest=Newest())
