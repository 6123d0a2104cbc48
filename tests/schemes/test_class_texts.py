"""What a class of tools says of itself reaches the model in every scheme."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.models import Request
from jupyter_toolcall.schemes import SCHEMES


class Hen:
    """A hen that lays eggs."""

    def lay(self) -> Hen:
        """Lay an egg."""
        return self


class WeatherTool:
    """A class of tools, as the seed has it."""

    name = "weather"
    description = "A tool to get the weather."

    def get_for_city(self, city: str) -> str:
        return city


def sent(request: Request) -> str:
    """Return all that a request says of tools."""
    return "\n".join([request.system, *(tool.description for tool in request.tools)])


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_description_of_a_class_is_sent_once(scheme: str, native: bool) -> None:
    options: Any = {"scheme": scheme, "native": native, "inputs": {"hen": Hen()}}
    session = Session(Toolbox(Hen, WeatherTool()), Scripted(["Done."]), **options).tell("Go.")
    text = sent(session.requests[0].request)
    assert text.count("A hen that lays eggs.") == 1
    assert text.count("A tool to get the weather.") == 1
