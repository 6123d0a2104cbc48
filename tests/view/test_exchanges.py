"""What went to the model and came back, turn by turn; what it cost, and where that is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.digests import readable_json
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.kitchen import FRIES, Oven, Plate, Potato, Sink, kitchen
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.models.prices import PRICES, cost
from jupyter_toolcall.schemes.messages import Attempt
from jupyter_toolcall.view.contract_rows import SessionRow, TurnRow
from jupyter_toolcall.view.view_rows import ViewRows


class Metered:
    """A model with a price, which was busy at first."""

    name = "anthropic:claude-opus-5-5"

    def __call__(self, request: Request) -> Reply:
        usage = Usage(1_000_000, 100_000, cached=500_000, written=100_000)
        if request.turn:
            return Reply("Done.", usage=usage)
        return Reply("", (Call("a", "add", {"one": 1}),), "tools", usage, attempts=(BUSY,))

    def body(self, request: Request) -> dict[str, Any]:
        return {"messages": len(request.messages), "tools": [tool.name for tool in request.tools]}


BUSY = Attempt("the API is busy (529)", 2.0)


def add(one: int) -> int:
    """Add one."""
    return one + 1


def turns(session: Session) -> tuple[TurnRow, ...]:
    return ViewRows().whole(session.cursor, SessionRow()).turns


def test_each_turn_shows_the_request_that_the_model_got() -> None:
    heard: list[Request] = []

    def model(request: Request) -> Reply | None:
        heard.append(request)
        return FRIES(request)

    inputs = {"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()}
    session = Session(kitchen(), model, inputs=inputs, outputs={"fries": Plate}, approve="all")
    session.tell("Fries, please.")
    shown = session.requests
    assert [each.turn for each in shown] == list(range(1, 9))
    for each, request in zip(shown, heard, strict=True):
        assert each.request.system == request.system
        assert [tool.definition() for tool in each.request.tools] == [
            tool.definition() for tool in request.tools
        ]
        assert list(each.request.messages) == list(request.messages)
    assert [each.known for each in shown] == [0, *(len(e.request.messages) for e in shown[:-1])]


def test_a_turn_says_what_it_took() -> None:
    session = Session(Toolbox(add), Metered(), scheme="flat", approve="all").tell("Add one.")
    first, second = session.requests
    assert (first.attempts, second.attempts) == ((BUSY,), ())
    assert first.body == {"messages": 1, "tools": ["add"]}
    assert str(first.cost) == "$4.2000"
    assert (first.model, session.usage.written) == ("anthropic:claude-opus-5-5", 200_000)


def test_the_panel_has_a_row_for_each_turn() -> None:
    session = Session(Toolbox(add), Metered(), scheme="flat", approve="all").tell("Add one.")
    first, second = turns(session)
    assert (first.input, first.cached, first.output) == (1_000_000, 500_000, 100_000)
    assert first.attempts == ("the API is busy (529); waited 2 s",)
    assert (second.turn, second.cost, second.attempts) == (2, "$4.2000", ())


def test_the_session_says_what_all_its_requests_took_as_far_as_that_is_known() -> None:
    session = Session(Toolbox(add), Metered(), scheme="flat", approve="all").tell("Add one.")
    (row,) = ViewRows().whole(session.cursor, SessionRow()).session
    assert (row.tokens, row.cost) == (2_200_000, "$8.4000")
    free = Session(Toolbox(add), Scripted(["Done."]), scheme="flat").tell("Add one.")
    (row,) = ViewRows().whole(free.cursor, SessionRow()).session
    assert (row.tokens, row.cost) == (0, "")


def test_what_is_cut_and_what_is_only_named_says_how_large_it_is_in_the_request() -> None:
    session = Session(Toolbox(add), Scripted(["Done."]), scheme="flat").tell("x" * 9_000)
    rows = {row.role: row for row in ViewRows().whole(session.cursor, SessionRow()).messages}
    (request,) = session.requests
    (told,) = (readable_json(tool.definition()) for tool in request.request.tools)
    assert (rows["user"].size, rows["tools"].size) == (9_000, len(told))
    assert rows["assistant"].size == 0
    assert rows["tools"].text == "1 tool: add"


def test_a_price_that_is_not_known_is_said_to_be_unknown() -> None:
    assert cost("ollama:qwen", Usage(10, 10)) is None
    assert cost("claude-opus-5-5", None) is None


def test_a_cache_of_unknown_price_makes_a_bound() -> None:
    spent = Usage(1_000_000, 0, cached=1_000_000)
    assert str(cost("anthropic:claude-sonnet-5-5", spent)) == "at most $2.0000"
    assert str(cost("claude-sonnet-5-5-20260901", Usage(1_000_000))) == "$2.0000"


@pytest.mark.parametrize("model", PRICES)
def test_more_tokens_cost_more(model: str) -> None:
    less, more = cost(model, Usage(10, 10)), cost(model, Usage(20, 20))
    assert less is not None
    assert more is not None
    assert 0 < less.dollars < more.dollars
