"""Tools whose names no provider takes are sent in a short form, and are called by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.models.tool_names import short_names
from jupyter_toolcall.schemes import Native
from jupyter_toolcall.schemes.scheme import Flat
from tests.standin import anthropic_api, openai_api
from tests.standin.model_api import StandIn
from tests.standin.turns import Use, says

LONG = "convert_all_prices_of_a_catalogue_to_the_currency_of_another_country_at_once"
ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@tool(read_only=True, name=LONG)
def convert(price: int) -> int:
    """Convert all prices."""
    return price * 2


def schälen(kartoffel: str) -> str:
    """Peel a potato."""
    return f"{kartoffel}, peeled"


@tool(name="shop.price")
def price(name: str) -> float:
    """Look a price up."""
    return 1.5


BOX = Toolbox(convert, schälen, price)
CALLS: list[tuple[str, dict[str, Any]]] = [
    (LONG, {"price": 3}),
    ("schälen", {"kartoffel": "the potato"}),
    ("shop.price", {"name": "plum"}),
]
RESULTS = [6, "the potato, peeled", 1.5]


Turns = tuple[str, dict[str, Any]] | str


@contextmanager
def asking(api: StandIn, *turns: Turns) -> Iterator[Any]:
    """Give a model that makes these calls."""
    api.turns += [says(each if isinstance(each, str) else Use(*each)) for each in turns]
    with api.model() as model:
        yield model
    assert api.refused == []


def short(name: str) -> str:
    """Return the form in which a tool is sent."""
    tools = OpenAI("m").body(Session(BOX, scheme="flat").cursor.request)["tools"]
    functions = (tool["function"] for tool in tools)
    described: dict[str, str] = {each["name"]: each["description"] for each in functions}
    [form] = [form for form, text in described.items() if text.startswith(f"{name}: ")]
    return form


def test_long_and_foreign_names_are_sent_in_a_short_form_that_begins_alike() -> None:
    assert short(LONG)[:55] == LONG[:55]
    assert short("schälen").startswith("schalen_")
    assert short("shop.price").startswith("shop_price_")
    assert all(ACCEPTED.fullmatch(short(name)) for name in BOX.names)


def test_a_whole_session_calls_such_tools_and_records_their_own_names(api: StandIn) -> None:
    calls = [(short(name), arguments) for name, arguments in CALLS]
    with asking(api, *calls, "Done.") as model:
        session = Session(BOX, model, scheme="flat", approve="all").tell("go")
    assert [call.tool for call in session.calls] == [name for name, _ in CALLS]
    assert [call.result for call in session.calls] == RESULTS
    tools = [api.sent_tools(number) for number in range(4)]
    assert len(api.asked) == 4
    assert all(ACCEPTED.fullmatch(name) for name in tools[0])
    assert tools == [tools[0]] * 4
    shown = str(session._repr_mimebundle_()) + session.journal.dumps()
    assert LONG in shown
    assert short(LONG) not in shown


def test_a_tool_that_was_selected_by_its_name_is_called_by_its_short_form(api: StandIn) -> None:
    selected = ("selectTools", {"tools": [LONG]})
    with asking(api, selected, (short(LONG), {"price": 3}), "Done.") as model:
        session = Session(BOX, model, approve="all").tell("go")
    assert [call.status for call in session.calls] == ["succeeded"] * 2
    assert session.calls[1].result == 6


def test_calls_as_xml_have_the_names_that_the_tools_have(api: StandIn) -> None:
    call = (
        '<tool-calls><tool-call tool="schälen" function="schälen">'
        '<parameter name="kartoffel">it</parameter></tool-call></tool-calls>'
    )
    with asking(api, call, "Done.") as model:
        session = Session(Toolbox(schälen), model, scheme=Native(Flat()), approve="all").tell("go")
    assert session.calls[0].result == "it, peeled"


def test_a_session_continues_with_the_other_provider() -> None:
    first, second = anthropic_api.StandIn(), openai_api.StandIn()
    with asking(first, (short(LONG), {"price": 3}), "Done.") as model:
        session = Session(BOX, model, scheme="flat", approve="all").tell("go")
    with asking(second, (short("schälen"), {"kartoffel": "it"}), "Done.") as model:
        session.cursor.context.model = model
        session.tell("more")
    assert [call.tool for call in session.calls] == [LONG, "schälen"]
    messages = second.bodies[0]["messages"]
    sent = [call for turn in messages for call in turn.get("tool_calls", ())]
    assert [call["function"]["name"] for call in sent] == [short(LONG)]


def test_a_reply_that_ends_too_soon_names_its_tools_in_full(api: StandIn) -> None:
    api.turns.append(says(Use(short(LONG), {"price": 3}), stop="length"))
    with api.model() as model:
        session = Session(BOX, model, scheme="flat").tell("go")
    assert f"Its calls did not run: {LONG}." in str(session)


class Öl:
    """Oil, as a class whose name has another letter."""

    def press(self) -> Öl:
        """Press it once more."""
        return Öl()


def pour(oil: Öl) -> str:
    """Pour it."""
    return "poured"


def test_methods_of_a_class_with_other_letters_are_called(api: StandIn) -> None:
    box = Toolbox(Öl, pour)
    form = short_names(box.names)["Öl_press"]
    with asking(api, (form, {"Öl": "Öl#1"}), ("pour", {"oil": "Öl#2"}), "Done.") as model:
        session = Session(box, model, scheme="flat", inputs={"oil": Öl()}, approve="all").tell("go")
    assert [call.result for call in session.calls] == ["Öl#2", "poured"]
    assert session.deps("Öl#2") == ("Öl#1",)


# -- laws -----------------------------------------------------------------------------

NAMES = st.text("abcäö世_.-", min_size=1, max_size=3) | st.text("a_", min_size=63, max_size=80)


@given(st.sets(NAMES | st.text(max_size=200), max_size=12))
def test_short_forms_are_unique_accepted_and_the_same_in_any_order(names: set[str]) -> None:
    # A tool may be named as the short form of another one.
    for of in (names, {*names, *short_names(names).values()}):
        forms = short_names(of)
        sent = [forms.get(name, name) for name in of]
        assert all(ACCEPTED.fullmatch(name) for name in sent)
        assert len(set(sent)) == len(of)
        assert short_names(sorted(of, reverse=True)) == forms
        assert all(not ACCEPTED.fullmatch(name) for name in forms)
