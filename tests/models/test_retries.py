"""A request that came to nothing is made again a few times, and each wait is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.core.errors import ModelError
from jupyter_toolcall.models.retrying import Passing, Patience, asked_wait, may_pass, persistent
from jupyter_toolcall.schemes.messages import Attempt, Reply

NOON = 1_800_000_000.0


def failing(*failures: BaseException) -> Callable[[], Reply]:
    """Return what fails in these ways, one after the other, and then replies."""
    left = list(failures)

    def ask() -> Reply:
        if left:
            raise left.pop(0)
        return Reply("here")

    return ask


def patient(slept: list[float], chance: float = 0) -> Patience:
    return Patience(sleep=slept.append, chance=lambda: chance)


def test_a_reply_comes_with_the_attempts_before_it_and_each_wait_was_told_first() -> None:
    slept: list[float] = []
    told: list[str] = []
    ask = failing(Passing("busy (529)"), Passing("too many (429)", 7))
    reply = persistent(ask, patient(slept), told.append)
    assert reply == Reply("here", attempts=(Attempt("busy (529)", 1), Attempt("too many (429)", 7)))
    assert slept == [1, 7]
    assert told == [
        "busy (529); asked again in 1 s (2 of 4)",
        "too many (429); asked again in 7 s (3 of 4)",
    ]


def test_after_the_last_try_the_failure_is_told_with_the_number_of_tries() -> None:
    slept: list[float] = []
    with pytest.raises(ModelError, match=r"^busy \(asked 4 times\)$") as told:
        persistent(failing(*[Passing("busy")] * 9), patient(slept), lambda said: None)
    assert slept == [1, 2, 4]
    assert not isinstance(told.value, Passing)
    assert told.value.__context__ is None


@given(failed=st.integers(1, 9), after=st.none() | st.floats(0, 1e9), chance=st.floats(0, 0.999999))
def test_a_wait_is_bounded_always(failed: int, after: float | None, chance: float) -> None:
    wait = patient([], chance).wait(failed, after)
    if failed >= 4:
        assert wait is None
    elif after is None:
        assert wait is not None
        assert 2 ** (failed - 1) / 2 <= wait <= 2 ** (failed - 1)
    else:
        assert wait == min(after, 60)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "3", "retry-after-ms": "40"}, 0.04),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "inf", "retry-after": "2"}, 2),
        ({"retry-after": "Fri, 99 Jan 99999999 08:00:30 GMT"}, None),
    ],
)
def test_what_an_api_asks_for_is_read(headers: dict[str, str], wait: float | None) -> None:
    assert asked_wait(headers, NOON) == wait


def test_what_may_pass_goes_by_the_status_and_by_what_the_api_says() -> None:
    passing = [s for s in range(400, 600) if may_pass(s, {})]
    assert passing == [408, 409, 429, *range(500, 600)]
    assert may_pass(400, {"x-should-retry": "true"})
    assert not may_pass(429, {"x-should-retry": "false"})
