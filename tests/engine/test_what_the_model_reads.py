"""What the model reads of results, errors and inputs, as laws."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.tools.invoke import MEMBERS, error_text


def errors(leaves: st.SearchStrategy[Exception]) -> st.SearchStrategy[Exception]:
    groups = st.lists(leaves, min_size=1, max_size=4)
    return groups.map(lambda members: ExceptionGroup("several", members))


@given(st.recursive(st.integers().map(lambda n: ValueError(f"{n}\nin two lines")), errors))
def test_a_group_of_errors_is_read_member_by_member(error: Exception) -> None:
    lines = [line.strip() for line in error_text(error).splitlines()]
    waiting, leaves = [error], []
    while waiting:
        member = waiting.pop(0)
        inner = getattr(member, "exceptions", ())
        leaves += [] if inner else [str(member).splitlines()[0]]
        waiting = [*inner, *waiting]
    told = [line for line in lines if line.startswith(("- ValueError", "ValueError"))]
    assert len(lines) <= MEMBERS + 2
    assert all(map(str.__contains__, told, leaves))
    assert len(told) == len(leaves) or lines[-1] == "- and more errors"
