"""Calls spoken in XML, as models write them: what is read, and what a model is told of the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_toolcall import Tool, Toolbox
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.core.state import START
from jupyter_toolcall.schemes import Flat, Native
from jupyter_toolcall.schemes.messages import Assistant, Reply
from tests.engine.test_linear_cost import work
from tests.examples import examples


class WeatherTool:
    """A class of tools, as the seed has it."""

    name = "weather"
    description = "Tells the weather."

    def get_for_city(self, city: Annotated[str, "The city."], exact: bool = False) -> str:
        """Tell the weather of one city."""
        return f"{city}: fine"


class Clock:
    """A class of one function without parameters."""

    def now(self) -> str:
        """Tell the time."""
        return "12:00"


def note(
    text: str = "",
    count: int = 0,
    part: float = 0.5,
    names: list[str] | None = None,
    data: dict[str, Any] | None = None,
    maybe: str | None = None,
    mixed: str | int | bool | list[int] | None = None,
    shape: Literal["STICKS", "SLICES"] = "STICKS",
    size: Literal[1, 2] = 1,
    exact: bool = False,
) -> str:
    """Take all kinds of values."""
    return "ok"


def stop() -> str:
    """Take nothing."""
    return "ok"


BOX = Toolbox(WeatherTool(), Clock(), note, stop)
NATIVE = Native(Flat())
CITY = '<parameter name="city">Oslo</parameter>'
CALL = f'<tool-call tool="weather" function="get_for_city">{CITY}</tool-call>'
OSLO = ("weather_get_for_city", {"city": "Oslo"})


def read(text: str, box: Toolbox = BOX) -> tuple[Call, ...]:
    return NATIVE.read(Reply(text), START, box).calls


def calls(text: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls of a text that can be read."""
    return [(call.tool, call.arguments) for call in read(text) if not call.broken]


def broken(text: str) -> list[str]:
    """Return what is told of those that cannot."""
    return [call.broken for call in read(text) if call.broken]


def text_of(value: str, name: str = "text") -> Any:
    """Return what a parameter's text is read as."""
    said = f'<tool-call tool="note" function="note"><parameter name="{name}">{value}</parameter>'
    [call] = read(f"<tool-calls>{said}</tool-call></tool-calls>")
    assert not call.broken, call.broken
    return call.arguments[name]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool-calls>{CALL}</tool-calls>",
        f"I look.\n<tool-calls>\n  {CALL}\n</tool-calls>\nWait.",
        "<tool_calls><call tool='weather' function='get_for_city'>"
        "<parameter name='city'>Oslo</parameter></call></tool_calls>",
        "<TOOL-CALLS>" + CALL.replace("tool-call", "Tool-Call").replace("meter", "METER"),
        *(f"<ToolCalls>{CALL}</ToolCalls>", CALL, f"<tool-calls>{CALL}"),
        f"<tool-calls>{CALL.removesuffix('</tool-call>')}",
        f"<tool-calls>{CALL.removesuffix('</tool-call>')}</tool-calls>\nNow I wait.",
        f"{CALL.removesuffix('</tool-call>')}\nNow I wait.",
        *(f"```xml\n<tool-calls>\n{CALL}\n</tool-calls>\n```", f"**Calling:** `{CALL}`"),
        f"<tool-calls><!-- the weather -->{CALL}<!-- and no more --></tool-calls>",
        '<tool-call tool="weather" function="get_for_city">'
        '<parameter name="city" value="Oslo"/></tool-call>',
        '<tool-call tool="weather" function="get_for_city">'
        '<parameter name="city" value="Oslo"></parameter></tool-call>',
        "<tool-call tool=weather function=get_for_city>"
        "<parameter name=city value=Oslo/></tool-call>",
        *(CALL.replace("Oslo", "\n      Oslo\n    "), CALL.replace("Oslo", "<![CDATA[Oslo]]>")),
        *(CALL.replace("Oslo", "\n  <![CDATA[Oslo]]>\n"), CALL.replace("Oslo", "&#79;s&#x6C;o")),
        CALL.replace("parameter", "param"),
        f'< tool-call\n  function = "get_for_city"\n  tool = "weather" >{CITY}</ tool-call >',
        f'<tool-call tool="weather_get_for_city">{CITY}</tool-call>',
        f'<tool-call tool="weather">{CITY}</tool-call>',
        f'<tool-call function="weather_get_for_city">{CITY}</tool-call>',
        f'<tool-call tool="weather_get_for_city" function="get_for_city">{CITY}</tool-call>',
        f'<tool-call tool="tools" function="weather_get_for_city">{CITY}</tool-call>',
        '<tool_call>{"name": "weather_get_for_city", "arguments": {"city": "Oslo"}}</tool_call>',
        '<tool-call name="weather_get_for_city">{"city": "Oslo"}</tool-call>',
        r'<tool_call>{"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}</tool_call>',
        '<tool-call tool="weather" function="get_for_city" city="Oslo"/>',
        # What a model knows from elsewhere.
        f'<function_calls>\n<invoke name="weather_get_for_city">\n{CITY}\n</invoke>\n'
        "</function_calls>",
        f'I look.\n<function_calls><invoke name="weather_get_for_city">{CITY}',
        f'<invoke name="weather_get_for_city">{CITY}</invoke>',
        '<rg-tool-call name="weather_get_for_city">{"city": "Oslo"}</rg-tool-call>',
    ],
)
def test_a_call_is_read_however_it_is_spelled(text: str) -> None:
    assert calls(text) == [OSLO]
    assert broken(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '<tool-calls><tool-call tool="stop" function="stop"> </tool-call></tool-calls>',
        *('<tool-call tool="stop"/>', '<invoke name="stop"></invoke>'),
        *('<rg-tool-call name="stop"></rg-tool-call>', '<rg-tool-call name="stop"/>'),
        *('<tool-call function="stop"/>', '<tool_call>{"name": "stop"}</tool_call>'),
    ],
)
def test_a_function_without_parameters_can_be_called(text: str) -> None:
    assert calls(text) == [("stop", {})]


def test_all_calls_of_all_blocks_are_read_in_their_order() -> None:
    bergen = CALL.replace("Oslo", "Bergen")
    text = f"One:<tool-calls>{CALL}\n{bergen}</tool-calls>\nTwo:<tool_calls>{CALL}</tool_calls>"
    assert [arguments["city"] for _, arguments in calls(text)] == ["Oslo", "Bergen", "Oslo"]
    assert [call.id for call in read(text)] == ["call_1_1", "call_1_2", "call_1_3"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *(("a & b < c", "a & b < c"), ("a &amp; b &lt; c", "a & b < c")),
        ("R&amp;D &#38; &unknown; &#xFFFFFFF;", "R&D & &unknown; &#xFFFFFFF;"),
        *(("?a=1&b=2&lt=3", "?a=1&b=2&lt=3"), ("<b>bold</b>", "<b>bold</b>")),
        ("<p>Fish &amp; chips</p>", "<p>Fish &amp; chips</p>"),
        ("<svg><path d='M0 0'/></svg>", "<svg><path d='M0 0'/></svg>"),
        ("<![CDATA[ <b>&amp;</b> ]]>", " <b>&amp;</b> "),
        *(("see <![CDATA[<b>]]> here", "see <b> here"), ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b")),
        ("<![CDATA[</parameter></tool-call>]]>", "</parameter></tool-call>"),
        ("  Oslo  ", "Oslo"),
        ("\n    def f():\n        return 1\n  ", "    def f():\n        return 1"),
        *(("", ""), ('"quoted"', '"quoted"'), ("false", "false"), ("12", "12")),
        *(("```py\nx\n```", "```py\nx\n```"), ("`code`", "`code`")),
    ],
)
def test_a_text_is_what_was_meant_by_it(said: str, meant: str) -> None:
    assert text_of(said) == meant


@pytest.mark.parametrize(
    ("name", "said", "meant"),
    [
        *(("count", " 12 ", 12), ("count", "twelve", "twelve"), ("part", "1e3", 1000.0)),
        *(("names", '["a", "b"]', ["a", "b"]), ("names", "[&quot;a&quot;]", ["a"])),
        *(("names", "null", None), ("names", "", None)),
        ("data", '{"a": {"b": [1, null]}}', {"a": {"b": [1, None]}}),
        *(("maybe", "null", None), ("maybe", "nullable", "nullable"), ("maybe", '"null"', "null")),
        *(("maybe", "5", "5"), ("mixed", "5", 5), ("mixed", '"5"', "5"), ("mixed", "true", True)),
        *(("exact", "False", False), ("exact", "TRUE", True), ("mixed", "[1, 2]", [1, 2])),
        *(("mixed", "five", "five"), ("shape", "SLICES", "SLICES"), ("size", "2", 2)),
    ],
)
def test_a_value_is_read_by_the_schema_of_its_parameter(name: str, said: str, meant: Any) -> None:
    found = text_of(said, name)
    # 1 is not True, nor 1.0.
    assert (found, json.dumps(found)) == (meant, json.dumps(meant))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('<tool-calls><tool-call tool="weather"', "its first tag has no end"),
        (CALL.replace("</parameter>", ""), "the parameter 'city' has no end"),
        (CALL.replace("</parameter></tool-call>", ""), "the parameter 'city' has no end"),
        (CALL.replace("Oslo", "<![CDATA[Oslo"), "the parameter 'city' has no end"),
        (CALL.replace("Oslo", CALL), "write it inside <![CDATA[ and ]]>"),
        (CALL.replace(' name="city"', ""), "a parameter has no name"),
        (CALL.replace(CITY, CITY + CITY), "the parameter 'city' is given twice"),
        (f'<invoke name="weather_get_for_city">{CITY}{CITY}</invoke>', "'city' is given twice"),
        ('<rg-tool-call name="note">a<text>b</text></rg-tool-call>', "there is text outside of"),
        ('<rg-tool-call name="note"><text>b</rg-tool-call>', "there is text outside of"),
        ('<rg-tool-call name="note"><names><item>a</rg-tool-call>', "there is text outside of"),
        ("<function_calls></function_calls>", "the block holds no <tool-call>"),
        (CALL.replace(CITY, "<city>Oslo</city>"), "text outside of its parameters: <city>"),
        (CALL.replace(CITY, f"{CITY}</parameter>"), "a parameter ends that did not begin"),
        ("<tool-calls></tool-calls>", "the block holds no <tool-call>"),
        ("<tool-calls>weather(Oslo)</tool-calls>", "the block holds no <tool-call>"),
        ("<tool-calls>", 'this: <tool-calls><tool-call tool="TOOL" function="FUNCTION">'),
        ("I write <tool-calls> now.", "the block holds no <tool-call>"),
        (f"<tool-call>{CITY}</tool-call>", "does not say which tool and which function"),
        ('<tool_call>{"name": "stop"</tool_call>', "not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_never_an_answer_and_says_why(text: str, told: str) -> None:
    assert calls(text) == []
    [said] = broken(text)
    assert told in said


@pytest.mark.parametrize(
    "bad",
    [
        *(CALL.replace("</parameter>", ""), '<tool-call tool="weather" <b>'),
        "<tol-call tool='weather'></tol-call>",
    ],
)
def test_beside_one_that_cannot_be_read_a_call_is_read(bad: str) -> None:
    wrapped = f"<tool-calls>{CALL}{bad}</tool-calls>"
    assert calls(wrapped) == [OSLO]
    assert len(broken(wrapped)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It is fine in Oslo.",
        "To call a tool I write `<tool-calls>` and `<tool-call>` around it.",
        "a < b and `<tool-call tool='x' function='y'>` is a tag.",
        *("<b>Bold</b> & <parameter name='x'>y</parameter>", "<call>me</call> maybe"),
        "</tool-calls>",
    ],
)
def test_what_speaks_of_tags_is_an_answer(text: str) -> None:
    assert read(text) == ()
    assert NATIVE.read(Reply(text), START, BOX) == Reply(text)


def test_a_person_reads_the_text_without_its_calls() -> None:
    text = f"I look.\n\n```xml\n<tool-calls>\n  {CALL}\n</tool-calls>\n```\n\nThen I wait."
    reply = NATIVE.read(Reply(text), START, BOX)
    assert (reply.text, reply.said) == (text, "I look.\n\nThen I wait.")
    assert reply.stop == "tools"


@pytest.mark.parametrize(
    "inner",
    [
        *(CALL, f"<tool-calls>{CALL}", '<tool-call tool="stop"/>', "<tool-call"),
        *(f"<![CDATA[{CALL}", f"<![CDATA[<tool-calls>{CALL}</tool-calls>"),
    ],
)
def test_a_call_in_the_value_of_another_is_not_run(inner: str) -> None:
    text = CALL.replace("Oslo", f"as in {inner}")
    for whole in (text, f"<tool-calls>{text}</tool-calls>"):
        assert calls(whole) == []
        assert len(broken(whole)) == 1
    [call] = read(CALL.replace("Oslo", f"<![CDATA[{inner}]]>"))
    assert (call.arguments, call.broken) == ({"city": inner}, "")


@pytest.mark.parametrize("before", ["text", "<b>", '{"a": 1', "<!-- c -->"])
def test_a_call_in_a_value_without_end_is_not_run_whatever_stands_before(before: str) -> None:
    text = f'<tool-call tool="note">{before}<parameter name="text">as in {CALL}'
    assert calls(text) == []
    assert len(broken(text)) == 1


@pytest.mark.parametrize(
    "unit",
    [
        *("<tool-call", "<tool-call>", "<tool-calls>", "`<tool-call`", CALL),
        *(CALL.replace("</parameter>", ""), CALL.replace("Oslo", "<![CDATA["), '<tool-call a="'),
        *("<tool-call tool='stop' function='stop'/><!--\n", "</tool-call>\n\n"),
        *('<rg-tool-call name="note">', '<rg-tool-call name="note"><text>'),
        *("<text>a</text>", '<invoke name="note">', "<think>", "</think>"),
    ],
)
@pytest.mark.parametrize(
    "before", ["", "<tool-calls>", CALL.partition("Oslo")[0], '<rg-tool-call name="note"><text>']
)
def test_reading_is_linear(unit: str, before: str) -> None:
    def cost(size: int) -> int:
        text = before + unit * (size // len(unit))
        return work(lambda: read(text))

    cost(1_000)
    assert cost(40_000) < 4.4 * cost(10_000) + 1_000


@pytest.mark.parametrize(
    "unit", ["<tool-call", "<![CDATA[", "\n ", "<call ", "<tool-call '\"", "<!--", "<text>", "<a/>"]
)
def test_a_megabyte_of_nothing_is_read_at_once(unit: str) -> None:
    for start in (CALL.partition("Oslo")[0], '<rg-tool-call name="note"><text>'):
        assert broken(f"<tool-calls>{start}" + unit * (1_000_000 // len(unit)))


# -- laws -------------------------------------------------------------------------------

HARD = (
    *("]]>", "&lt;", "&amp;amp;", " a", "a\n", "\n\n", "<b>", "</parameter>", "null", "5", '"5"'),
    *("", "<tool-call", "<![CDATA[", "\t", "\x00", "`", "true", "[1]", "'\""),
)
WORDS = st.text(max_size=30) | st.sampled_from(HARD)
NUMBERS = st.integers(-(10**18), 10**18)
DATA = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "text": WORDS,
        "count": NUMBERS,
        "part": st.floats(allow_nan=False, allow_infinity=False),
        "names": st.none() | st.lists(WORDS, max_size=3),
        "data": st.none() | st.dictionaries(WORDS, DATA, max_size=3),
        "maybe": st.none() | WORDS,
        "mixed": st.none() | WORDS | NUMBERS | st.booleans() | st.lists(NUMBERS, max_size=3),
        "shape": st.sampled_from(["STICKS", "SLICES"]),
        "size": st.sampled_from([1, 2]),
    },
)


def written(*said: Call, box: Toolbox = BOX) -> str:
    return NATIVE.read(Reply(calls=said), START, box).text


BARE = '<tool-call tool="note">'
PLACES = (
    *('{{"name": "note", {0}: {1}}}', '{{"name": "note", "arguments": {{}}, {0}: {1}}}'),
    *('{{"name": "note", "arguments": [{1}]}}', '{{"name": "note", "arguments": {1}}}'),
    *("{{{0}: {1}}}<parameter name={0}>x</parameter>", "{{{0}: 1}}{{{0}: {1}}}", "[{1}]", "{1}"),
    *("<parameter name={0} value={1}>x</parameter>", "<parameter {0}={1}/>", "<{0}>{1}</{0}>"),
)


@given(st.sampled_from(PLACES), st.sampled_from(["text", "data", "args", "x"]), WORDS)
def test_text_in_a_call_is_an_argument_or_a_mistake(place: str, key: str, value: str) -> None:
    inside = place.format(json.dumps(key), json.dumps(f"«{value}»").replace("<", "&lt;"))
    for first in ("<tool-call>", BARE):
        [call] = read(f"{first}{inside}</tool-call>")
        assert call.broken or "«" in json.dumps(dict(call.arguments), ensure_ascii=False)


@pytest.mark.parametrize("after", ["", " text=x", "\n", "</tool-calls>", CALL, "<!-- text -->"])
def test_a_call_without_end_and_without_arguments_does_not_run(after: str) -> None:
    assert calls(f"<tool-calls>{BARE}{after}") == [OSLO] * (after == CALL)
    assert len(broken(f"<tool-calls>{BARE}{after}")) == 1


def test_the_names_of_two_tools_are_the_name_of_none() -> None:
    assert calls('<tool-call tool="note" function="stop"/>') == [("note_stop", {})]


@given(st.lists(ARGUMENTS, min_size=1, max_size=3), WORDS)
def test_what_is_written_is_read_back(many: list[dict[str, Any]], city: str) -> None:
    said = [("note", each) for each in many] + [("weather_get_for_city", {"city": city})]
    text = written(*(Call(str(place), *each) for place, each in enumerate(said)))
    found = [(call.tool, call.arguments) for call in read(text) if not call.broken]
    assert repr(found) == repr(said)


NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)


@given(NAMES, NAMES, st.dictionaries(WORDS.filter(str.strip), WORDS, max_size=3))
def test_any_name_is_read_back(group: str, function: str, arguments: dict[str, str]) -> None:
    names = {key.strip(): value for key, value in arguments.items()}
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in names}}
    box = Toolbox(Tool(f"{group}_{function}", "", schema, group=group))
    [call] = read(written(Call("1", f"{group}_{function}", names), box=box), box)
    assert (call.tool, call.arguments, call.broken) == (f"{group}_{function}", names, "")
    # So does a name that no tool has, unless it is class and method of one.
    [unknown] = read(written(Call("1", group, {}), box=box), box)
    assert unknown.tool == (group if group != function else f"{group}_{function}")


SHARDS = st.text("<>/=\"'& tolcarpmen-_![]DAT", max_size=8) | st.sampled_from(
    ["<tool-call", "</parameter>", "<parameter name='x'>", "<![CDATA[", "]]>", "<!--", "{"]
)


@settings(max_examples=examples(100))
@given(ARGUMENTS, st.data())
def test_no_damage_turns_a_call_into_text(arguments: dict[str, Any], data: st.DataObject) -> None:
    whole = written(Call("1", "note", arguments), Call("2", "stop"))
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    text = whole[:start] + data.draw(SHARDS) + whole[end:]
    found = read(text)
    assert found or not re.search(r"<tool-calls?(?![\w-])", re.sub(r"`<[^`\n<]*`", "", text))


PIECES = (
    *('<rg-tool-call name="note">', "</rg-tool-call>", "<rg-tool-call", "<names>", "</names>"),
    *('<invoke name="note">', "</invoke>", "<function_calls>", "</function_calls>", "<item>"),
    *("</item>", '<data a="1"/>', "<data>", "</data>", "<![CDATA[", "]]>", "<!--", "-->"),
    *('<parameter name="text">', "</parameter>", "<", ">", "/>", "{", "}", '"', "a", "`"),
    *('<tool-call tool="note">', "</tool-call>", "<tool-calls>", "</tool-calls>", "&lt;", "\n"),
    "\ud800",
)
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(HOSTILE, st.sampled_from(["think", "thinking", "THINK"]))
def test_no_call_runs_that_a_model_writes_while_it_thinks(text: str, name: str) -> None:
    for thought in (f"<{name}>{text}</{name}>", f"<tool-calls>{CALL}</tool-calls></{name}>"):
        whole = f"{thought}\n<tool-calls>{CALL}<{name}>{text}</{name}>{CALL}</tool-calls>"
        assert (calls(whole), broken(whole)) == ([OSLO, OSLO], [])
        assert read(thought) == ()
    assert "stand behind <think>" in broken(f"<{name}>I call {CALL}")[0]
    assert calls(CALL.replace("Oslo", f"<{name}>")) == [(OSLO[0], {"city": f"<{name}>"})]
    assert calls(f"I write `<{name}>`. {CALL}") == [OSLO]


@settings(max_examples=examples(100))
@given(HOSTILE)
def test_no_text_raises_however_it_mixes_the_forms(text: str) -> None:
    for call in read(text):
        assert call.broken or call.tool == "note"
    reply = NATIVE.read(Reply(text), START, BOX)
    assert isinstance(NATIVE.speak(Assistant(reply.text, reply.calls)), Assistant)
