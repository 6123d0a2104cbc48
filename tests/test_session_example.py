"""The examples in the documentation of the public classes and functions."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from jupyter_toolcall.session import session
from jupyter_toolcall.sources import definition_tools, graphql_tools
from jupyter_toolcall.tools import tool, toolbox


@pytest.mark.parametrize("module", [session, tool, toolbox, definition_tools, graphql_tools])
def test_the_examples_run_as_they_are_written(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
