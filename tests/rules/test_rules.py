"""Rules that end, and rules that a person may want instead of deciding again and again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.jupyter.panel_updates import session_row
from jupyter_toolcall.previews.rule_offers import rule_offers
from jupyter_toolcall.rules.generalisations import conditions
from jupyter_toolcall.sources.definition_schema import condition
from jupyter_toolcall.view.decision_rows import rule_rows
from jupyter_toolcall.view.view_rows import all_rows


def pay(to: str, amount: int = 1) -> str:
    """Pay."""
    return "paid"


BOX = Toolbox(pay)
VERSION = BOX["pay"].version()


def asked(rule: Rule, **arguments: Any) -> Session:
    """Return a session with one call of `pay` under a rule."""
    replies = Scripted([("pay", {"to": "Anna", **arguments}), "Done."])
    return Session(BOX, replies, scheme="flat", approve=[rule]).tell("Pay Anna.")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""),
        ({"until": "2999-01-01", "made": "2020-01-01", "code": VERSION}, ""),
        ({"until": "2020-01-01"}, "The rule 'pay' ended on 2020-01-01."),
        ({"made": "2999-01-01T00:00+01:00"}, "The rule 'pay' is newer than the clock"),
        ({"code": "other"}, "The rule 'pay' ended: the code of pay has changed."),
    ],
)
def test_a_rule_that_has_ended_asks_and_says_why(fields: Any, why: str) -> None:
    session = asked(Rule("pay", "run", **fields))
    assert session.calls[0].status == ("proposed" if why else "succeeded")
    assert why in all_rows(session.cursor, "").calls[0].why
    assert asked(Rule("pay", "refuse", **fields)).calls[0].status == "rejected"


@pytest.mark.parametrize(
    ("to", "is_refused"),
    [("Mallory", True), ("Ｍａｌｌｏｒｙ", True), ("𝓜allory", True), ("mallory", False)],
)
def test_a_rule_to_refuse_fits_the_characters_that_look_alike(to: str, is_refused: bool) -> None:
    rule = Rule("pay", "refuse", {"to": {"pattern": "^Mallory$"}})
    assert asked(rule, to=to).calls[0].status == ("rejected" if is_refused else "proposed")
    # A copy decides the same, such as one in a worker process.
    same = pickle.loads(pickle.dumps(Rule("pay", "run", {"to": {"const": "Mallory"}})))
    assert asked(same, to=to).calls[0].status == ("succeeded" if to == "Mallory" else "proposed")


@pytest.mark.parametrize("decision", ["run", "refuse"])
def test_a_value_of_another_type_than_the_tool_declares_is_no_rule_s_to_judge(
    decision: Literal["run", "refuse"],
) -> None:
    session = asked(Rule("pay", decision, {"amount": {"maximum": 20}}), amount="5000")
    assert [call.status for call in session.calls] == ["proposed"]
    assert "cannot judge the type of amount" in all_rows(session.cursor, "").calls[0].why


@pytest.mark.parametrize(
    "rule",
    [
        lambda: Rule("pay", "run", until="9999-12-31T23:59:59-12:00"),
        lambda: Rule("pay", "run", until="tomorrow"),
        lambda: Rule("pay", "run", made="tomorrow"),
    ],
)
def test_what_is_no_date_is_named(rule: Callable[[], Rule]) -> None:
    with pytest.raises(UsageError, match="is no date; write 2026-12-24"):
        rule()


# -- offers ---------------------------------------------------------------------------------------


class Table:
    """A table."""


Method = Literal["median", "mean", "max"]


def fill(table: Table, column: str, method: Method, quiet: bool = False) -> Table:
    """Fill the empty cells of a column."""
    return Table()


@tool(read_only=True, untrusted=True)
def read_page() -> str:
    """Read a page."""
    return "Fill the cells of price."


def session_of(*calls: Any, prompt: str = "Fill the column price.") -> Session:
    box = Toolbox(fill, read_page)
    turns = Scripted([*calls, "Done."])
    options: dict[str, Any] = {"scheme": "flat", "inputs": {"hotels": Table()}}
    return Session(box, turns, **options).tell(prompt)


def filled(table: str = "Table#1", column: str = "price", method: str = "median") -> Any:
    return "fill", {"table": table, "column": column, "method": method}


def past(offer: Any) -> tuple[int, ...]:
    """Return how many calls a rule would have run, of how many, and how many were rejected."""
    return len(offer.would_run), len(offer.decided), len(offer.rejected)


def offers(session: Session) -> list[Any]:
    return rule_offers(session.cursor, session.pending[0].id)


def test_the_offers_go_from_objects_of_this_input_to_any_objects_to_closed_values() -> None:
    exact, objects, closed = offers(session_of(filled()))
    assert (exact.free, objects.free, closed.free) == ((), ("table",), ("table", "method"))
    assert conditions(exact.rule).startswith("`table` is hotels, or made from it, `column`")
    same = {"column": {"const": "price"}, "quiet": {"const": False}}
    assert closed.rule.arguments == same
    assert {each.rule.decision for each in (exact, objects, closed)} == {"run"}


def test_an_offer_says_what_it_would_have_done_with_the_calls_so_far() -> None:
    calls = [filled(), filled("Table#2"), filled("Table#1", "stars"), filled(method="max")]
    session = session_of(*calls, filled("Table#3"))
    for decision in ("approve", "approve", "approve", "reject"):
        session.decide(session.pending[0], decision).run()
    exact, objects, closed, without_max = offers(session)
    tried = map(past, (exact, objects, closed, without_max))
    assert [*tried] == [(2, 4, 0), (2, 4, 0), (3, 4, 1), (2, 4, 0)]
    assert [call.step for call in closed.rejected] == [4]
    assert without_max.left_out == '"max"'
    assert (
        conditions(without_max.rule, without_max.free)
        == '`column` is "price", `quiet` is false, any `method` but "max", any `table`'
    )


def join(tables: list[Table]) -> Table:
    """Join tables."""
    return Table()


def test_a_rule_for_what_is_made_from_an_input_fits_its_objects_alone() -> None:
    def joined(*numbers: int) -> Any:
        return "join", {"tables": [f"Table#{number}" for number in numbers]}

    # Inputs are Table#1 and Table#2; each call makes the next table.
    calls = [joined(1), joined(3), joined(2), joined(2, 1), joined(6, 3), joined(6, 2), joined()]
    fits = [True, True, False, False, True, False, False]
    rule = Rule("join", "run", {"tables": {"madeFrom": "hotels"}})
    inputs: dict[str, Any] = {"hotels": Table(), "cities": Table()}
    box, model = Toolbox(join), Scripted([*calls, "Done."])
    session = Session(box, model, scheme="flat", inputs=inputs, approve=[rule]).tell("Join.")
    while session.pending:
        session.decide(session.pending[0]).run()
    ran = [all_rows(session.cursor, "").calls[number].by_rule != "" for number in range(7)]
    decided = [call.decided is None or call.decided.rule != "" for call in session.calls]
    assert (ran, decided) == (fits, fits)


def test_texts_and_numbers_are_never_free() -> None:
    replies = Scripted([("pay", {"to": "#W2378156", "amount": 17}), "Done."])
    (exact,) = offers(Session(BOX, replies, scheme="flat").tell("Pay."))
    assert exact.rule.arguments == {"to": {"const": "#W2378156"}, "amount": {"const": 17}}


def test_what_a_call_left_out_is_a_part_of_the_rule() -> None:
    tool_name, arguments = filled()
    stated = [(tool_name, {**arguments, "quiet": quiet}) for quiet in (False, True)]
    session = filling(filled(), *stated)
    add_rule(session)
    assert [call.status for call in session.calls] == ["succeeded", "succeeded", "proposed"]


def test_a_value_that_others_wrote_is_not_generalised() -> None:
    assert offers(session_of(("read_page", {}), filled(), prompt="Go on.")) == []


# -- rules that a person adds while a session runs ------------------------------------------------


def filling(*calls: Any, approve: Any = "ask") -> Session:
    """Return a session whose first call of `fill` waits."""
    box, turns = Toolbox(fill, read_page), Scripted([*calls, "Done."])
    session = Session(box, turns, scheme="flat", inputs={"hotels": Table()}, approve=approve)
    return session.tell("Fill the column price.")


def add_rule(session: Session, number: int = -1, scope: Any = "session", until: Any = "run") -> str:
    """Approve the first call that waits with a rule that is offered for it; return its name."""
    waiting, rules = session.pending[0], session.cursor.context.person_rules
    rule = rules.add(offers(session)[number].rule, scope, until)
    session.decide(waiting).run()
    return rule.name


def test_a_rule_of_the_person_answers_where_the_policy_asks_and_is_a_decision_on_record() -> None:
    session = filling(filled(), filled("Table#2", method="mean"), filled(column="stars"))
    assert add_rule(session) == "fill price"
    assert [call.status for call in session.calls] == ["succeeded", "succeeded", "proposed"]
    assert (decided := session.calls[1].decided) is not None
    assert (decided.decision, decided.rule) == ("approve", "fill price")
    assert all_rows(session.cursor, "").calls[1].by_rule == "fill price"


def test_what_ran_by_a_rule_is_repeated_when_the_rule_has_ended() -> None:
    session = filling(filled(), filled("Table#2"))
    add_rule(session)
    session.cursor.context.person_rules.end_run()
    entries, replayed = len(session.journal), session.replay().run()
    assert [call.status for call in replayed.calls] == ["succeeded", "succeeded"]
    assert len(session.journal) == entries


def test_the_rule_of_a_run_ends_with_it() -> None:
    box, model = Toolbox(fill), Scripted([filled(), "Done.", filled("Table#2"), "Done."])
    session = Session(box, model, scheme="flat", inputs={"hotels": Table()}).tell("Fill price.")
    add_rule(session)
    [row] = rule_rows(session.cursor, run_ended=True)
    assert f"{row.ended} {row.made}".startswith("It ended with the run. You made it on 20")
    assert [call.status for call in session.tell("Again.").calls] == ["succeeded", "proposed"]


def test_a_rule_of_the_person_loosens_nothing_that_the_session_refuses_or_stops_at() -> None:
    refused = filling(filled(), filled(method="max"), approve=[Rule("fill", "refuse", MAX), "ask"])
    add_rule(refused)
    assert refused.calls[1].status == "rejected"
    stopped = filling(filled(), filled("Table#2"))
    stopped.cursor.context.set_breakpoint("fill")
    add_rule(stopped)
    assert stopped.calls[1].status == "proposed"


MAX = {"method": {"const": "max"}}


def test_a_rule_of_the_person_tightens_what_the_session_runs() -> None:
    session = filling(filled(method="max"), approve="none")
    rules = session.cursor.context.person_rules
    rules.add(Rule("fill", "refuse", MAX, name="never: max"), "session", "removed")
    assert session.run().calls[0].status == "rejected"
    assert session.calls[0].reason == "The rule 'never: max' decides: refuse."


def test_a_rule_of_the_person_says_why_it_does_not_decide() -> None:
    calls: Any = (filled(), ("read_page", {}), filled("Table#2", "price"))
    session = filling(*calls)
    session.cursor.context.person_rules.add(Rule("fill", "run", name="fill"), "session", "removed")
    session.run()
    why = all_rows(session.cursor, "").calls[-1].why
    assert why == (
        "The rule 'fill' does not decide: column is from call 2, read_page (not trusted); "
        "from your prompt."
    )
    decided = all_rows(session.decide(session.pending[0]).cursor, "").calls[-1]
    assert decided.why == "column from call 2, read_page (not trusted); from your prompt"


def test_a_person_pauses_moves_and_removes_rules() -> None:
    session = filling(filled(), filled(column="stars"), filled(column="stars"))
    rules = session.cursor.context.person_rules
    add_rule(session, 0)
    rules.add(Rule("fill", "refuse", name="fill"), "session", "removed")
    assert [rule.decision for rule in rules.rules] == ["run", "refuse"]
    rules.carry_out(2, "fill", "up", session.toolbox)
    assert [rule.decision for rule in rules.rules] == ["refuse", "run"]
    rules.carry_out(1, "fill", "pause", session.toolbox)
    assert session.run().calls[1].status == "proposed"
    rules.carry_out(1, "fill", "resume", session.toolbox)
    assert session.run().calls[1].status == "rejected"
    rules.carry_out(1, "fill", "remove", session.toolbox)
    assert [rule.decision for rule in rules.rules] == ["run"]
    with pytest.raises(UsageError, match="rules have changed"):
        rules.carry_out(2, "fill", "remove", session.toolbox)


def test_every_rule_has_its_counts_and_says_what_changed_in_the_code_of_its_tool() -> None:
    rules = [Rule("fill", "refuse", MAX, name="never: max"), Rule("read_page", "run"), "ask"]
    session = filling(filled(), filled(method="max"), ("read_page", {}), approve=rules)
    old = Rule("fill", "run", name="fill", code="0", source="def fill(): ...")
    session.cursor.context.person_rules.add(old, "session", "removed")
    row = session_row(session.decide("call_1").run(), "finished", "", "", ())
    counts = {"fill": "Ran 0, asked 1.", "never: max": "Rejected 1.", "read_page": "Ran 1."}
    assert {rule.name: rule.counts for rule in row.rules} == counts
    assert row.rules[0].change[0].lines
    assert [call.why for call in all_rows(session.cursor, "").calls] == ["rule 'fill'", "", ""]


@pytest.mark.parametrize("ended", [{"code": "of another day"}, {"until": "2024-01-01"}])
def test_a_rule_that_has_ended_is_used_again_for_the_code_and_the_day_of_today(ended: Any) -> None:
    session = filling(filled(), filled("Table#2"), filled("Table#3"))
    rules = session.cursor.context.person_rules
    rules.add(Rule("fill", "run", name="fill"), "session", "removed")
    rules.rules = (replace(rules.rules[0], **ended),)
    assert session.run().calls[0].status == "proposed"
    rules.carry_out(1, "fill", "renew", session.toolbox)
    assert [call.status for call in session.run().calls] == ["succeeded"] * 3


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule("pay", "run", {"amonut": {"maximum": 20}}), "names amonut, which pay does not take"),
        (Rule("pay", "refuse", {"amonut": {}}), "names amonut, which pay does not take"),
    ],
)
def test_a_rule_that_fits_no_call_of_its_tool_asks_and_says_why(rule: Rule, why: str) -> None:
    session = asked(rule)
    assert session.calls[0].status == "proposed"
    assert why in all_rows(session.cursor, "").calls[0].why


def test_a_pattern_is_matched_in_linear_time() -> None:
    evil = Rule("pay", "refuse", {"to": {"pattern": "^(a+)+$"}})
    assert asked(evil, to="a" * 5_000 + "b").calls[0].status == "proposed"
    assert asked(evil, to="a" * 5_000).calls[0].status == "rejected"


def test_what_is_no_condition_is_refused_in_one_line() -> None:
    wrong: list[Any] = [{"to": {"pattern": "^(?=a)"}}, {"to": 3}, "to", [{"to": {}}], None]
    # JSON Schema passes over a word that it does not have, and then every value fits.
    typos = {"maxLenght": 3}, {"not": {"patern": "x"}}, {"items": {"maxm": 1}}, {"format": "emil"}
    wrong += [{"to": schema} for schema in typos]
    for arguments in wrong:
        with pytest.raises(UsageError, match=r"^the rule for pay: .*(Schema|schema)") as raised:
            Rule("pay", "refuse", arguments)
        assert len(str(raised.value).splitlines()) == 1


PARTS: list[Any] = [
    *({"maximum": 10}, {"maxLength": 3}, {"pattern": "^a"}, {"items": {"maximum": 10}}, {}),
    *({"required": ["a"]}, {"properties": {"a": {"maxLength": 3}}}, {"const": 5}, {"minItems": 1}),
    *({"type": "string"}, {"format": "email"}, True, {"uniqueItems": True}),
]
SCHEMAS = st.recursive(
    st.sampled_from(PARTS),
    lambda inner: st.one_of(
        st.builds(lambda part: {"not": part}, inner),
        st.builds(lambda part: {"items": part}, inner),
        st.builds(
            lambda word, *parts: {word: [*parts]},
            *(st.sampled_from(["allOf", "anyOf", "oneOf"]), inner, inner),
        ),
    ),
)
LEAVES = st.sampled_from([None, True, 5, 5000, 0.5, "abc", "x" * 9, "a@b.ch", "5000"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner)
)


@given(SCHEMAS, VALUES)
def test_a_rule_runs_nothing_that_does_not_fit_its_json_schema(schema: Any, value: Any) -> None:
    fits = Draft202012Validator(schema, validate_formats=True).is_valid(value)
    assert fits or not condition(schema, runs=True).is_valid(value)
    assert condition(schema, runs=False).is_valid(value) == fits


@given(st.sampled_from(["maximum", "maxLength", "minItems", "maxProperties"]), VALUES)
def test_a_rule_runs_no_value_of_a_type_outside_its_condition(word: str, value: Any) -> None:
    def send(what: Any) -> str:
        """Send anything."""
        return "sent"

    rule = Rule("send", "run", {"what": {word: 7}})
    model = Scripted([("send", {"what": value}), "Done."])
    session = Session(Toolbox(send), model, scheme="flat", approve=[rule]).tell("Send it.")
    kinds: dict[str, Any] = {"maxLength": str, "minItems": list, "maxProperties": dict}
    kinds["maximum"] = (int, float)
    is_meant = isinstance(value, kinds[word]) and not isinstance(value, bool)
    assert is_meant or session.calls[0].status == "proposed"


# -- one question after an edit -------------------------------------------------------------------


@tool(external=True)
def publish(table: Table) -> str:
    """Publish a table."""
    return "published"


def edited(approves_following: bool) -> Session:
    """Return a session of which a person approved every call, with its first call edited."""
    calls = [filled(), filled("Table#2"), filled("Table#3"), ("publish", {"table": "Table#4"})]
    box, model = Toolbox(fill, publish), Scripted([*calls, "Done."])
    session = Session(box, model, scheme="flat", inputs={"hotels": Table()}).tell("Fill price.")
    while session.pending:
        session.decide(session.pending[0]).run()
    now = session.edit(session.calls[0], method="mean").run()
    row = all_rows(now.cursor, "").calls
    waiting = next(call for call in row if call.status == "proposed")
    assert (waiting.step, waiting.following) == (2, 2)
    now.decide(now.pending[0])
    now.cursor.replay_queue.approves_following = approves_following
    return now.run()


def test_after_an_edit_the_approvals_of_calls_with_other_objects_alone_are_one_question() -> None:
    # A call that reaches others is asked about again in any case.
    assert [call.tool for call in edited(approves_following=True).pending] == ["publish"]
    assert [call.step for call in edited(approves_following=False).pending] == [3]
