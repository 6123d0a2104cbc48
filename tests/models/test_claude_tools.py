"""A changing list of tools on Claude, by each strategy: what is sent stays sent, and cached."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Session, Toolbox, from_graphql
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.models.anthropic_requests import MODELS, Strategy, abilities
from tests.large_schema import LINKS, large_schema
from tests.standin.anthropic_api import NEWEST, StandIn
from tests.standin.anthropic_words import unmarked
from tests.standin.turns import Json, Think, Turn, Use, says

STEPS = [f"step_{number:02}" for number in range(30)]
ABOUT = "Stirs the soup, in the way that this step is for. " * 4


@dataclass(frozen=True)
class Soup:
    """A soup, and what was done to it."""

    story: str = ""


@cache
def soup_kitchen() -> Toolbox:
    """Return a toolbox of one type with thirty functions."""
    for name in STEPS:
        setattr(Soup, name, _step(name))
    return Toolbox(Soup)


def _step(name: str) -> Callable[..., Soup]:
    def step(self: Soup, note: str = "", minutes: int = 1) -> Soup:
        return Soup(f"{self.story} {name}")

    step.__name__, step.__qualname__, step.__doc__ = name, f"Soup.{name}", ABOUT
    step.__annotations__ = {"note": str, "minutes": int, "return": Soup}
    return step


def on_flat(count: int = 20) -> list[Turn]:
    return [says(Think("So."), Use(f"Soup_{name}", {"note": "stir"})) for name in STEPS[:count]]


def choosing(tool: str, **arguments: Any) -> Turn:
    return says(Think("Which?"), Use(tool, arguments))


def selecting() -> list[Turn]:
    chosen = (choosing("selectTools", tools=[f"Soup_{name}"]) for name in STEPS)
    return [turn for pair in zip(chosen, on_flat(10), strict=False) for turn in pair]


def on_current() -> list[Turn]:
    return [choosing("_use_Soup", id="Soup#1"), *on_flat(19)]


def spoken() -> list[Turn]:
    call = '<tool-calls><tool-call tool="Soup" function="{}"></tool-call></tool-calls>'
    return [says(Think("So."), call.format(name)) for name in STEPS[:20]]


SCRIPTS = {"select": selecting, "current": on_current, "flat": on_flat, "native": spoken}
Way = tuple[str, Strategy | None]
WAYS: list[Way] = [
    (NEWEST, "reference"),
    (NEWEST, "inline"),
    (NEWEST, "resend"),
    ("claude-sonnet-4-6", None),
    ("claude-haiku-4-5", None),
    ("claude-opus-4-1", None),
]
KEEPING = WAYS[:2] + WAYS[3:5]
"""The ways in which nothing that was sent changes."""


def soup_session(model: Any, scheme: str = "select", **options: Any) -> Session:
    inputs = {"soup": Soup()}
    return Session(soup_kitchen(), model, scheme=scheme, inputs=inputs, approve="all", **options)


def cooked(claude: StandIn, scheme: str, way: Way, system: str = "") -> Session:
    claude.turns += [*SCRIPTS[scheme](), says("Done.")]
    with claude.model(way[0], strategy=way[1]) as model:
        return soup_session(model, scheme, system=system).tell("Make soup.")


@cache
def twenty_turns(scheme: str, way: Way) -> tuple[StandIn, Session]:
    """Return a session of twenty turns, which no test changes, and who answered it."""
    # A page of instructions: what is shorter than 1,024 tokens, the API does not cache.
    claude = StandIn()
    return claude, cooked(claude, scheme, way, "You are a patient cook. " * 250)


@pytest.mark.parametrize("scheme", SCRIPTS)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_twenty_turns_are_accepted_and_what_was_sent_stays(scheme: str, way: Way) -> None:
    claude, session = twenty_turns(scheme, way)
    assert len(claude.asked) == 21
    assert [call.status for call in session.calls] == ["succeeded"] * len(session.calls)
    assert (str(session), claude.refused) == ("Done.", [])
    for body in claude.bodies:
        assert str(body).count("'cache_control'") <= 4
        ends = [body["system"][-1], *_tools(body)[-1:]]
        assert all("cache_control" in end for end in ends)
    # Nothing is remembered: another object of the model makes the same bodies of the journal.
    with claude.model(way[0], strategy=way[1]) as model:
        assert [model.body(exchange.request) for exchange in session.requests] == claude.bodies
    if way in KEEPING:
        assert [asked.dropped for asked in claude.asked] == [()] * 21
        for before, after in pairwise(claude.bodies):
            assert _shown(before) == _shown(after)
            assert unmarked(before["system"]) == unmarked(after["system"])
            turns = len(before["messages"])
            assert unmarked(after["messages"][:turns]) == unmarked(before["messages"])


@pytest.mark.parametrize("way", KEEPING, ids=str)
def test_a_tool_is_seen_before_its_call(way: Way) -> None:
    claude, _ = twenty_turns("select", way)
    for asked, step in zip(claude.asked[1::2], STEPS, strict=False):
        assert f"Soup_{step}" in _in_view(asked.body)
    assert _in_view(claude.asked[0].body) == {"selectTools"}


def test_a_list_that_is_sent_again_costs_the_thinking_that_was_bound_to_it() -> None:
    claude, _ = twenty_turns("select", (NEWEST, "resend"))
    assert claude.asked[-1].dropped
    names = [[tool["name"] for tool in asked.body["tools"]] for asked in claude.asked]
    assert names[:2] == [["selectTools"], ["selectTools", "Soup_step_00"]]
    assert all(before == after[: len(before)] for before, after in pairwise(names))


@pytest.mark.parametrize("scheme", SCRIPTS)
@pytest.mark.parametrize("strategy", ["reference", "inline", "resend"])
def test_nine_tenths_come_from_the_cache(scheme: str, strategy: Strategy) -> None:
    claude, session = twenty_turns(scheme, (NEWEST, strategy))
    usage = session.state.usage
    kinds = ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens")
    read, written, fresh = (sum(asked.usage[kind] for asked in claude.asked) for kind in kinds)
    assert (usage.cached, usage.written, usage.input) == (read, written, read + written + fresh)
    assert usage.output > 0
    if strategy != "resend" or scheme in ("flat", "native"):
        assert usage.cached / usage.input >= 0.9


@pytest.mark.parametrize("model", [NEWEST, "claude-sonnet-5"])
def test_on_four_thousand_tools_requests_are_small_and_cached(model: str) -> None:
    toolbox = from_graphql(large_schema(96, 23, 420, 2))
    assert len(toolbox) > 4_000
    api = StandIn()
    for tool in dict.fromkeys(tool for tool, _ in LINKS):
        api.turns.append(choosing("selectTools", tools=[tool]))
        api.turns += [says(Think("So."), Use(*call)) for call in LINKS if call[0] == tool]
    api.turns.append(says("Done."))
    with api.model(model) as claude:
        session = Session(toolbox, claude, approve="all").tell("Follow the links.")
    assert api.refused == []
    assert {call.status for call in session.calls} == {"succeeded"}
    sizes = [len(json.dumps(asked.body)) for asked in api.asked]
    assert sizes[0] <= 60_000
    assert sizes[19] <= sizes[0] + 20_000
    usage = [asked.usage for asked in api.asked[:20]]
    cached = sum(turn["cache_read_input_tokens"] for turn in usage)
    fresh = sum(turn["input_tokens"] + turn["cache_creation_input_tokens"] for turn in usage)
    assert cached / (cached + fresh) >= 0.9


# -- nothing is remembered ----------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["select", "flat"])
def test_without_beta_features_old_thinking_is_left_out(claude: StandIn, scheme: str) -> None:
    claude.turns += [*SCRIPTS[scheme](), says("Done."), says("Well.")]
    with claude.model(beta=False) as model:
        session = soup_session(model, scheme).tell("Make soup.")
        thoughts = [_thoughts(asked.body) for asked in claude.asked]
        # A tool that is declared later is a change of what came before: thinking since then stays.
        since = [0, 1, 2, *[0, 1] * 9] if scheme == "select" else range(21)
        assert thoughts == list(since)
        session.edit(session.calls[3].id, note="shake").run().tell("What did I do?")
    assert claude.refused == []
    assert (scheme == "flat") <= _thoughts(claude.asked[-1].body) <= 5
    assert all("anthropic-beta" not in asked.headers for asked in claude.asked)
    assert all("block_binding" not in asked.body["thinking"] for asked in claude.asked)


@pytest.mark.parametrize("way", WAYS[1:], ids=str)
def test_a_session_continues_on_another_model(claude: StandIn, way: Way) -> None:
    session = cooked(claude, "select", (NEWEST, "reference"))
    claude.turns += [says(Use(f"Soup_{STEPS[0]}")), says("More.")]
    with claude.model(way[0], strategy=way[1]) as model:
        session.cursor.context.model = model
        session.tell("More?")
    assert claude.refused == []
    assert claude.asked[-1].body["model"] == way[0]


NAMES = st.sampled_from([*(f"Soup_{name}" for name in STEPS[:5]), "Soup_burn", "selectTools"])
SELECTIONS = st.lists(NAMES, max_size=3).map(lambda names: Use("selectTools", {"tools": names}))
CALLS = st.builds(Use, NAMES, st.sampled_from([{}, {"note": "x"}, {"Soup": "Soup#2"}, {"a": 1}]))
USES = st.sampled_from(["Soup#1", "Soup#2", "$base"]).map(lambda n: Use("_use_Soup", {"id": n}))
OWN = st.sampled_from([Use("_saveAs", {"name": "base"}), Use("save", {"made": "Soup#2"})])
BLOCKS = st.one_of(
    *(SELECTIONS, CALLS, USES, OWN),
    *(st.just(Think("Hm.")), st.sampled_from(["Well.", ""]), st.just(Use("x", raw="{"))),
)
STOPS = st.sampled_from(["", "", "", "", "max_tokens", "pause_turn", "refusal"])
TURNS = st.lists(
    st.builds(lambda said, stop: says(*said, stop=stop), st.lists(BLOCKS, max_size=4), STOPS),
    max_size=8,
)


@given(st.lists(TURNS, min_size=1, max_size=3), st.sampled_from(list(SCRIPTS)), st.data())
def test_whatever_a_model_does_the_api_takes_it_and_what_was_sent_stays(
    parts: list[list[Turn]], scheme: str, data: st.DataObject
) -> None:
    way = data.draw(st.sampled_from(WAYS))
    claude = StandIn()
    with claude.model(way[0], strategy=way[1]) as model:
        session = soup_session(model, scheme, outputs={"made": Soup})
        for turns in parts:
            claude.turns = [*turns, says("Done."), says("Done."), says("Done.")]
            session.tell("Go on.")
        assert claude.refused == []
        bodies = [model.body(exchange.request) for exchange in session.requests]
        assert bodies == [asked.body for asked in claude.asked]
        if way in KEEPING:
            for before, after in pairwise(bodies):
                assert _shown(before) == _shown(after)
                assert _begins_with(after["messages"], before["messages"])


@pytest.mark.parametrize("strategy", ["reference", "inline", "resend"])
def test_an_empty_turn_that_paused_is_asked_for_again(claude: StandIn, strategy: Strategy) -> None:
    select = says(Use("selectTools", {"tools": [f"Soup_{STEPS[0]}"]}))
    claude.turns = [select, says(stop="pause_turn"), says(), says("Done.")]
    with claude.model(strategy=strategy) as model:
        assert soup_session(model, outputs={"made": Soup}).tell("Make soup.").text == "Done."
    assert claude.refused == []
    for before, after in pairwise(asked.body for asked in claude.asked):
        assert _begins_with(after["messages"], before["messages"])


def _begins_with(after: list[Json], before: list[Json]) -> bool:
    """What was told last may be told more; a turn that paused may end in another way."""
    *turns, last = unmarked(before)
    again: list[Json] = unmarked(after)
    first = again[len(turns)]["content"][: len(last["content"])]
    told = last["role"] == "assistant" or first == last["content"]
    return again[: len(turns)] == turns and bool(told)


# -- what tools say since -----------------------------------------------------------------------


def peel(potato: str) -> str:
    """Peels."""
    return f"{potato}, peeled"


def peel_thinly(potato: str) -> str:
    """Peels.

    Leaves nothing but the skin behind.
    """
    return f"{potato}, thinly peeled"


peel_thinly.__name__ = "peel"


@pytest.mark.parametrize("strategy", ["reference", "inline", "resend"])
def test_a_new_description_is_news_and_the_first_stays(claude: StandIn, strategy: Strategy) -> None:
    claude.turns += [says(Think("Hm."), Use("peel", {"potato": "a"})), says("b"), says("c")]
    with claude.model(strategy=strategy) as model:
        options: Any = {"scheme": "flat", "approve": "all", "journal": Journal()}
        first = Session(Toolbox(peel), model, **options).ask("Peel.").step()
        again = Session(Toolbox(peel_thinly), model, **options).checkout(first.head)
        again.run().tell("And?")
    assert claude.refused == []
    assert [asked.body["tools"][0]["description"] for asked in claude.asked] == ["Peels."] * 3
    results = claude.asked[1].body["messages"][2]["content"]
    assert [block["type"] for block in results] == ["tool_result", "text"]
    assert results[1]["text"] == "peel now says too:\nLeaves nothing but the skin behind."
    assert unmarked(claude.asked[2].body["messages"][2]["content"]) == unmarked(results)
    assert [asked.dropped for asked in claude.asked] == [()] * 3
    texts = [str(turn["content"]) for turn in claude.asked[2].body["messages"]]
    assert sum("now says too" in text for text in texts) == 1


def test_what_results_told_already_is_no_news() -> None:
    claude, session = twenty_turns("select", (NEWEST, "reference"))
    assert "now says too" not in str(claude.asked[-1].body["messages"])
    assert session.objects[-1] == "Soup#11"


def test_an_object_that_a_later_cell_brings_is_news(claude: StandIn) -> None:
    claude.turns += [says("Hello."), says("I see."), says("Still.")]
    with claude.model() as model:
        journal = Journal()
        inputs: dict[str, Any] = {"soup": Soup()}
        first = Session(soup_kitchen(), model, inputs=inputs, journal=journal).tell("Hello.")
        inputs = {**inputs, "leek": (Soup("leek"), "a leek soup")}
        again = Session(soup_kitchen(), model, inputs=inputs, journal=journal)
        # A cell with other options opens the session again, where the last cell left it.
        opened = journal.append(first.head, journal[again.head].event)
        again.checkout(opened.id).tell("And this?").tell("And now?")
    assert claude.refused == []
    turns = [str(turn["content"]) for turn in claude.asked[-1].body["messages"]]
    assert sum("a leek soup" in turn for turn in turns) == 1
    assert "- Soup#2: a leek soup" in turns[2]


# -- the table ------------------------------------------------------------------------------------


def test_a_dated_name_counts_as_the_name_and_an_unknown_one_as_a_new_one() -> None:
    assert abilities("claude-haiku-4-5-20251001") == MODELS["claude-haiku-4-5"]
    assert abilities("claude-sonnet-4-20250514") == MODELS["claude-sonnet-4"]
    assert abilities("claude-opus-9") == MODELS["claude-opus-5-5"]


@pytest.mark.parametrize("model", MODELS)
def test_what_the_table_says_of_a_model_holds_together(model: str) -> None:
    able = MODELS[model]
    assert able.references or not able.inline
    assert able.adaptive or not able.bound


def _tools(body: Json) -> list[Json]:
    return [tool for tool in body.get("tools", []) if "defer_loading" not in tool]


def _shown(body: Json) -> Any:
    return unmarked(_tools(body))


def _in_view(body: Json) -> set[str]:
    """Return the names of the tools that a model sees."""
    names = {tool["name"] for tool in _shown(body)}
    for turn in body["messages"]:
        for block in turn["content"]:
            match block:
                case {"type": "tool_result", "content": list(parts)}:
                    names |= {part["tool_name"] for part in parts if "tool_name" in part}
                case {"type": "tool_addition", "tool": {"definition": {"name": name}}}:
                    names.add(name)
    return names


def _thoughts(body: Json) -> int:
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    return sum(block["type"] == "thinking" for block in blocks)
