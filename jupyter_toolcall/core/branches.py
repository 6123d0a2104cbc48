"""Branches of a journal: their names, their first entries, and what two of them share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from .branch_names import Cause, cause, decision_change, fork_name
from .errors import UsageError
from .events import Asked, Decided, Opened, Replied, ended_call
from .folds import Trail
from .interface_text import joined, t, tn
from .journal import Journal
from .journal_entries import Entry, Label
from .recorded_data import replace
from .state_fold import state_at
from .text import nearest, printable, unused_name

SHOWN = 4
"""How many other branches are drawn: the newest ones."""
LONGEST = 60
"""The most characters of a name."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a conversation: its head and its name."""

    head: str
    name: str
    first_own_entry: str | None
    """The entry with which it left an older branch; None for the oldest."""
    current: bool = False
    hidden: bool = False
    """Whether a person hid it. The current branch is never hidden."""
    first_entry: str = ""
    """The entry that its label belongs to: `first_own_entry`, or the first of its path."""
    is_ancestor: bool = False
    """Whether its head is an ancestor of another branch's head: it has no own entry yet."""
    change: str = ""
    """How it differs from the branch that it left, and from one that would have its name; "" for
    the oldest."""


def branches(journal: Journal, head: str) -> tuple[Branch, ...]:
    """Return the branches of one conversation, oldest first; `head` is on the current one.

    Two first prompts begin two conversations, also after the same opening. A later prompt that
    is not before `head` belongs to another cell: it and the entries after it are left out.
    """
    result: list[Branch] = []
    default_names: list[str] = []
    given_names = {label.name for label in journal.labels.values()} - {""}
    for leaf in _heads(journal, head):
        own_entry = (_path(journal, leaf).fork or None) if result else None
        entry = own_entry or _beginning(journal, leaf)
        is_ancestor = leaf == head and any(b.first_entry == entry for b in result)
        name, change = Cause("main", "")
        if is_ancestor:
            # It is named last: its name changes as the head moves, the other names must not.
            name, change = Cause("", "no new call yet")
        elif result and own_entry is not None:
            name, change = cause(journal, own_entry)
        label = Label() if is_ancestor else journal.labels.get(entry, Label())
        others = {b.name for b in result}
        called = label.name[:LONGEST]
        default_names.append(name)
        if not is_ancestor:
            used_names = others if called else given_names | others
            name = unused_name(called or name, used_names)
        hidden = label.hidden and leaf != head
        result.append(
            Branch(leaf, name, own_entry, leaf == head, hidden, entry, is_ancestor, change)
        )
    names = [branch.name for branch in result if not branch.is_ancestor]
    for index, branch in enumerate(listed := tuple(result)):
        if branch.is_ancestor:
            result[index] = replace(branch, name=ancestor_name(journal, head, names))
        elif branch.first_own_entry and (left := parent_branch(journal, branch, listed)):
            same = zip(listed, default_names, strict=True)
            namesakes = [b for b, name in same if name == default_names[index] and b != branch]
            result[index] = replace(branch, change=_change(journal, branch, left, namesakes))
    return tuple(result)


def _change(journal: Journal, branch: Branch, left: Branch, namesakes: Sequence[Branch]) -> str:
    """Return how a branch differs from the one that it left, also by decisions that it repeats from
    a third one, and from its namesakes: those of the same default name."""
    mine, parts = dict(_path(journal, branch.head).decisions), list[str]()
    # The first own decision is the change itself.
    own_call = getattr(journal[branch.first_entry].event, "call_id", "")
    for other in (left, *namesakes):
        theirs = dict(_path(journal, other.head).decisions)
        missing = theirs.keys() - mine.keys() if other is not left else ()
        parts += [
            t("with %1", text)
            for call, text in mine.items()
            if call != own_call and theirs.get(call) != text
        ]
        parts += [t("without %1", text) for call, text in theirs.items() if call in missing]
    if not parts and any(other.change == branch.change for other in namesakes):
        parts = [t("from %1", left.name)]
    return joined(", ", dict.fromkeys([branch.change, *parts]))


def ancestor_name(journal: Journal, head: str, others: Collection[str]) -> str:
    """Return the name of a head that is inside another branch; `others` are names in use."""
    given_names = {label.name for label in journal.labels.values()} - {""}
    return unused_name(fork_name(state_at(journal, head)), given_names | {*others})


class _Path(NamedTuple):
    """What branches are told apart by, of the path to an entry."""

    start: tuple[str, ...] = ()
    """Its first two entries."""
    fork: str = ""
    """The entry with which it last left an older branch; "" where it left none."""
    prompts: Trail[str] = Trail()
    """The entries with which cells begin."""
    decisions: Trail[tuple[str, str]] = Trail()
    """What a person edited, rejected or answered: the id of the call, and what that changed."""
    question: str = ""
    """The first entry of the question beside the conversation that it leads to, if any."""


def _path(journal: Journal, head: str | None) -> _Path:
    # Kept by the journal: to walk 41 paths of 1,000 calls takes a tenth of a second.
    return journal.fold(head, journal.index(_path_fold), _Path())


def _path_fold(journal: Journal) -> Callable[[_Path, Entry], _Path]:
    """Return the fold from the entries of a journal to what is kept of their paths."""

    def add(path: _Path, entry: Entry) -> _Path:
        if len(path.start) < 2:
            path = path._replace(start=(*path.start, entry.id))
        if entry.id in journal.forks:
            path = path._replace(fork=entry.id)
        if is_prompt(entry):
            path = path._replace(prompts=path.prompts.add(entry.id))
        event = entry.event
        if isinstance(event, Decided) and event.decision != "approve" and not event.round:
            change = decision_change(entry, state_at(journal, entry.id))
            path = path._replace(decisions=path.decisions.add(change))
        if entry.begins_question and not path.question:
            path = path._replace(question=entry.id)
        return path

    return add


def _beginning(journal: Journal, head: str) -> str:
    path = _path(journal, head)
    return path.fork or path.start[0]


def parent_branch(journal: Journal, branch: Branch, existing: Collection[Branch]) -> Branch | None:
    """Return the branch that `branch` left; None for the oldest."""
    before = branch.first_entry if branch.is_ancestor else journal[branch.first_entry].parent
    first_entry = _beginning(journal, before) if before else ""
    others = (other for other in existing if other.head != branch.head and not other.is_ancestor)
    return next((other for other in others if other.first_entry == first_entry), None)


def _heads(journal: Journal, head: str) -> dict[str, None]:
    ids = {entry.id for entry in journal.path(head)}
    conversation = _before_question(journal, head)
    first = _path(journal, conversation).start[-1]
    heads: dict[str, None] = {}
    for leaf in journal.leaves():
        before = _before_question(journal, leaf)
        path = _path(journal, before)
        # What two paths share is their beginning, so the newest prompts are those beside.
        later = [*takewhile(lambda prompt: prompt not in ids, reversed(path.prompts))]
        if before == leaf and first in path.start:
            heads[(journal[later[-1]].parent or later[-1]) if later else leaf] = None
        elif before != leaf and not later and (before in ids or first in path.start):
            heads[leaf] = None
    # Ancestors of the current head are not listed as branches, but the conversation is one.
    kept = [leaf for leaf in heads if leaf in (head, conversation) or leaf not in ids]
    # The age of a branch is that of the entry with which it left an older one.
    order = {entry_id: number for number, entry_id in enumerate(journal.forks)}
    kept.sort(key=lambda leaf: order.get(_path(journal, leaf).fork, -1))
    return dict.fromkeys(kept if head in kept else [*kept, head])


def _before_question(journal: Journal, head: str) -> str:
    """Return the last entry of the conversation on a path, before a question beside it."""
    question = _path(journal, head).question
    return (journal[question].parent if question else None) or head


def is_prompt(entry: Entry) -> bool:
    """Return whether a cell begins with an entry: a person's prompt, or an opening."""
    match entry.event:
        case Opened() | Asked(by="person"):
            return True
    return False


def shared_with_older(journal: Journal, head: str) -> frozenset[str]:
    """Return the entries of a branch before its last fork; none for the oldest branch."""
    path = journal.path(head)
    left = [number for number, e in enumerate(path) if e.parent and e.id in journal.forks]
    return frozenset(entry.id for entry in path[: left[-1]]) if left else frozenset()


def replies_beside(journal: Journal, head: str) -> int:
    """Return how many replies were given to the questions that left a path before its head."""
    count, on_path = 0, {entry.id for entry in journal.path(head)}
    for question in journal.questions:
        if question in on_path:
            break
        after = [question] if journal[question].parent in on_path else []
        for entry_id in after:
            after += journal.children(entry_id)
            count += isinstance(journal[entry_id].event, Replied)
    return count


PREFIX = 4
"""The fewest characters of a head's id that can name a branch."""


def current_branch(journal: Journal, head: str) -> Branch:
    """Return the branch that a head is on."""
    return next(branch for branch in branches(journal, head) if branch.current)


def branch_named(journal: Journal, head: str, name: str) -> Branch:
    """Return a branch by its name, or by the beginning of its head's id.

    Raises UsageError, which suggests the nearest name.
    """
    all_branches, name = branches(journal, head), str(name)
    result = [branch for branch in all_branches if branch.name == name]
    if not result and len(name) >= PREFIX:
        result = [branch for branch in all_branches if branch.head.startswith(name)]
    if len(result) == 1:
        return result[0]
    names = [branch.name for branch in all_branches]
    part = next((f" Did you mean {close}?" for close in names if name and name in close), "")
    raise UsageError(
        f"no branch {name!r:.80}; there {'is' if len(names) == 1 else 'are'} "
        f"{', '.join(names)}.{part or nearest(name, names)}"
    )


def entry_named(journal: Journal, head: str, at: str) -> str:
    """Return the head of the branch that is named `at`, or `at` as the id of an entry or a call.

    Raises UsageError if nothing has this name.
    """
    if (named := {b.name: b.head for b in branches(journal, head)}.get(at)) is not None:
        return named
    is_entry_or_call = at in journal or at in state_at(journal, head).calls
    return at if is_entry_or_call else branch_named(journal, head, at).head


def forked_from(journal: Journal, head: str) -> Branch:
    """Return the branch that the current one left. Raises UsageError if it left none."""
    all_branches = branches(journal, head)
    mine = next(branch for branch in all_branches if branch.current)
    result = parent_branch(journal, mine, all_branches)
    if result is None:
        others = [branch.name for branch in all_branches if not branch.current]
        hint = f"name one: {', '.join(others)}" if others else "edit or fork a call to make one"
        raise UsageError(f"{mine.name} left no other branch; {hint}")
    return result


def name_branch(journal: Journal, head: str, name: str, of: str | None = None) -> None:
    """Rename a branch: the current one, or the one that is named `of`.

    Raises UsageError for a name that is not allowed, or is in use.
    """
    branch = current_branch(journal, head) if of is None else branch_named(journal, head, of)
    new_name = checked_branch_name(name)
    if branch.name == new_name:
        return
    used_names = {other.name for other in branches(journal, head)}
    if new_name in used_names:
        free = unused_name(new_name, used_names)
        raise UsageError(f"a branch is called {new_name!r} already; {free!r} is free")
    _set_label(journal, branch, name=new_name)


def hide_branch(journal: Journal, head: str, name: str, hidden: bool = True) -> None:
    """Hide a branch, or show it again. Raises UsageError for the current one."""
    branch = branch_named(journal, head, name)
    if branch.current and hidden:
        raise UsageError(f"{branch.name!r} is the branch on show; check another one out first")
    _set_label(journal, branch, hidden=hidden)


def choose_branch(journal: Journal, head: str) -> None:
    """Record that the person went to the branch of a head; at most one branch is chosen."""
    # An earlier place of another branch is none of its own; the prompt of another cell may follow.
    if (following := journal.continuation(head)) and not is_prompt(journal[following]):
        return
    first_entry, labels = _beginning(journal, head), journal.labels
    for entry, label in [*labels.items()]:
        if label.chosen and entry != first_entry:
            journal.label(entry, replace(label, chosen=0))
    journal.label(first_entry, replace(labels.get(first_entry, Label()), chosen=len(journal)))


def shown_last(journal: Journal, among: Collection[str]) -> str:
    """Return the entry, of some, that the person saw last.

    That is the newest one, or else the head of the branch to which the person went since then.
    """
    order = {entry.id: number for number, entry in enumerate(journal)}
    newest = max(among, key=order.__getitem__)
    for first_entry, label in journal.labels.items():
        if label.chosen > order[newest]:
            heads = (b.head for b in branches(journal, newest) if b.first_entry == first_entry)
            return next((head for head in heads if head in among), newest)
    return newest


def _set_label(journal: Journal, branch: Branch, **changes: str | bool) -> None:
    if branch.is_ancestor:
        raise UsageError(
            "this branch has no call of its own yet, so its name cannot be changed; continue it "
            "first, such as with %toolchat next"
        )
    label = journal.labels.get(branch.first_entry, Label())
    journal.label(branch.first_entry, replace(label, **changes))


def checked_branch_name(name: str) -> str:
    """Return a name that a branch can have. Raises UsageError, which says what is allowed."""
    text = " ".join(name.split())
    if not text or len(text) > LONGEST or printable(text) != text or text.startswith("-"):
        raise UsageError(
            f"{text!r:.80} can't be the name of a branch: at most {LONGEST} characters on one "
            "line, all of them visible, the first no dash"
        )
    return text


def unchanged_summary(path: Sequence[Entry], recorded: Collection[str]) -> str:
    """Return one line about the part of a path that was recorded before; "" for none."""
    there = [entry for entry in path if entry.id in recorded]
    calls = len([entry for entry in there if ended_call(entry.event)])
    # Those of a policy or a rule are nobody's.
    decided = [entry for entry in there if isinstance(entry.event, Decided)]
    decisions = len([entry for entry in decided if entry.meta.get("by") not in ("policy", "rule")])
    if not there:
        return ""
    counted = [tn("%1 call", "%1 calls", calls)] if calls else []
    counted += [tn("%1 decision", "%1 decisions", decisions)] if decisions else []
    if not counted:
        return t("The reply of the last run. Add --fresh to ask the model again.")
    counts_text = t("%1 and %2", *counted) if len(counted) == 2 else counted[0]
    return t("%1 of the last run. Add --fresh to ask the model again.", counts_text)
