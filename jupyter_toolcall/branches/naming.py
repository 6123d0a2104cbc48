"""Branches by name: finding one, naming one, taking one out of view. Nothing is deleted."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from ..journal.tree import Journal, Label
from ..state.fold import state_at
from ..tools import nearest
from .branch import LONGEST, Branch, branches, left_by

PREFIX = 4
"""So many characters of a head's id are enough to name it, where no other begins so."""


def current(journal: Journal, head: str) -> Branch:
    """Return the branch that a head is on."""
    return next(each for each in branches(journal, head) if each.current)


def named(journal: Journal, head: str, name: str) -> Branch:
    """Return a branch by its name, or by its head's id, which may be cut short.

    Raises UsageError, which names the nearest.
    """
    known = branches(journal, head)
    found = [each for each in known if each.name == name]
    if not found and len(name) >= PREFIX:
        found = [each for each in known if each.head.startswith(name)]
    if len(found) == 1:
        return found[0]
    names = [each.name for each in known]
    raise UsageError(
        f"no branch {name!r:.80}; there {'is' if len(names) == 1 else 'are'} "
        f"{', '.join(names)}.{nearest(name, names)}"
    )


def place_named(journal: Journal, head: str, at: str) -> str:
    """Return the place that a text names: an entry or a call as it is, a branch's head.

    Raises UsageError for a name that there is not.
    """
    known = at in journal or at in state_at(journal, head).calls
    return at if known else named(journal, head, at).head


def left(journal: Journal, head: str) -> Branch:
    """Return the branch that the current one left. Raises UsageError where it left none."""
    known = branches(journal, head)
    mine = next(each for each in known if each.current)
    found = left_by(journal, mine, known)
    if found is None:
        others = [each.name for each in known if not each.current]
        hint = f"name one: {', '.join(others)}" if others else "edit or fork a call to make one"
        raise UsageError(f"{mine.name} left no other branch; {hint}")
    return found


def name_branch(journal: Journal, head: str, name: str, of: str | None = None) -> None:
    """Call a branch so from now on: the current one, or the one that is called `of`.

    Raises UsageError for a name that is none, or that is taken.
    """
    branch = current(journal, head) if of is None else named(journal, head, of)
    wanted = checked(name)
    if branch.name == wanted:
        return
    taken = {each.name for each in branches(journal, head)}
    if wanted in taken:
        raise UsageError(f"a branch is called {wanted!r} already; {_free(wanted, taken)!r} is free")
    _label(journal, branch, name=wanted)


def hide_branch(journal: Journal, head: str, name: str, hidden: bool = True) -> None:
    """Take a branch out of view, or back into it. Raises UsageError for the current one."""
    branch = named(journal, head, name)
    if branch.current and hidden:
        raise UsageError(f"{branch.name!r} is the branch on show; check another one out first")
    _label(journal, branch, hidden=hidden)


def _label(journal: Journal, branch: Branch, **changes: str | bool) -> None:
    if branch.place:
        raise UsageError(
            "this is a place on another branch, and nothing is its own yet; go on first"
        )
    known = journal.labels.get(branch.begins, Label())
    journal.label(branch.begins, replace(known, **changes))  # type: ignore[arg-type]


def checked(name: str) -> str:
    """Return a name that a branch can have. Raises UsageError, which says what is allowed."""
    said = " ".join(name.split())
    if not said or len(said) > LONGEST or not said.isprintable() or said.startswith("-"):
        raise UsageError(
            f"{said!r:.80} can't be the name of a branch: at most {LONGEST} characters on one "
            "line, all of them visible, the first no dash"
        )
    return said


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
    return next(each for each in numbered if each not in taken)
