"""Branches of a journal as a person speaks of them: their names, and what is whose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..events import Asked, Decided, Opened, Replied
from ..journal.tree import Entry, Journal, Label
from ..state.fold import state_at

SHOWN = 4
"""So many other branches are drawn, the newest."""
LONGEST = 60
"""Characters of a name."""
PLACE = "earlier place"


@dataclass(frozen=True, slots=True)
class Branch:
    """A head, its name, and the first entry that is its own (None for the oldest)."""

    head: str
    name: str
    own: str | None
    current: bool = False
    hidden: bool = False
    """A person took it out of view; never the one that is current."""
    begins: str = ""
    """The entry that a name is given to: `own`, or the first of all."""
    place: bool = False
    """It is no end of its own, but a place on the way of another one."""


def branches(journal: Journal, head: str) -> tuple[Branch, ...]:
    """Return all branches of a conversation, oldest first; `head` is on the current one.

    Another first prompt is another conversation, also where it was set up alike; and what a
    person said later belongs to a later cell.
    """
    found: list[Branch] = []
    heads = [*_heads(journal, head)]
    given = {label.name for label in journal.labels.values()} - {""}
    for each in heads:
        own = _own(journal, each) if found else None
        begins = own or _beginning(journal, each)
        place = each == head and any(b.begins == begins for b in found)
        name = "main" if not found else PLACE if place else _label(journal, own)
        label = Label() if place else journal.labels.get(begins, Label())
        others = {b.name for b in found}
        called = label.name[:LONGEST]
        name = _unused(called, others) if called else _unused(name, given | others)
        hidden = label.hidden and each != head
        found.append(Branch(each, name, own, each == head, hidden, begins, place))
    return tuple(found)


def _beginning(journal: Journal, head: str) -> str:
    return _own(journal, head) or journal.path(head)[0].id


def left_by(journal: Journal, branch: Branch, known: Collection[Branch]) -> Branch | None:
    """Return the branch that another one left, None for the oldest; `known` are all there are."""
    before = branch.begins if branch.place else journal[branch.begins].parent
    begins = _beginning(journal, before) if before else ""
    others = (each for each in known if each.head != branch.head and not each.place)
    return next((each for each in others if each.begins == begins), None)


def _heads(journal: Journal, head: str) -> dict[str, None]:
    shown = journal.path(head)
    first, ids = shown[:2][-1].id, {entry.id for entry in shown}
    heads: dict[str, None] = {}
    for leaf in journal.leaves():
        path = journal.path(leaf)
        if first in (entry.id for entry in path[:2]):
            heads[_before_later_prompts(path, ids)] = None
    # A branch that ends on the way to the head is no other branch.
    kept = [each for each in heads if each == head or each not in ids]
    # A branch is as old as the place where it left an older one, however far it has come.
    order = {entry.id: number for number, entry in enumerate(journal)}
    kept.sort(key=lambda each: order.get(_own(journal, each) or "", -1))
    return dict.fromkeys(kept if head in kept else [*kept, head])


def _before_later_prompts(path: tuple[Entry, ...], ids: set[str]) -> str:
    later = (entry for entry in path if entry.id not in ids and is_prompt(entry))
    found = next(later, None)
    return (found.parent or path[0].id) if found else path[-1].id


def is_prompt(entry: Entry) -> bool:
    """Return whether an entry is what a person said, or set up: where a cell begins."""
    match entry.event:
        case Opened() | Asked(by="person"):
            return True
    return False


def _own(journal: Journal, head: str) -> str | None:
    """Return where a branch last left an older one; None where it is a place on one."""
    for entry in reversed(journal.path(head)):
        siblings = journal.children(entry.parent)
        if siblings and siblings[0] != entry.id:
            return entry.id
    return None


def _label(journal: Journal, own: str | None) -> str:
    if own is None:
        return PLACE
    entry = journal[own]
    match entry.event:
        case Decided(decision="edit"):
            return _changed(journal, entry) or "edit"
        case Decided(decision=decision):
            return {"reject": "rejected", "answer": "answered"}.get(decision, "replay")
        case Replied():
            return "fork"
    return "branch"


def _changed(journal: Journal, entry: Entry) -> str:
    """Name an edit by the value that it gives: `slices`."""
    event = entry.event
    if not isinstance(event, Decided) or event.arguments is None:
        return ""
    before = state_at(journal, entry.parent).call(event.call_id).proposed
    new = [value for key, value in event.arguments.items() if before.get(key) != value]
    text = str(new[-1]) if new and isinstance(new[-1], (str, int, float)) else ""
    return text.lower() if 0 < len(text) <= 16 else ""


def _unused(name: str, names: set[str]) -> str:
    numbers = (f"{name} {n}" for n in range(2, len(names) + 3))
    return name if name not in names else next(each for each in numbers if each not in names)


def goes_on(journal: Journal, told: str, path: tuple[Entry, ...], heads: Collection[str]) -> bool:
    """Return whether a way onwards leaves all branches what they were when they were told.

    `heads` are theirs; the way begins behind `told`, which has grown or gone on as recorded.
    """
    if not path:
        return True
    if journal[told].parent is None or any(isinstance(e.event, Opened) for e in path):
        return False
    if any(len(journal.children(entry.parent)) > 1 for entry in path):
        return False
    return told in heads or not ({e.id for e in path} & set(heads) or any(map(is_prompt, path)))


def shared_with_older(journal: Journal, head: str) -> frozenset[str]:
    """Return the entries of a branch that an older branch has too; none for the oldest."""
    path = journal.path(head)
    left = [n for n, e in enumerate(path) if e.parent and journal.children(e.parent)[0] != e.id]
    return frozenset(entry.id for entry in path[: left[0]]) if left else frozenset()
