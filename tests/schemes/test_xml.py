"""Any scheme spoken in XML: what a model is told, and what a session makes of its answers."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Any
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel, Field

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.kitchen import FRIES, Plate
from jupyter_toolcall.schemes import Flat, Native, Select, scheme_named
from jupyter_toolcall.schemes.messages import Assistant, User
from tests.engine.test_linear_cost import session_of, work
from tests.example_tools import fries_session


class WeatherTool:
    """A class of tools, as the seed has it."""

    name = "weather"
    description = "Tells the weather."

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_for_city(self, city: Annotated[str, "The city."]) -> str:
        """Tell the weather of one city."""
        self.asked.append(city)
        return f"{city}: {len(self.asked)} < 2 & fine"

    def fail(self) -> str:
        """Fail."""
        raise RuntimeError("the <sky> fell")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Filters(BaseModel):
    city: Annotated[str | None, Field(description="The city to filter by")] = None
    ages: list[int] = []
    next: Filters | None = None


def search(
    name: str,
    filters: Filters,
    color: Color = Color.RED,
    limit: Annotated[int, Field(ge=1, le=9)] = 5,
    tags: dict[str, float] | None = None,
) -> str:
    """Search < everything > & all."""
    return f"{name} {filters.city} {color.value} {limit}"


BLOCK = """\
<tool-calls>
  <tool-call tool="weather" function="get_for_city">
    <parameter name="city">{}</parameter>
  </tool-call>
</tool-calls>"""
OSLO = BLOCK.format("Oslo")


def weather(*script: Any, scheme: str | Native = "native", **options: Any) -> Session:
    given: dict[str, Any] = {"approve": "all", **options}
    return Session(Toolbox(WeatherTool(), search), Scripted(script), scheme=scheme, **given)


COOKED: list[Any] = [
    ["First the water.", ("Potato_rinse", {"Potato": "$Potato", "sink": "$Sink"})],
    [("Potato_peel", {}), ("Potato_slice", {"Potato": "Potato#3", "shape": "STICKS"})],
    ("Oven_bake", {"item": "$Potato"}),
    ("Fries_plate", {"plate": "$Plate"}),
    ["On the plate.", ("save", {"fries": "$Plate"})],
]


def cooking(scheme: str, script: Any = None, **options: Any) -> Session:
    cooked = FRIES if "select" in scheme else Scripted(COOKED)
    return fries_session(Scripted(script) if script else cooked, scheme, **options)


def told(session: Session) -> list[str]:
    """Return what the model was told since the first prompt."""
    return [m.text for m in session.cursor.request.messages if isinstance(m, User)][1:]


def said(session: Session) -> list[str]:
    return [m.text for m in session.cursor.request.messages if isinstance(m, Assistant)]


def described(session: Session) -> ElementTree.Element:
    """Return the description of the tools, as an XML parser reads it."""
    found = re.search(r"^<tool-description-list>.*", session.cursor.request.system, re.S | re.M)
    assert found is not None
    return ElementTree.fromstring(found[0])


def test_the_tools_stand_in_the_system_text_and_nowhere_else() -> None:
    session = weather(system="You are brief.").ask("What is the weather in Oslo?")
    request = session.cursor.request
    assert (request.tools, request.deferred) == ((), ())
    assert request.system.endswith("</tool-description-list>\n\nYou are brief.")
    tools = described(weather().ask("go"))
    assert [(t.get("name"), t.get("description")) for t in tools] == [
        ("weather", "Tells the weather."),
        ("search", "Search < everything > & all."),
    ]
    first = tools[0].findall("functions/tool-function")
    assert [(f.get("name"), f.get("description")) for f in first] == [
        ("get_for_city", "Tell the weather of one city."),
        ("fail", "Fail."),
    ]
    [city] = first[0].findall("parameters/tool-parameter")
    expected = {"type": "str", "required": "true", "description": "The city."}
    assert city.attrib == {"name": "city", **expected}
    assert first[1].find("parameters") is None


def test_types_are_told_in_a_few_words() -> None:
    found = described(weather().ask("go")).iter("tool-parameter")
    types = {p.attrib["name"]: p.attrib for p in found}
    assert types["filters"]["type"] == (
        'Filters{"city"?: str | null (The city to filter by), "ages"?: list[int], '
        '"next"?: Filters | null}'
    )
    assert types["color"]["type"] == "red | blue"
    assert (types["color"]["required"], types["color"]["default"]) == ("false", "red")
    assert types["limit"]["type"] == "int (minimum 1, maximum 9)"
    assert types["tags"]["type"] == "dict[str, float] | null"
    kitchen = {p.get("type") for p in described(cooking("native").ask("go")).iter("tool-parameter")}
    assert "name such as Potato#1" in kitchen
    assert "STICKS | SLICES" in kitchen


def test_a_call_in_the_text_runs_and_its_result_is_told_in_the_text() -> None:
    session = weather(f"I look.\n{OSLO}", "It is fine.").tell("What is the weather in Oslo?")
    assert str(session) == "It is fine."
    [call] = session.calls
    assert (call.id, call.tool) == ("call_1", "weather_get_for_city")
    assert call.arguments == {"city": "Oslo"}
    assert session.cursor.request.messages[1] == Assistant(f"I look.\n{OSLO}")
    assert told(session) == [
        '<tool-results>\n  <tool-result tool="weather" function="get_for_city" error="false">'
        "Oslo: 1 &lt; 2 &amp; fine</tool-result>\n</tool-results>"
    ]


def test_state_is_carried_from_call_to_call() -> None:
    session = weather(OSLO, BLOCK.format("Bergen"), "ok").tell("go")
    assert [call.result[:10] for call in session.calls] == ["Oslo: 1 < ", "Bergen: 2 "]


def test_two_calls_of_a_turn_have_two_results_in_their_order() -> None:
    both = OSLO.replace("</tool-calls>", "") + BLOCK.format("Bergen").replace("<tool-calls>", "")
    session = weather(both, "ok").tell("go")
    [results] = told(session)
    assert results.index("Oslo: 1") < results.index("Bergen: 2")
    assert results.count("<tool-result ") == 2


def test_the_good_call_beside_a_bad_one_runs_and_both_are_told() -> None:
    bad = '<tool-call tool="weather" function="get"><parameter name="city">Rome</parameter>'
    session = weather(OSLO.replace("</tool-calls>", f"{bad}</tool-call></tool-calls>"), "ok").tell(
        "go"
    )
    assert [call.status for call in session.calls] == ["succeeded", "failed"]
    good, failed = ElementTree.fromstring(told(session)[0])
    assert (good.text, good.get("error")) == ("Oslo: 1 < 2 & fine", "false")
    assert failed.get("error") == "true"
    assert "no tool 'weather_get'. Did you mean weather_get_for_city?" in str(failed.text)
    assert "weather has: weather_get_for_city, weather_fail." in str(failed.text)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (OSLO.replace('"city"', '"town"'), "town: there is no such argument; there is city"),
        (OSLO.replace('"city"', '"cty"'), "there is city. Did you mean city?"),
        (OSLO.replace("get_for_city", "fail").replace('"city"', '"x"'), "there are none"),
        ('<tool-call tool="weather" function="fail"/>', "RuntimeError: the <sky> fell"),
        (
            '<tool-call tool="search"><parameter name="name">x</parameter>'
            '<parameter name="filters">{"town": 1}</parameter>'
            '<parameter name="limit">99</parameter></tool-call>',
            "limit: input should be less than or equal to 9",
        ),
    ],
)
def test_what_went_wrong_is_told_as_an_error(block: str, said: str) -> None:
    session = weather(block, "I see.").tell("go")
    [result] = ElementTree.fromstring(told(session)[0])
    assert result.get("error") == "true"
    assert said in str(result.text)


def test_malformed_xml_is_mended_by_the_model_and_is_no_answer() -> None:
    session = weather(OSLO.replace("</parameter>", ""), OSLO, "It is fine.").tell("go")
    assert [call.status for call in session.calls] == ["failed", "succeeded"]
    assert "the parameter 'city' has no end" in told(session)[0]
    assert "&lt;tool-calls&gt;" in told(session)[0]
    assert str(session) == "It is fine."


def test_values_are_turned_and_checked_before_they_reach_a_function() -> None:
    block = (
        '<tool-call tool="search"><parameter name="name">12</parameter>'
        '<parameter name="filters">{"city": "Oslo", "ages": ["1"]}</parameter>'
        '<parameter name="color">blue</parameter><parameter name="limit">7</parameter></tool-call>'
    )
    assert weather(block, "ok").tell("go").calls[0].result == "12 Oslo blue 7"


def test_without_force_a_model_may_answer_at_once_and_with_it_is_told_until_it_calls() -> None:
    forced = Native(Flat(), force=True)
    assert len(weather("No idea.").tell("go").journal) == 3
    session = weather("No idea.", OSLO, "Fine.", scheme=forced).tell("go")
    assert told(session)[0].startswith("<system-error>")
    assert [call.status for call in session.calls] == ["succeeded"]
    assert str(session) == "Fine."
    late = weather(*["No."] * 4, OSLO, "Fine.", "No!", scheme=forced).tell("go")
    assert ([len(told(late)), len(late.calls), str(late)]) == [5, 1, "Fine."]
    assert len(told(weather(*["No."] * 9, scheme=forced).tell("go"))) == 5
    # What cannot be read is no call of a tool.
    unread = weather("<tool-calls>", "Sorry.", "No.", scheme=forced).tell("go")
    assert "<system-error>" in told(unread)[-1]
    # It is due again for each prompt, and for none that called a tool.
    again = weather(OSLO, "Fine.", "No.", OSLO, "Yes.", scheme=forced).tell("go").tell("more")
    assert [text.startswith("<system-error>") for text in told(again)].count(True) == 1


@pytest.mark.parametrize("inner", ["flat", "select"])
def test_a_script_of_calls_is_spoken_too(inner: str) -> None:
    native, plain = cooking(f"native({inner})"), cooking(inner)
    native.tell("Make fries.")
    plain.tell("Make fries.")
    assert native.calls == plain.calls
    assert native.outputs == {"fries": Plate("fries: sticks")}
    assert '<tool-call tool="Potato" function="peel">' in "".join(said(native))
    assert all(not m.calls for m in native.cursor.request.messages if isinstance(m, Assistant))
    assert str(native) == str(plain)
    # The texts that were written, as a script of their own, make the same session.
    spelled = cooking(f"native({inner})", said(native)).tell("Make fries.")
    assert (spelled.calls, spelled.outputs) == (native.calls, native.outputs)


def test_calls_wait_are_edited_and_refused_like_any_other() -> None:
    session = weather(OSLO, BLOCK.format("Bergen"), "ok", approve="none").tell("go")
    session.decide(session.pending[0], "edit", arguments={"city": "Rome"}).run()
    session.decide(session.pending[0], "reject", reason="no more").run()
    assert [call.status for call in session.calls] == ["succeeded", "rejected"]
    ran, refused = (ElementTree.fromstring(text)[0] for text in told(session))
    assert str(ran.text).startswith("Rome: 1")
    assert 'weather_get_for_city(city="Rome")' in ran.attrib["note"]
    assert (refused.get("error"), "no more" in str(refused.text)) == ("true", True)
    assert said(session)[0] == OSLO


def test_a_call_that_cannot_be_read_may_be_put_right_by_a_person() -> None:
    session = weather(OSLO.replace("</parameter>", ""), "ok", approve="none").tell("go")
    assert session.calls[0].status == "failed"
    edited = session.edit("call_1", city="Rome")
    edited.run()
    assert edited.calls[0].result == "Rome: 1 < 2 & fine"


GROW = """\
Now <b>bigger</b> & better:
<tool-calls><tool-call tool='Thing' function='grow'>
<parameter name='Thing'>{}</parameter><parameter name='by'>{}</parameter></tool-call>
</tool-calls>"""
MERGE = (
    '<tool_calls><call tool="merge"><parameter name="things">["{}", "{}"]</parameter>'
    '<parameter name="note" value="it is {}"/><parameter name="one" value="{}"/></call>'
    "</tool_calls>"
)


class Thing:
    """A thing."""

    def __init__(self, size: int = 0) -> None:
        self.size = size

    def grow(self, by: int) -> Thing:
        """Grow."""
        return self if not by else Thing(self.size + by)


def merge(things: list[Thing], note: str, one: Thing) -> Thing:
    """Merge."""
    return Thing(sum(thing.size for thing in things) + one.size)


def test_after_an_edit_the_text_is_what_the_model_wrote() -> None:
    script = [
        GROW.format(" Thing#1 ", 1),
        GROW.format(" Thing#1 ", 2),
        MERGE.format("Thing#1", "Thing#3", "Thing#3", "Thing#3"),
        "done",
    ]
    box, model = Toolbox(Thing, merge), Scripted(script)
    session = Session(box, model, scheme="native", approve="all", inputs={"t": Thing()}).tell("go")
    assert session["Thing#4"].size == 0 + 2 + 2
    # The first call makes nothing new; no other object gets the name that it had.
    edited = session.edit("call_1", by=0).run()
    assert edited["Thing#4"].size == 0 + 2 + 2
    assert said(edited) == said(session) == script


def test_schemes_are_found_by_the_names_that_journals_have() -> None:
    for scheme in (Native(Flat()), Native(Select()), Native(Select(), force=True)):
        assert scheme_named(scheme.name) == scheme
    assert scheme_named("native") == Native(Flat())
    for wrong in ("native(native)", "native(flt)", "native(flat", "nativ"):
        with pytest.raises(UsageError, match="no scheme"):
            scheme_named(wrong)


def test_native_takes_a_schemes_name_and_says_in_one_line_what_is_none() -> None:
    assert Native("flat") == Native(Flat())
    assert Native("select", force=True) == scheme_named("native(select, force)")
    session = Session(Toolbox(search), Scripted(["Hello."]), scheme=Native("current"))
    assert session.tell("Hello?").text == "Hello."
    wrongs: list[tuple[Any, str]] = [
        ("flt", "no scheme 'flt'; there are .* Did you mean flat?"),
        (5, "5 is no scheme"),
        (Flat, r"Flat is a class; its scheme is Flat\(\)"),
        ("native", r"native\(flat\) is XML already"),
        (Native("flat"), r"native\(flat\) is XML already"),
    ]
    for wrong, said in wrongs:
        with pytest.raises(UsageError, match=said) as told:
            Native(wrong)
        assert "\n" not in str(told.value)


def test_a_call_spoken_late_costs_the_same_as_an_early_one() -> None:
    work(session_of(10, "native").run)
    few, many = (work(session_of(count, "native").run) for count in (50, 400))
    assert many / few < 8.4
