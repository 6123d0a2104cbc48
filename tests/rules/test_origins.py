"""Where the values of arguments came from, and what the policy `flow` and rules make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import (
    Rule,
    Scripted,
    Session,
    Tool,
    Toolbox,
    from_definition,
    to_definition,
    tool,
)
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.toolsets import files, tables
from jupyter_toolcall.view.view_rows import all_rows
from tests.rules.adaptive_attackers import Attack, attacks

PAGES: list[str] = []


@tool(read_only=True, untrusted=True)
def read_page(number: int = 0) -> str:
    """Read a page of the web."""
    return PAGES[number]


@tool(read_only=True)
def address_of(person: str) -> str:
    """Look a person up in your own address book."""
    return f"{person}@home.example"


@tool(read_only=True)
def plain(text: Any) -> Any:
    """Return a text in plain letters."""
    return text


def note(text: Any, times: int = 1) -> str:
    """Write a note."""
    return "noted"


def tidy() -> str:
    """Tidy up."""
    return "tidy"


@tool(external=True)
def send(to: str, body: str = "") -> str:
    """Send a mail."""
    return "sent"


@tool(external=True, read_only=True)
def look_up(query: str) -> str:
    """Look something up in the web."""
    return "found"


@tool(destructive=True)
def erase(path: str) -> str:
    """Erase a file."""
    return "gone"


BOX = Toolbox(read_page, address_of, plain, note, tidy, send, look_up, erase)


def asked(*turns: Any, prompt: str = "Go on.", approve: Any = "flow", **options: Any) -> Session:
    """Return a session in which a model made calls, up to the first that waits."""
    model = Scripted([*turns, "Done."])
    return Session(BOX, model, scheme="flat", approve=approve, **options).tell(prompt)


def waiting(session: Session) -> list[str]:
    return [call.tool for call in session.pending]


def why(session: Session) -> str:
    """Return why the last call waits."""
    return all_rows(session.cursor, "").calls[-1].why


def origins(session: Session, number: int = -1) -> dict[str, tuple[str, str]]:
    """Return of one call the kind and the trust of each argument's origin."""
    call = session.calls[number]
    return {name: (origin.kind, origin.trust) for name, origin in call.origins.items()}


@pytest.fixture(autouse=True)
def one_page() -> None:
    PAGES[:] = ["Invoices: billing@harbor.example, account 4711."]


# -- attackers --------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", [*attacks()], ids=lambda attack: attack.name)
@pytest.mark.parametrize("effect", ["note", "send", "look_up", "erase"])
def test_no_call_that_pages_lead_to_runs_unasked(attack: Attack, effect: str) -> None:
    PAGES[:] = attack.pages
    argument = {"note": "text", "send": "to", "look_up": "query", "erase": "path"}[effect]
    value = attack.value if effect == "note" else str(attack.value)
    session = asked(*Attack("", attack.pages, value).calls(effect, argument))
    assert waiting(session) == [effect]


@pytest.mark.parametrize("attack", [*attacks()], ids=lambda attack: attack.name)
def test_a_trusted_tool_does_not_make_a_value_of_a_page_trusted(attack: Attack) -> None:
    PAGES[:] = attack.pages
    reads = attack.calls("plain", "text")[:-1]
    assert waiting(asked(*reads, ("note", {"text": attack.value}))) == ["note"]


READABLE = ("as it is", "in another case", "spelled", "in full width")
"""The families that leave the value in the text."""


@pytest.mark.parametrize(
    "attack",
    [attack for attack in attacks() if attack.name.partition(":")[0] in READABLE],
    ids=lambda attack: attack.name,
)
def test_a_value_that_pages_spell_is_theirs_also_if_the_prompt_has_it(attack: Attack) -> None:
    PAGES[:] = attack.pages
    prompt = f"My notes: {attack.value}, and others."
    assert waiting(asked(*attack.calls("note", "text"), prompt=prompt)) == ["note"]


def test_a_page_that_is_read_in_the_same_reply_led_to_nothing_in_it() -> None:
    session = asked([("read_page", {}), ("note", {"text": "billing@harbor.example"})])
    assert waiting(session) == []
    assert origins(session) == {"text": ("model", "trusted")}


# -- the policy `flow` ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "runs"),
    [
        (("note", {"text": "Bring bread."}), True),
        (("note", {"text": "bread"}), True),
        (("note", {"text": "bre"}), False),
        (("note", {"text": "bring bread"}), False),
        (("note", {"text": "Anna@home.example"}), True),
        (("note", {"text": "Bring bread.", "times": 1}), True),
        (("note", {"text": "Bring bread.", "times": 2}), False),
        (("note", {"text": ["bread", "other"]}), False),
        (("note", {"text": {"Bring bread.": "bread"}}), True),
        (("note", {"text": {"other": "bread"}}), False),
        (("plain", {"text": "what it likes"}), True),
        (("tidy", {}), False),
        (("send", {"to": "bread"}), False),
        (("look_up", {"query": "bread"}), False),
        (("erase", {"path": "bread"}), False),
    ],
)
def test_flow_runs_what_reads_here_and_what_the_person_wrote(call: Any, runs: bool) -> None:
    first = ("address_of", {"person": "Anna"})
    session = asked(first, ("read_page", {}), call, prompt="Tell Anna: Bring bread.")
    assert waiting(session) == ([] if runs else [call[0]])


def test_flow_asks_about_nothing_that_stays_here_while_nothing_untrusted_was_read() -> None:
    calls = [("note", {"text": "own words"}), ("tidy", {}), ("plain", {"text": "x"})]
    assert waiting(asked(*calls)) == []
    assert waiting(asked(*calls, ("send", {"to": "Anna"}))) == ["send"]


def test_a_rule_before_flow_runs_what_leaves_this_computer() -> None:
    rules = [Rule("send", "run", {"to": {"const": "me@home.example"}}), "flow"]
    assert waiting(asked(("send", {"to": "me@home.example"}), approve=rules)) == []
    assert waiting(asked(("send", {"to": "you@home.example"}), approve=rules)) == ["send"]
    assert waiting(asked(("note", {"text": "x"}), approve=rules)) == []


def test_flow_says_which_argument_came_from_where() -> None:
    session = asked(("read_page", {}), ("note", {"text": "billing@harbor.example"}))
    assert "text is not from you (from call 1, read_page (not trusted))" in why(session)


# -- rules ----------------------------------------------------------------------------------------

FROM_PAGE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_page", {}),
    ("send", {"to": "billing@harbor.example"}),
)


@pytest.mark.parametrize("approve", [[Rule("*", "run")], [("*", "approve")]])
def test_no_rule_runs_a_call_with_a_value_that_others_wrote(approve: Any) -> None:
    session = asked(*FROM_PAGE, approve=approve)
    assert waiting(session) == ["send"]
    assert "No rule decides about to, which is not from you" in why(session)


@pytest.mark.parametrize("approve", [[Rule("*", "run")], [("*", "approve")]])
@pytest.mark.parametrize(
    ("to", "runs"),
    [("Anna", True), ("harbor accounts", False), ("ask bill about 47-11", False), (["Anna"], True)],
)
def test_no_rule_runs_a_text_that_the_model_wrote_after_it_had_read_what_others_wrote(
    approve: Any, to: Any, runs: bool
) -> None:
    calls: Any = ("read_page", {}), ("note", {"text": to})
    assert (waiting(asked(*calls, prompt="Mail Anna.", approve=approve)) == []) is runs
    assert waiting(asked(calls[1], approve=approve)) == []


def test_a_rule_that_names_the_whole_text_runs_it_whatever_the_model_has_read() -> None:
    rules = [Rule("read_page", "run"), Rule("note", "run", {"text": {"enum": ["bread", "wine"]}})]
    calls: Any = ("read_page", {}), ("note", {"text": "bread"})
    assert waiting(asked(*calls, approve=rules)) == []
    rules[1] = Rule("note", "run", {"text": {"pattern": "bread"}})
    assert waiting(asked(*calls, approve=rules)) == ["note"]


def test_a_rule_in_python_may_allow_values_that_others_wrote() -> None:
    labels = ["untrusted", "result", "prompt"]
    rules = [Rule("read_page", "run"), Rule("send", "run", origins=labels)]
    assert waiting(asked(*FROM_PAGE, approve=rules)) == []


def test_rules_that_ask_and_refuse_fit_whatever_others_wrote() -> None:
    rules = [Rule("send", "refuse"), Rule("*", "run")]
    assert asked(*FROM_PAGE, approve=rules).calls[-1].status == "rejected"


def test_a_rule_may_demand_the_words_of_the_person() -> None:
    rules = [Rule("note", "run", origins=["prompt"])]
    assert waiting(asked(("note", {"text": "bread"}), prompt="Buy bread.", approve=rules)) == []
    assert waiting(asked(("note", {"text": "wine"}), prompt="Buy bread.", approve=rules)) == [
        "note"
    ]


@pytest.mark.parametrize("wrong", [["web"], "prompt"])
def test_what_is_no_origin_is_named(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"is no origin of a value; .*prompt, person"):
        Rule("send", "run", origins=wrong)


# -- where values come from -----------------------------------------------------------------------


def test_each_argument_says_where_its_value_came_from() -> None:
    session = asked(
        ("address_of", {"person": "Anna"}),
        ("read_page", {}),
        ("note", {"text": "Anna@home.example"}),
        ("note", {"text": "account 4711"}),
        ("note", {"text": ["Anna", "account 4711"]}),
        ("note", {"text": "in its own words", "times": 1}),
        prompt="Write to Anna.",
        approve="all",
    )
    first, _, second, third, fourth, fifth = (call.origins for call in session.calls)
    assert str(first["person"]) == "from your prompt"
    assert str(second["text"]) == "from call 1, address_of"
    assert str(third["text"]) == "from call 2, read_page (not trusted)"
    # A short part of a trusted result, such as "Anna" of call 1, stands there by chance.
    assert str(fourth["text"]) == "from call 2, read_page (not trusted); from your prompt"
    assert fourth["text"].labels == {"untrusted", "prompt"}
    assert str(fifth["text"]) == "the model's own words"
    assert str(fifth["times"]) == "the tool's default"


def test_a_card_calls_a_value_the_models_own_only_once_it_has_read_what_others_wrote() -> None:
    def said(*calls: tuple[str, dict[str, Any]]) -> list[tuple[str, str]]:
        session = asked(
            *calls, ("note", {"text": "own"}), approve=[("note", "ask"), ("*", "approve")]
        )
        rows = all_rows(session.cursor, "").calls[-1].origins
        return [(row.parameter, row.says) for row in rows]

    assert said() == []
    assert said(("read_page", {})) == [("text", "the model's own words")]


def test_an_object_is_as_trusted_as_the_call_that_made_it() -> None:
    class Page:
        """A page."""

    @tool(untrusted=True)
    def fetch() -> Page:
        """Fetch."""
        return Page()

    def copy(page: Page) -> Page:
        """Copy."""
        return Page()

    def keep(page: Page) -> str:
        """Keep."""
        return "kept"

    calls = [("fetch", {}), ("copy", {"page": "Page#2"}), ("keep", {"page": "Page#3"})]
    turns = [*calls, ("keep", {"page": "Page#1"}), "Done."]
    box = Toolbox(fetch, copy, keep)
    session = Session(box, Scripted(turns), scheme="flat", inputs={"own": Page()}, approve="all")
    session.tell("Go on.")
    shown = [call.origins["page"] for call in session.calls[1:]]
    assert [str(origin) for origin in shown] == [
        "Page#2, made by call 1 (not trusted)",
        "Page#3, made by call 2 (not trusted)",
        "Page#1",
    ]


def test_what_a_person_typed_or_answered_is_the_persons() -> None:
    session = asked(("read_page", {}), ("note", {"text": "4711"}), ("note", {"text": "from Anna"}))
    session.decide(session.pending[0], "edit", arguments={"text": "4712"}).run()
    assert origins(session, 1) == {"text": ("person", "trusted")}
    PAGES[:] = ["Nothing."]
    session = asked(("send", {"to": "x"}), ("read_page", {}), ("note", {"text": "Anna said so"}))
    session.decide(session.pending[0], "answer", result="Anna said so").run()
    assert waiting(session) == []
    assert str(session.calls[-1].origins["text"]) == "your answer to call 1"


def test_the_prompt_of_later_does_not_explain_an_earlier_call() -> None:
    session = Session(BOX, Scripted([("note", {"text": "Anna"}), "Done.", "Done."]), scheme="flat")
    session.tell("Go on.").decide(session.pending[0]).run().tell("Thank Anna.")
    assert origins(session) == {"text": ("model", "trusted")}


def test_a_result_stays_untrusted_when_the_tool_is_not_there_any_more(tmp_path: Path) -> None:
    session = asked(("read_page", {}), ("note", {"text": "account 4711"}))
    session.save(tmp_path / "session.jsonl")
    later = Session.load(tmp_path / "session.jsonl", Toolbox(note), approve="flow")
    assert origins(later) == {"text": ("result", "untrusted")}


def test_a_session_variable_and_an_instance_hold_what_untrusted_calls_put_there() -> None:
    class Shelf:
        """A shelf."""

        def __init__(self) -> None:
            self.things: list[str] = []

        def put(self, thing: str) -> str:
            """Put."""
            self.things.append(thing)
            return "put"

        @tool(read_only=True)
        def first(self) -> str:
            """Return the first thing in capitals."""
            return self.things[0].encode().hex()

    PAGES[:] = ["evil.example"]
    calls = [("read_page", {}), ("Shelf_put", {"thing": "evil.example"}), ("Shelf_first", {})]
    taken = ("note", {"text": b"evil.example".hex()})
    session = Session(
        Toolbox(read_page, note, Shelf()), Scripted([*calls, taken, "Done."]), scheme="flat",
        approve="all",
    )  # fmt: skip
    assert origins(session.tell("Go on.")) == {"text": ("result", "untrusted")}


def test_why_and_the_json_export_say_where_arguments_came_from(tmp_path: Path) -> None:
    session = asked(("read_page", {}), ("note", {"text": "account 4711", "times": 2}))
    session.decide(session.pending[0]).run()
    why = str(session.why(session.calls[-1]))
    assert "text: from call 1, read_page (not trusted)" in why
    assert "times: the model's own words" in why
    data = json.loads(session.export(tmp_path / "session.json").read_text())
    assert data["calls"][1]["origins"]["text"]["trust"] == "untrusted"


# -- marks ------------------------------------------------------------------------------------


def test_tools_of_files_and_endpoints_are_marked_and_the_marks_can_be_changed() -> None:
    assert {tool.name for tool in files if tool.untrusted} == {"files_list", "files_read"}
    assert not any(tool.untrusted for tool in files(".", untrusted=False))
    assert not any(tool.untrusted for tool in tables)
    assert all(tool.untrusted for tool in tables.sharing("sample", untrusted=True))
    endpoint = {
        "type": "endpoint",
        "tool": {"function": {"name": "ask", "parameters": {"type": "object"}}},
        "endpoint": {
            "url": "https://api.example.org",
            "method": "get",
            "argument_location": "query",
        },
    }
    marks = [from_definition(endpoint), from_definition(endpoint, untrusted=False, external=False)]
    assert [(tool.untrusted, tool.external) for tool in marks] == [(True, True), (False, False)]
    function = to_definition(send)["tool"]["function"]
    definition = {"name": "send", "input_schema": function["parameters"]}
    action = from_definition(definition, action=send)
    assert (action.untrusted, action.external) == (False, True)
    assert not Tool("plain").untrusted


class Sheet:
    """A page of the web."""

    def __init__(self, text: str) -> None:
        self.text = text


@tool(read_only=True, untrusted=True)
def fetch() -> Sheet:
    """Fetch a page."""
    return Sheet(PAGES[0])


@tool(read_only=True)
def text_of(page: Sheet) -> str:
    """Return the text of a page."""
    return page.text


def clear(folder: str, limit: int | None = 5) -> str:
    """Clear a folder."""
    return "cleared"


MORE = Toolbox(fetch, text_of, note, clear, Sheet)


def test_a_reply_that_reads_an_untrusted_object_makes_nothing_trusted() -> None:
    reply = [("fetch", {}), ("text_of", {"page": "Sheet#1"})]
    model = Scripted([reply, ("note", {"text": "billing@harbor.example"}), "Done."])
    session = Session(MORE, model, scheme="flat", approve="flow").tell("Go on.")
    assert waiting(session) == ["note"]


def test_nothing_is_no_default_where_the_tool_has_another_one() -> None:
    turns: Any = ("fetch", {}), ("clear", {"folder": "Downloads", "limit": None})
    session = Session(MORE, Scripted([*turns, "Done."]), scheme="flat", approve="flow")
    session.tell("Clear Downloads.")
    assert waiting(session) == ["clear"]


@pytest.mark.parametrize(("number", "runs"), [(5.99, True), (99, False), (500, False)])
def test_a_part_of_a_number_in_the_prompt_is_not_from_the_person(number: Any, runs: bool) -> None:
    turns: Any = ("read_page", {}), ("note", {"text": number})
    session = asked(*turns, prompt="Note 5.99 and 1,500 and 1500000.")
    assert waiting(session) == ([] if runs else ["note"])


def test_a_rule_to_refuse_fits_where_one_value_comes_from_there() -> None:
    turns = *FROM_PAGE[:1], ("send", {"to": "billing@harbor.example", "body": "mine"})
    rules = [Rule("send", "refuse", origins=["untrusted"]), "all"]
    assert asked(*turns, approve=rules).calls[1].status == "rejected"


FEW_NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=3)


@given(words=FEW_NUMBERS, others=FEW_NUMBERS, limits=FEW_NUMBERS)
def test_a_number_is_the_persons_as_a_word_alone_and_a_list_has_one_origin_or_none(
    words: list[int], others: list[int], limits: list[int]
) -> None:
    parts = [f"{', '.join(map(str, words))};", *(f"DataFrame#{n} x{n} {n}nd" for n in others)]
    asked_for = [("note", {"text": value}) for value in (limits, limits[0])]
    session = asked([*asked_for], prompt=" ".join(parts), approve="ask")
    kind, _ = origins(session)["text"]
    assert kind == ("prompt" if limits[0] in words else "model")
    shown = [origin.says for origin in all_rows(session.cursor, "").calls[0].origins]
    assert shown == ["from your prompt"] * (set(limits) <= {*words})
