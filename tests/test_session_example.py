"""The examples in the documentation of the public classes."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from jupyter_toolcall.models import scripted
from jupyter_toolcall.schemes import messages
from jupyter_toolcall.session import session

EXAMPLES = {
    session: {"Session"},
    scripted: {"Scripted"},
    messages: {"Request", "Reply"},
}
"""The classes of each file that have an example."""


@pytest.mark.parametrize(("module", "classes"), EXAMPLES.items())
def test_the_examples_of_a_class_run_as_they_are_written(
    module: ModuleType, classes: set[str]
) -> None:
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert classes <= {test.name.rpartition(".")[2] for test in tests}
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
