"""A scheme of one's own: what to offer is all that it has to say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.state import State
from jupyter_toolcall.evaluation import compare
from jupyter_toolcall.evaluation.tasks import Task
from jupyter_toolcall.jupyter.options import context_for_cell, parse_options
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.schemes import SCHEMES, Flat, Native, Offer, Scheme

GIVEN = {"oven": Oven(), "plate": Plate(), "sink": Sink(), "potato": Potato()}
PLAN: list[tuple[str, dict[str, Any]]] = [
    ("Potato_rinse", {"Potato": "$Potato", "sink": "$Sink"}),
    ("Potato_peel", {"Potato": "$Potato"}),
]


def washed(scheme: Scheme, **options: Any) -> Session:
    """Return a session in a scheme, in which a potato is rinsed and peeled."""
    options = {"inputs": GIVEN, "approve": "all", **options}
    model = Scripted([*PLAN, "Done."])
    return Session(kitchen(), model, scheme=scheme, **options).tell("Go.")


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


def test_a_cell_that_names_no_scheme_is_told_which_there_are() -> None:
    with pytest.raises(UsageError, match=r"no scheme 'neweste'.*flat, newest. Did you mean newest"):
        scheme_of("--scheme neweste", newest=Newest())
