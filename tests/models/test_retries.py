"""When a request that came to nothing is made again, and how long is waited before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.models.retrying import Patience, asked_wait, may_pass

NOON = 1_800_000_000.0


@given(failed=st.integers(1, 9), after=st.none() | st.floats(0, 1e9), chance=st.floats(0, 0.999999))
def test_a_wait_is_bounded_always(failed: int, after: float | None, chance: float) -> None:
    wait = Patience(chance=lambda: chance).wait(failed, after)
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
