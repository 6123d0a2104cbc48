"""The examples in the documentation of the public classes and functions."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from jupyter_toolcall.models import scripted
from jupyter_toolcall.schemes import messages
from jupyter_toolcall.session import session, verify_files
from jupyter_toolcall.sources import definition_tools, graphql_tools, mcp_tools
from jupyter_toolcall.tools import tool, toolbox

EXAMPLES = {
    session: {"Session"},
    scripted: {"Scripted"},
    messages: {"Request", "Reply"},
    tool: {"Tool", "tool"},
    toolbox: {"Toolbox"},
    definition_tools: {"from_definition", "to_definition"},
    graphql_tools: {"from_graphql"},
    mcp_tools: {"from_mcp"},
    verify_files: {"verify"},
}
"""The classes and functions of each file that have an example."""


@pytest.mark.parametrize(("module", "names"), EXAMPLES.items())
def test_the_examples_run_as_they_are_written(module: ModuleType, names: set[str]) -> None:
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert names <= {test.name.rpartition(".")[2] for test in tests}
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
