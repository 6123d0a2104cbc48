"""A server that stands in for the API of Anthropic; tests of other servers have their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.standin.anthropic_api import StandIn
from tests.standin.talk import KEY


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn(key=KEY) as server:
        yield server
