"""The journal: a tree that grows, names that are digests, folds that are computed once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall.core import events as facts
from jupyter_toolcall.core.digests import digest
from jupyter_toolcall.core.errors import BrokenJournal, NotYourTurn, UnknownEntry
from jupyter_toolcall.core.folds import Trail
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import HEADER, Entry, Label, When

texts = st.text(max_size=5)
floats = st.floats(allow_nan=False, allow_infinity=False)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
names = texts.filter(bool)
producers = st.builds(facts.Producer, names, st.integers(0, 3)) | st.builds(
    lambda name, version: facts.Producer(input=name, version=version), names, st.integers(1, 3)
)
made = st.builds(facts.Made, texts, texts, texts, texts, st.just(facts.UNSAID) | producers)
inputs = st.builds(
    facts.Made, texts, texts, texts, texts, producers.filter(lambda each: each.input)
)
uses = st.dictionaries(texts, producers, max_size=2)
outcomes = st.one_of(
    st.builds(facts.Data, data),
    made,
    st.builds(facts.Many, st.lists(made, max_size=2).map(tuple)),
    st.builds(facts.Failed, texts),
    st.builds(facts.Interrupted, st.booleans()),
)
arguments = st.dictionaries(texts, data, max_size=2)
calls = st.lists(st.builds(facts.Call, texts, texts, arguments, texts), max_size=2).map(tuple)
events: st.SearchStrategy[facts.Event] = st.one_of(
    st.builds(
        facts.Opened,
        scheme=texts,
        inputs=st.lists(st.tuples(texts, inputs), max_size=2).map(tuple),
        outputs=st.dictionaries(texts, st.builds(facts.Output, texts, texts), max_size=2),
        system=texts,
        instances=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    ),
    st.builds(facts.Asked, texts, st.sampled_from(["person", "session"])),
    st.builds(
        facts.Replied,
        texts,
        calls,
        texts,
        st.none() | st.builds(facts.Usage, st.integers(0), st.integers(0), st.integers(0)),
        data,
        st.dictionaries(texts, texts, max_size=2),
    ),
    st.builds(
        facts.Decided,
        texts,
        st.sampled_from(["approve", "edit", "reject", "answer"]),
        texts,
        st.none() | arguments,
        st.none() | outcomes,
        texts,
    ),
    st.builds(
        *(facts.Started, texts, st.none() | arguments, uses, texts, texts),
        st.dictionaries(texts, texts, max_size=2),
    ),
    st.builds(facts.Finished, texts, outcomes, st.sampled_from(["session", "program"]), uses),
)


@given(events)
def test_an_event_is_the_same_after_it_was_written_and_read(event: facts.Event) -> None:
    written = json.dumps(facts.to_json(event))
    assert facts.from_json(json.loads(written)) == event


@given(st.lists(events, min_size=1, max_size=6), st.integers(0, 10_000), st.integers(0, 7))
def test_a_damaged_journal_keeps_what_is_whole(said: list[facts.Event], at: int, bit: int) -> None:
    journal, head = Journal(), None
    for event in said:
        head = journal.append(head, event, {"at": 1}).id
    text = journal.dumps()
    assert Journal.loads(text).dumps() == text
    at %= len(text)
    for broken in (text[:at], text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]):
        kept, left = Journal.salvage(broken)
        assert broken.endswith(left)
        ids = [entry.id for entry in journal]
        assert [entry.id for entry in kept] == ids[: len(kept)]
        # All lines before the one that was hit are there, and nothing of it: the first is no entry.
        assert len(kept) == max(text[:at].count("\n") - 1, 0)


def test_equal_histories_have_equal_names_and_a_fork_is_another_child() -> None:
    one, other = Journal(), Journal()
    first = one.append(None, facts.Opened())
    assert other.append(None, facts.Opened(), {"at": 5}).id == first.id
    left, right = one.append(first.id, facts.Asked("a")), one.append(first.id, facts.Asked("b"))
    assert one.append(first.id, facts.Asked("a")) is left
    assert (one.children(first.id), one.leaves()) == ((left.id, right.id), (left.id, right.id))
    assert [entry.id for entry in one.path(right.id)] == [first.id, right.id]
    assert one.path(right.id, after=first.id) == (right,)


def test_what_does_not_fit_a_fold_was_never_there() -> None:
    def picky(count: int, entry: Entry) -> int:
        if isinstance(entry.event, facts.Asked) and entry.event.text == "no":
            raise NotYourTurn("no")
        return count + 1

    lines: list[str] = []
    journal = Journal(lambda line, when: lines.append(line))
    first = journal.append(None, facts.Opened())
    assert journal.fold(first.id, picky, 0, checks_entries=True) == 1
    with pytest.raises(NotYourTurn):
        journal.append(first.id, facts.Asked("no"))
    assert (len(journal), len(lines), journal.leaves()) == (1, 1, (first.id,))
    assert journal.fold(journal.append(first.id, facts.Asked("yes")).id, picky, 0) == 2


def test_what_cannot_be_written_was_never_there() -> None:
    def full(line: str, when: When) -> None:
        raise OSError("no space left")

    journal = Journal(full)
    with pytest.raises(OSError, match="no space"):
        journal.append(None, facts.Opened())
    assert len(journal) == 0
    with pytest.raises(ValueError, match="JSON"):
        Journal().append(None, facts.Asked(float("nan")))  # type: ignore[arg-type]


def test_what_allows_an_effect_has_to_be_on_disk_first_and_what_a_person_said_now() -> None:
    written: list[When] = []
    journal = Journal(lambda line, when: written.append(when))
    said: list[tuple[facts.Event, str, When]] = [
        (facts.Opened(), "", "soon"),
        (facts.Asked("x"), "person", "soon"),
        (facts.Replied("x"), "", "now"),
        (facts.Replied("x", (facts.Call("c", "t"),)), "", "soon"),
        (facts.Decided("c"), "person", "first"),
        (facts.Decided("c", "edit"), "person", "first"),
        (facts.Decided("c", "reject"), "person", "now"),
        (facts.Started("d"), "", "first"),
        (facts.Finished("c", facts.Data(1)), "", "soon"),
    ]
    head = None
    for event, by, _ in said:
        head = journal.append(head, event, {"by": by}).id
    assert written == [when for *_, when in said]


def test_an_entry_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownEntry, match="'nothing'"):
        Journal()["nothing"]
    with pytest.raises(UnknownEntry, match="'nothing'"):
        Journal().append("nothing", facts.Asked("x"))


def test_the_line_that_was_changed_is_named() -> None:
    journal = Journal()
    journal.remember({"a": 1})
    head = journal.append(None, facts.Opened()).id
    journal.append(head, facts.Asked("hello"))
    with pytest.raises(BrokenJournal, match=r"line 4 .* 1 entries before it are whole"):
        Journal.loads(journal.dumps().replace("hello", "hullo"))


@pytest.mark.parametrize("junk", [None, 1, [], {}, {"type": "call"}, {"type": "asked", "no": 1}])
def test_what_is_no_event_is_refused(junk: object) -> None:
    with pytest.raises(BrokenJournal, match="no event"):
        facts.from_json(junk)


def test_a_text_is_kept_once() -> None:
    journal = Journal()
    assert journal.remember("x") == journal.remember("x") != journal.remember("y")
    assert len(journal.texts) == 2
    assert Journal.loads(journal.dumps()).texts == journal.texts


@given(st.lists(st.tuples(st.integers(0, 9), st.integers()), max_size=20))
def test_a_trail_never_changes_whatever_grows_from_it(steps: list[tuple[int, int]]) -> None:
    trails: list[tuple[Trail[int], list[int]]] = [(Trail(), [])]
    for at, item in steps:
        trail, items = trails[at % len(trails)]
        trails.append((trail.add(item), [*items, item]))
    for trail, items in trails:
        assert list(trail) == items == list(trail[:])
        assert trail == Trail(items)
        assert trail[-1:] == items[-1:]
        assert list(reversed(trail)) == items[::-1]
        assert trail[::-1] == items[::-1]
        with pytest.raises(IndexError):
            trail[len(items)]


def test_what_a_branch_is_called_is_kept_beside_the_entries_and_is_part_of_no_digest() -> None:
    lines: list[str] = []
    journal = Journal(lambda line, when: lines.append(line))
    first = journal.append(None, facts.Opened())
    left, right = (journal.append(first.id, facts.Asked(text)) for text in "ab")
    ids, written = [entry.id for entry in journal], len(lines)
    journal.label(right.id, Label("with skin"))
    journal.label(right.id, Label("with skin"))
    journal.label(left.id, Label("plain", hidden=True))
    journal.label(left.id, Label("plain"))
    assert len(lines) == written + 3, "what is so already is not written again"
    assert [entry.id for entry in journal] == ids
    for text in (journal.dumps(), "".join(f"{line}\n" for line in (HEADER, *lines))):
        again = Journal.loads(text)
        assert again.labels == {right.id: Label("with skin"), left.id: Label("plain")}
        assert Journal.loads(again.dumps()).dumps() == again.dumps()


def test_a_label_of_an_entry_that_there_is_not_ends_what_can_be_read() -> None:
    journal = Journal()
    journal.append(None, facts.Opened())
    with pytest.raises(UnknownEntry):
        journal.label("nowhere", Label("lost"))
    for line in ('{"branch": "nowhere", "name": "lost"}', '{"branch": ["x"]}', '{"branch": null}'):
        kept, left = Journal.salvage(f"{journal.dumps()}{line}\n")
        assert (len(kept), left, kept.labels) == (1, f"{line}\n", {})


def test_of_what_was_said_twice_the_last_is_what_is_read() -> None:
    lines: list[str] = []

    def seal(text: str) -> str:
        return digest("seal", text)

    journal = Journal(lambda line, when: lines.append(line), seal)
    first = journal.append(None, facts.Opened()).id
    journal.append(first, facts.Replied("x"), {"at": 1, "stale": True})
    journal.append(first, facts.Replied("x"), {"at": 2})
    text = "".join(f"{line}\n" for line in (HEADER, *lines))
    assert [dict(entry.meta) for entry in Journal.loads(text, seal)] == [{}, {"at": 2}]
