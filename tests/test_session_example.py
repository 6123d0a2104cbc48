"""The example in the documentation of `Session`."""

from __future__ import annotations

import doctest

from jupyter_toolcall.session import session


def test_the_example_of_the_class_runs_as_it_is_written() -> None:
    result = doctest.testmod(session)
    assert result.attempted
    assert not result.failed
