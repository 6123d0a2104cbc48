"""Servers that stand in for the APIs of both providers; tests of one of them say which."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.standin import anthropic_api, openai_api
from tests.standin.model_api import StandIn

PROVIDERS: dict[str, type[StandIn]] = {
    "anthropic": anthropic_api.StandIn,
    "openai": openai_api.StandIn,
}


@pytest.fixture(params=PROVIDERS)
def api(request: pytest.FixtureRequest) -> StandIn:
    """Each provider in turn, in memory."""
    return PROVIDERS[request.param]()


@pytest.fixture
def server(api: StandIn) -> Iterator[StandIn]:
    """Each provider in turn, over HTTP."""
    with api:
        yield api


@pytest.fixture
def claude() -> Iterator[anthropic_api.StandIn]:
    with anthropic_api.StandIn() as server:
        yield server


@pytest.fixture
def openai() -> Iterator[openai_api.StandIn]:
    with openai_api.StandIn() as server:
        yield server
