"""Content: digests that go by value, copies that are private, data that is JSON."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot

from jupyter_toolcall.core.digests import encode
from jupyter_toolcall.tools.value_copies import is_frozen, plain_data, private
from jupyter_toolcall.tools.value_digests import content_digest


@dataclass(frozen=True)
class Leaf:
    n: int = 0


@dataclass(frozen=True)
class Branch:
    leaves: tuple[Leaf, ...] = ()
    notes: list[int] = field(default_factory=list)


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Words(list[str]): ...


class Word(str):
    pass


class Pair(NamedTuple):
    one: int
    two: int


class Way(Enum):
    UP = 1
    DOWN = 2


values = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
        *(st.binary(max_size=3), st.sampled_from(Way), st.builds(Leaf, st.integers(0, 3))),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.frozensets(st.integers(0, 5)),
        inner.map(lambda item: Plain(item=item)),
        st.lists(st.integers(), max_size=2).map(lambda notes: Branch((Leaf(1),), notes)),
    ),
    max_leaves=6,
)


@given(values)
def test_a_copy_has_the_digest_of_what_it_was_made_from(value: Any) -> None:
    copied, possible = private(value)
    assert possible
    assert content_digest(copied) == content_digest(value) != ""
    assert is_frozen(value) == (copied is value) or not isinstance(value, (list, dict, Plain))


@given(values)
def test_whatever_a_value_is_its_data_is_json(value: Any) -> None:
    encode(plain_data(value)).encode("ascii")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (1, "1"),
        ("1", b"1"),
        ([1], (1,)),
        ([[1], 2], [[1, 2]]),
        ({"a": 1}, {"a": 2}),
        (Leaf(1), Leaf(2)),
        (Plain(a=1), Plain(b=1)),
        (Way.UP, Way.DOWN),
        (["ab"], ["a", "b"]),
        (Words("ab"), Words("ba")),
        (Word("a"), Word("b")),
        (Pair(1, 2), Pair(2, 1)),
        (Words("a"), ["a"]),
    ],
)
def test_values_that_differ_have_digests_that_differ(one: Any, other: Any) -> None:
    assert content_digest(one) != content_digest(other)


def test_the_order_of_attributes_and_of_sets_does_not_matter() -> None:
    assert content_digest(Plain(a=1, b=2)) == content_digest(Plain(b=2, a=1))
    assert content_digest({3, 1, 2}) == content_digest({2, 3, 1})


def test_a_value_that_is_shared_is_as_one_that_is_equal() -> None:
    shared = [1]
    assert content_digest([shared, shared]) == content_digest([[1], [1]])


def test_a_value_that_shares_much_is_digested_in_the_time_of_its_parts() -> None:
    value: Any = [0]
    for _ in range(200):
        value = [value, value]
    assert content_digest(value) != ""


def test_a_copy_shares_only_what_cannot_be_pickled() -> None:
    lock, notes = threading.Lock(), [1]
    copied, is_whole = private(Plain(lock=lock, notes=notes, function=lambda: 1))
    shared = vars(copied)
    assert not is_whole
    assert shared["lock"] is lock
    assert shared["notes"] == notes
    assert shared["notes"] is not notes
    assert private(lock) == (lock, False)


@pytest.mark.parametrize("library", ["numpy", "polars", "pandas"])
def test_a_copy_has_memory_of_its_own(library: str) -> None:
    numpy, tables = pytest.importorskip("numpy"), pytest.importorskip(library)
    array = numpy.arange(3.0)
    value: Any = [array]
    if library == "polars":
        value = tables.DataFrame({"a": array})
    if library == "pandas":
        value = Plain(table=tables.DataFrame({"a": array}, copy=False))
    copied, _ = private(value)
    before = content_digest(copied)
    array[0] = 9
    assert content_digest(copied) == before


@pytest.mark.parametrize(
    ("value", "frozen"),
    [
        (1, True),
        ((1, "a"), True),
        (Leaf(), True),
        (Branch(), False),
        ([1], False),
        (([],), False),
        (Plain(), False),
        (Way.UP, True),
    ],
)
def test_only_what_cannot_change_needs_no_copy(value: Any, frozen: bool) -> None:
    assert is_frozen(value) is frozen


def test_a_copy_of_a_figure_is_none_that_pyplot_shows() -> None:
    figure, _ = pyplot.subplots()
    numbers = pyplot.get_fignums()
    copied = private([figure, {"again": figure}])[0]
    assert copied[0] is copied[1]["again"] is not figure
    assert pyplot.get_fignums() == numbers
    pyplot.close(figure)
