"""Branches of a journal: their names, their beginnings, and what two of them share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .branch_names import Cause, cause, fork_name
from .errors import UsageError
from .events import Asked, Decided, Opened, ended_call
from .interface_text import t, tn
from .journal import Journal
from .journal_entries import Entry, Label
from .recorded_data import replace
from .state_fold import state_at
from .text import nearest, unused_name

SHOWN = 4
"""So many other branches are drawn, the newest."""
LONGEST = 60
"""Characters of a name."""


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
    differs: str = ""
    """What it has otherwise than the branch that it left; "" for the oldest."""


def branches(journal: Journal, head: str) -> tuple[Branch, ...]:
    """Return all branches of a conversation, oldest first; `head` is on the current one.

    Another first prompt is another conversation, also where it was set up alike; and what a
    person said later belongs to a later cell.
    """
    result: list[Branch] = []
    heads = [*_heads(journal, head)]
    given_names = {label.name for label in journal.labels.values()} - {""}
    for leaf in heads:
        own = _own(journal, leaf) if result else None
        begins = own or _beginning(journal, leaf)
        is_ancestor = leaf == head and any(b.begins == begins for b in result)
        name, differs = Cause("main", "")
        if is_ancestor:
            # It is named last: its name changes as the head moves, and no other one's may.
            name, differs = Cause("", "nothing of its own yet")
        elif result and own is not None:
            name, differs = cause(journal, own)
        label = Label() if is_ancestor else journal.labels.get(begins, Label())
        others = {b.name for b in result}
        called = label.name[:LONGEST]
        if not is_ancestor:
            taken = others if called else given_names | others
            name = unused_name(called or name, taken)
        hidden = label.hidden and leaf != head
        result.append(Branch(leaf, name, own, leaf == head, hidden, begins, is_ancestor, differs))
    names = [each.name for each in result if not each.place]
    return tuple(
        replace(each, name=unnamed_branch_name(journal, each.head, names)) if each.place else each
        for each in result
    )


def unnamed_branch_name(journal: Journal, head: str, others: Collection[str]) -> str:
    """Return the name of a place on the way of a branch; `others` are the branches' names."""
    given_names = {label.name for label in journal.labels.values()} - {""}
    return unused_name(fork_name(state_at(journal, head)), given_names | {*others})


def _beginning(journal: Journal, head: str) -> str:
    return _own(journal, head) or journal.path(head)[0].id


def parent_branch(journal: Journal, branch: Branch, known: Collection[Branch]) -> Branch | None:
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
    result = next(later, None)
    return (result.parent or path[0].id) if result else path[-1].id


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


def shared_with_older(journal: Journal, head: str) -> frozenset[str]:
    """Return the entries of a branch that an older branch has too; none for the oldest."""
    path = journal.path(head)
    left = [n for n, e in enumerate(path) if e.parent and journal.children(e.parent)[0] != e.id]
    return frozenset(entry.id for entry in path[: left[0]]) if left else frozenset()


PREFIX = 4
"""So many characters of a head's id are enough to name it, where no other begins so."""


def current_branch(journal: Journal, head: str) -> Branch:
    """Return the branch that a head is on."""
    return next(each for each in branches(journal, head) if each.current)


def branch_named(journal: Journal, head: str, name: str) -> Branch:
    """Return a branch by its name, or by its head's id, which may be cut short.

    Raises UsageError, which names the nearest.
    """
    known = branches(journal, head)
    result = [each for each in known if each.name == name]
    if not result and len(name) >= PREFIX:
        result = [each for each in known if each.head.startswith(name)]
    if len(result) == 1:
        return result[0]
    names = [each.name for each in known]
    part = next((f" Did you mean {each}?" for each in names if name and name in each), "")
    raise UsageError(
        f"no branch {name!r:.80}; there {'is' if len(names) == 1 else 'are'} "
        f"{', '.join(names)}.{part or nearest(name, names)}"
    )


def entry_named(journal: Journal, head: str, at: str) -> str:
    """Return the place that a text names: an entry or a call as it is, a branch's head.

    Raises UsageError for a name that there is not.
    """
    known = at in journal or at in state_at(journal, head).calls
    return at if known else branch_named(journal, head, at).head


def forked_from(journal: Journal, head: str) -> Branch:
    """Return the branch that the current one left. Raises UsageError where it left none."""
    known = branches(journal, head)
    mine = next(each for each in known if each.current)
    result = parent_branch(journal, mine, known)
    if result is None:
        others = [each.name for each in known if not each.current]
        hint = f"name one: {', '.join(others)}" if others else "edit or fork a call to make one"
        raise UsageError(f"{mine.name} left no other branch; {hint}")
    return result


def name_branch(journal: Journal, head: str, name: str, of: str | None = None) -> None:
    """Call a branch so from now on: the current one, or the one that is called `of`.

    Raises UsageError for a name that is none, or that is taken.
    """
    branch = current_branch(journal, head) if of is None else branch_named(journal, head, of)
    new_name = checked_branch_name(name)
    if branch.name == new_name:
        return
    used_names = {each.name for each in branches(journal, head)}
    if new_name in used_names:
        free = unused_name(new_name, used_names)
        raise UsageError(f"a branch is called {new_name!r} already; {free!r} is free")
    _set_label(journal, branch, name=new_name)


def hide_branch(journal: Journal, head: str, name: str, hidden: bool = True) -> None:
    """Take a branch out of view, or back into it. Raises UsageError for the current one."""
    branch = branch_named(journal, head, name)
    if branch.current and hidden:
        raise UsageError(f"{branch.name!r} is the branch on show; check another one out first")
    _set_label(journal, branch, hidden=hidden)


def _set_label(journal: Journal, branch: Branch, **changes: str | bool) -> None:
    if branch.place:
        raise UsageError(
            "this is a place on another branch, and nothing is its own yet; go on first"
        )
    known = journal.labels.get(branch.begins, Label())
    journal.label(branch.begins, replace(known, **changes))


def checked_branch_name(name: str) -> str:
    """Return a name that a branch can have. Raises UsageError, which says what is allowed."""
    text = " ".join(name.split())
    if not text or len(text) > LONGEST or not text.isprintable() or text.startswith("-"):
        raise UsageError(
            f"{text!r:.80} can't be the name of a branch: at most {LONGEST} characters on one "
            "line, all of them visible, the first no dash"
        )
    return text


def unchanged_summary(path: Sequence[Entry], recorded: Collection[str]) -> str:
    """Return in a line what of a path was recorded before; "" where nothing was."""
    there = [entry for entry in path if entry.id in recorded]
    calls = len([entry for entry in there if ended_call(entry.event)])
    decisions = len([entry for entry in there if _is_decision(entry)])
    if not there:
        return ""
    counted = [tn("%1 call", "%1 calls", calls)] if calls else []
    counted += [tn("%1 decision", "%1 decisions", decisions)] if decisions else []
    if not counted:
        return t("All as before; --fresh asks the model again")
    counts_text = t("%1 and %2", *counted) if len(counted) == 2 else counted[0]
    return t("%1 as before; --fresh asks the model again", counts_text)


def _is_decision(entry: Entry) -> bool:
    """Return whether an entry is a decision of a person, and not of a policy or a rule."""
    return isinstance(entry.event, Decided) and entry.meta.get("by") not in ("policy", "rule")
