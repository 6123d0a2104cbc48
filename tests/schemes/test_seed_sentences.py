"""Sentences of the five published systems that were once read too loosely, each with its test.

Each test quotes its sentence. [The tables](../../docs/reference/five-systems.md) have all the
others, in our words.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.schemes import SCHEMES, Native

Test = Callable[..., None]
QUOTED: dict[str, tuple[str, str]] = {}
"""For each test the system (0 to 4), and the sentence of its document."""


def quotes(system: int, sentence: str) -> Callable[[Test], Test]:
    def note(test: Test) -> Test:
        QUOTED[test.__name__] = str(system), sentence
        return test

    return note


@dataclass
class Heard:
    """A model from a script that keeps its requests."""

    script: list[Any]

    def __post_init__(self) -> None:
        self.inner, self.requests = Scripted(self.script), list[Request]()

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.inner(request)

    @property
    def sent(self) -> str:
        """All that was sent: system texts, definitions and messages."""
        parts = [
            (r.system, *(t.definition() for t in r.tools), *map(repr, r.messages))
            for r in self.requests
        ]
        return json.dumps(parts, ensure_ascii=False, default=dict)


def session(box: Toolbox, *script: Any, scheme: Any = "flat", **options: Any) -> Session:
    return Session(box, Heard([*script]), scheme=scheme, approve="all", **options)


def heard(of: Session) -> Heard:
    model = of.cursor.context.model
    assert isinstance(model, Heard)
    return model


class Hen:
    """A hen that lays."""

    def __init__(self, eggs: int = 3) -> None:
        self.eggs = eggs

    def lay(self) -> Hen:
        """Lay an egg."""
        return Hen(self.eggs + 1)

    def __repr__(self) -> str:
        return f"Hen(eggs={self.eggs})"


def nothing() -> str:
    """Do nothing."""
    return ""


EVERY = pytest.mark.parametrize("scheme", [*SCHEMES, "native"])
BOX = Toolbox(nothing)


# -- 000 and 001 ---------------------------------------------------------------------------------


@quotes(0, "Each tool call creates a new object as output")
@EVERY
def test_an_object_is_told_by_its_name_and_never_by_its_address(scheme: str) -> None:
    class Nest:
        def __str__(self) -> str:
            return "a nest"

    def build() -> Nest:
        return Nest()

    choose = [("selectTools", {"tools": ["build"]})] if scheme == "select" else []
    run = session(Toolbox(build), *choose, ("build", {}), "Done.", scheme=scheme).tell("Build.")
    assert (run.calls[-1].object, run.text) == ("Nest#1", "Done.")
    assert "Nest#1" in heard(run).sent
    # A model gets data alone: no function of a tool either.
    assert " at 0x" not in json.dumps([*map(asdict, heard(run).requests)], default=str)
    entries = len(run.journal)
    assert run.replay().run().text == "Done."
    assert len(run.journal) == entries


@quotes(0, "Save your work, making the requested outputs available to the user.")
@pytest.mark.parametrize(
    ("kind", "saved", "found"),
    [
        (list[Hen], ["Hen#1", "Hen#2"], "[Hen(eggs=3), Hen(eggs=4)]"),
        (Hen | None, "Hen#2", "Hen(eggs=4)"),
        *((kind, "Hen#1", "Hen(eggs=3)") for kind in (Any, object)),
        (dict[str, Hen], {"a": "Hen#2"}, "{'a': Hen(eggs=4)}"),
    ],
)
def test_an_output_of_any_type_is_saved_with_the_objects_that_it_names(
    kind: Any, saved: Any, found: str
) -> None:
    inputs = {"a": Hen(3), "b": Hen(4)}
    run = session(Toolbox(Hen), ("save", {"it": saved}), inputs=inputs, outputs={"it": kind})
    assert repr(run.tell("Save.").outputs["it"]) == found


@quotes(0, "The `selectTools` tool describes available tools and objects")
@EVERY
def test_a_text_among_the_inputs_is_told_whole(scheme: str) -> None:
    letter = " ".join(f"word{number}" for number in range(400))
    run = session(BOX, "Read.", scheme=scheme, inputs={"letter": (letter, "A letter.")})
    assert letter in heard(run.tell("Read it.")).sent


@quotes(1, "A **scalar value**, such as a string or boolean")
@EVERY
def test_a_result_that_is_too_long_is_read_to_its_end(scheme: str) -> None:
    def page() -> str:
        return "".join(f"line {number}\n" for number in range(20_000))

    choose = [("selectTools", {"tools": ["page"]})] if scheme == "select" else []
    call = f"call_{len(choose) + 1}"
    read = ("read_result", {"call": call, "search": "line 19999"})
    run = session(Toolbox(page), *choose, ("page", {}), read, "Done.", scheme=scheme).tell("Read.")
    sent = heard(run).sent.replace("\\", "")
    assert "line 300n" in sent  # The end of a line, without its backslash.
    assert f'read_result("{call}", start=20000)' in sent
    assert "line 19999" in run.calls[-1].result


Point = namedtuple("Point", "x y")


class Stamp(datetime):
    """A date of a library."""


@quotes(1, '{ "result": 12 }')
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Stamp(2024, 1, 2), "2024-01-02T00:00:00"),
        (Point(1, 2), {"x": 1, "y": 2}),
        (range(3), [0, 1, 2]),
        ({"k": 1}.keys(), ["k"]),
    ],
)
def test_whatever_json_can_hold_is_a_result_and_no_object(value: Any, told: Any) -> None:
    def get() -> Any:
        return value

    [call] = session(Toolbox(get), ("get", {}), "Done.").tell("Go.").calls
    assert (call.object, json.loads(json.dumps(call.result))) == ("", told)


@quotes(1, '`_saveAs(name: "foo")`: Save the current Object as a named variable (`$foo`).')
def test_a_variable_of_the_model_is_read_by_the_program() -> None:
    script = [("_use_Hen", {"id": "Hen#1"}), ("_saveAs", {"name": "foo"}), ("Hen_lay", {}), "Done."]
    run = session(Toolbox(Hen), *script, scheme="current", inputs={"hen": Hen()}).tell("Lay.")
    assert (run.value("$foo").eggs, run["Hen#2"].eggs) == (3, 4)


@quotes(1, "The system behaves like a **functional state machine**.")
@EVERY
def test_a_replay_is_stepped_call_by_call_and_a_fresh_one_runs_all(scheme: str) -> None:
    laid: list[int] = []

    def lay(number: int) -> int:
        """Lay an egg."""
        laid.append(number)
        return number

    choose = [("selectTools", {"tools": ["lay"]})] if scheme == "select" else []
    script = *choose, ("lay", {"number": 1}), ("lay", {"number": 2}), "Done."
    run = session(Toolbox(lay), *script, scheme=scheme).tell("Lay.")
    entries, calls = len(run.journal), len(run.calls)
    panel = PanelController(run, lambda notice: None)
    panel.receive({"type": "replay", "call": run.calls[0].id})
    asyncio.run(panel.resume())
    for ended in range(calls):
        # Each click ends one call, and none looks as if a kernel had stopped while it ran.
        statuses = [call.status for call in panel.session.calls]
        assert statuses[:ended] == ["succeeded"] * ended
        assert {*statuses[ended:]} <= {"proposed"}
        panel.receive({"type": "step"})
        asyncio.run(panel.resume())
    assert [call.status for call in panel.session.calls] == ["succeeded"] * calls
    assert (len(run.journal), laid) == (entries, [1, 2])
    fresh, edited = run.replay(fresh=True).run(), run.edit(run.calls[-1], number=3).run()
    assert laid == [1, 2, 1, 2, 3]
    texts = [shown._repr_mimebundle_()["text/plain"] for shown in (fresh, edited)]
    assert ["cached" in text for text in texts] == [False, True]


# -- 002 -----------------------------------------------------------------------------------------


@quotes(2, "automatically for the user. E.g., `m.transform` and `m.query`.")
@EVERY
def test_a_question_shows_the_object_that_it_is_about(scheme: str) -> None:
    ask = session(Toolbox(Hen), ("save", {"result": 3}), "Done.", scheme=scheme)
    assert ask.query(Hen(3), "How many eggs?", returns=int) == 3
    assert "Hen(eggs=3)" in heard(ask).sent
    ask = session(Toolbox(Hen), ("save", {"result": "Hen#1"}), "Done.", scheme=scheme)
    assert ask.transform(Hen(5), "Count.").eggs == 5
    assert "Hen(eggs=5)" in heard(ask).sent


@quotes(2, "Certain things such as `transform` have a default semantics")
@pytest.mark.parametrize("value", [{"a": 1}, [1, 2]])
def test_plain_data_is_transformed(value: Any) -> None:
    other = {"a": 2} if isinstance(value, dict) else [2, 4]
    ask = session(BOX, ("save", {"result": other}), "Done.")
    assert ask.transform(value, "Double it.") == other


@quotes(2, "the Session handles things automatically for the user")
def test_an_answer_in_words_is_an_answer() -> None:
    assert session(BOX, "It is 3.", "3").query("1+2", "What?", returns=int) == 3


@quotes(2, "Pass back the `ModelOutputThunk` with tool calls, and do nothing else.")
@EVERY
def test_a_generated_reply_is_recorded_as_it_is(scheme: str) -> None:
    choose = [("selectTools", {"tools": ["nothing"]})] if scheme == "select" else []
    run = session(BOX, *choose, ("nothing", {}), "Done.", scheme=scheme).ask("Go.")
    while not run.text:
        run.reply(run.generate()).run()
    assert (run.calls[-1].tool, run.text) == ("nothing", "Done.")


# -- 003 -----------------------------------------------------------------------------------------


@quotes(3, "Flexible type handling for BaseModels, Fields, TypedDicts, and Dataclasses")
def test_a_field_as_default_is_a_default_with_limits() -> None:
    got: list[Any] = []

    def pick(count: int = Field(3, ge=1, le=5), name: str = Field(..., description="A.")) -> None:
        got.append((count, name))

    picks = [("pick", {"name": "x"}), ("pick", {"count": 9, "name": "x"})]
    run = session(Toolbox(pick), *picks, "No.")
    assert [call.status for call in run.tell("Go.").calls] == ["succeeded", "failed"]
    assert got == [(3, "x")]


@quotes(3, "extract schema information from the signature")
def test_the_default_of_the_signature_is_the_default() -> None:
    def take(number: Annotated[int, Field(7)] = 3) -> int:
        return number

    assert session(Toolbox(take), ("take", {}), "Done.").tell("Go.").calls[0].result == 3


@quotes(3, "API-compatible schema information from any function")
@EVERY
def test_the_schema_of_every_tool_is_json(scheme: str) -> None:
    run = session(Toolbox(Hen, nothing), "Done.", scheme=scheme, inputs={"hen": Hen()}).tell("Go.")
    [request] = heard(run).requests
    for tool in (*request.tools, *request.deferred, *run.toolbox):
        assert json.loads(json.dumps(tool.parameters)).keys() >= {"type"}


class Counter:
    """Counts up."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, by: int) -> int:
        """Add to the count."""
        self.count += by
        return self.count


@quotes(3, "API tools are defined as standard callables (async supported)")
def test_a_bound_method_is_a_tool_whose_instance_belongs_to_the_session() -> None:
    counter = Counter()
    script = [("add", {"by": 1}), ("add", {"by": 10}), "Done."]
    run = session(Toolbox(counter.add), *script).tell("Go.")
    assert [call.result for call in run.calls] == [1, 11]
    edited = run.edit(run.calls[0], by=5).run()
    assert [call.result for call in edited.calls] == [5, 15]
    assert counter.count == 0
    variables = {"counter": counter, "m": Scripted([])}
    options = parse_options("-m m -t counter.add")
    context, _ = context_for_cell(options, variables, Journal(), Path())
    assert context.toolbox.names == ("add",)


@quotes(3, "ensuring at least one tool is called before the generation completes")
@pytest.mark.parametrize("inner", SCHEMES)
def test_with_force_a_model_is_told_to_call_until_it_does(inner: str) -> None:
    choose = [("selectTools", {"tools": ["nothing"]})] if inner == "select" else []
    script = ["No.", "Not yet.", *choose, ("nothing", {}), "Done."]
    run = session(BOX, *script, scheme=Native(inner, force=True)).tell("Go.")
    assert (run.calls[-1].tool, run.text) == ("nothing", "Done.")
    options = parse_options(f"-m m --native --force --scheme {inner}")
    context, _ = context_for_cell(options, {"m": Scripted([])}, Journal(), Path())
    assert context.scheme == Native(inner, force=True)


class Weather:
    """Knows the weather of all cities."""

    name = "weather"
    description = "A tool for the weather of a place"

    def get_for_city(self, city: Annotated[str, "The city."]) -> str:
        return f"{city}: fine"


@quotes(3, "along with a name and description property to present to the LLM during generation")
@EVERY
def test_the_description_of_a_class_is_told(scheme: str) -> None:
    run = session(Toolbox(Weather()), "Done.", scheme=scheme).tell("Go.")
    assert Weather.description in heard(run).sent


# -- 004 -----------------------------------------------------------------------------------------

FUNCTION = {
    "name": "greet",
    "description": "Greet somebody.",
    "parameters": {"who": {"type": "string"}, "day": {"type": "string"}},
}


@quotes(4, "A tool definition to be used by the OpenAI API.")
def test_a_definition_as_openai_has_it_is_read() -> None:
    parameters = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
    openai = {"name": "greet", "description": "Greet.", "parameters": parameters, "strict": True}
    tools = [from_definition({"type": "function", "function": openai}), from_definition(openai)]
    for tool in tools:
        assert (tool.name, tool.parameters["required"]) == ("greet", ["who"])


@quotes(4, "Removing an unwanted parameter")
@pytest.mark.parametrize("remove", ["@remove", {"transform": {"action": "remove"}}])
@pytest.mark.parametrize("asked", [{}, {"day": None}, {"day": "Monday"}])
def test_a_removed_parameter_never_arrives(remove: Any, asked: Mapping[str, Any]) -> None:
    definition = {"tool": {"function": FUNCTION}, "defaults": {"day": remove}}
    tool = from_definition(definition, action=lambda **given: given)
    run = session(Toolbox(tool), ("greet", {"who": "Ann", **asked}), "Done.").tell("Go.")
    assert run.calls[0].result == {"who": "Ann"}


@quotes(4, "The configuration for an HTTP API call.")
def test_an_endpoint_takes_headers_of_the_program() -> None:
    assert "headers" in inspect.signature(from_definition).parameters


@quotes(4, "Sets context variables based on the tool arguments")
def test_a_variable_that_a_tool_sets_is_read_by_the_program() -> None:
    function = {"name": "set_language", "parameters": {"language": {"type": "string"}}}
    tool = from_definition({"type": "context", "tool": {"function": function}})
    run = session(Toolbox(tool), ("set_language", {"language": "en-US"}), "Done.").tell("English.")
    assert run.value("language") == "en-US"


def test_every_test_of_this_file_quotes_a_sentence() -> None:
    tests = {name for name in globals() if name.startswith("test_")}
    assert tests - QUOTED.keys() == {"test_every_test_of_this_file_quotes_a_sentence"}
    assert {system for system, _ in QUOTED.values()} == set("01234")
