"""An exercise, read from its Markdown: every mistake in it is found here, with its line.

# Fries in sticks

Bake the potato, in sticks. Save it as `fries`.

## Session
- Replays `kitchen.jsonl`.
- In call 5, `shape="SLICES"`.

## Checks
- `fries.food` is `"fries: sticks"`
  - Which argument says how a potato is cut?
- Nothing else was changed: only call 5 was edited

## Hints
1. Look at what each call was asked to do.

## Solution
```python
%toolchat edit 5 shape=STICKS
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from .conditions import Condition, Word
from .sentences import arguments, condition, nearest_form

SECTIONS = {"session": "session", "checks": "checks", "hints": "hints", "solution": "solution"}
SECTIONS |= {"check": "checks", "hint": "hints", "solutions": "solution"}
"""The headings that mean something here; all else is for the learner to read."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something that has to hold, in words for the learner, with hints of its own."""

    words: str
    condition: Condition
    hints: tuple[str, ...] = ()
    veiled: bool = False
    """The words are the teacher's own: what was found would give away more than they do."""


@dataclass(frozen=True, slots=True)
class Plant:
    """A call of a recording that is made wrong: other arguments, or another call altogether."""

    step: int
    given: dict[str, Any]
    tool: str = ""
    """The other tool; "": the arguments take the place of those of the same name."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a learner is asked to do, and how that is found out."""

    title: str
    text: str = ""
    checks: tuple[Check, ...] = ()
    hints: tuple[str, ...] = ()
    solution: str = ""
    """As it is written: Markdown."""
    replays: str = ""
    """The recording, named from the exercise's own folder."""
    plants: tuple[Plant, ...] = ()
    session: str = ""
    """The session that is looked at: by name, or a variable that holds it; "": the last one."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The solution's code, one block a cell."""
        return tuple(found[2].rstrip("\n") for found in _FENCED.finditer(self.solution))


_FENCED = re.compile(r"^(```|~~~)[^\n`]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)$")
_VEIL = re.compile(r"\s*</?(?:details|summary)\b.*$", re.IGNORECASE)
"""What hides a solution from the eye on a code host."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list, with what stands below it."""

    line: int
    text: str
    below: tuple[str, ...] = ()


@dataclass
class _Sections:
    title: str = ""
    text: list[str] = field(default_factory=list)
    parts: dict[str, list[_Line]] = field(default_factory=dict)


def exercise(text: str, where: str) -> Exercise:
    """Return the exercise that a Markdown text is; `where` names it in what is said of it.

    Raises UsageError, which names the line, where it is none.
    """
    found = _sections(text)
    _nothing_astray(found.text, where)
    if not found.title:
        raise UsageError(f"{where} has no title; its first line has to be one, such as: # Fries")
    checks = tuple(_check(item, where) for item in _items(found.parts.get("checks", ()), where))
    if not checks:
        raise UsageError(
            f"{where} has nothing to check; write a list below the heading ## Checks, such as: "
            "- `fries` is saved"
        )
    hints = tuple(item.text for item in _items(found.parts.get("hints", ()), where))
    solution = "\n".join(line.text for line in found.parts.get("solution", ())).strip("\n")
    plain = Exercise(found.title, "\n".join(found.text).strip("\n"), checks, hints, solution)
    return _with_session(plain, _items(found.parts.get("session", ()), where), where)


def _sections(text: str) -> _Sections:
    found, here, fence = _Sections(), "", ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = line[:3] if line.startswith(("```", "~~~")) else ""
        fence = "" if mark and mark == fence else fence or mark
        heading = None if fence else _HEADING.match(line)
        if heading is not None and len(heading[1]) == 1 and not found.title:
            found.title = heading[2]
        elif heading is not None and heading[2].lower() in SECTIONS:
            here = SECTIONS[heading[2].lower()]
            found.parts.setdefault(here, [])
        elif here and heading is None:
            if not _VEIL.match(line):
                found.parts[here].append(_Line(number, line))
        elif not _VEIL.match(line):
            here = ""
            found.text.append(line)
    return found


def _items(lines: Sequence[_Line], where: str) -> list[_Item]:
    """Return the items of a list; what is indented below one is its own."""
    items: list[tuple[int, int, str, list[str]]] = []
    for line in lines:
        number, text = line.number, line.text
        found = _ITEM.match(text)
        if found is not None and items and len(found[1]) > items[-1][1]:
            items[-1][3].append(found[2])
        elif found is not None:
            items.append((number, len(found[1]), found[2], []))
        elif text.strip():
            _go_on(items, number, text.strip(), where)
    return [_Item(number, text, tuple(below)) for number, _, text, below in items]


def _go_on(
    items: list[tuple[int, int, str, list[str]]], number: int, text: str, where: str
) -> None:
    """A line without a mark goes on with the item, or the hint, above it."""
    if not items:
        raise UsageError(f"{where}, line {number}: write this as a list, an item a line: - {text}")
    first, indent, said, below = items[-1]
    if below:
        below[-1] = f"{below[-1]} {text}"
    else:
        items[-1] = first, indent, f"{said} {text}", below


def _check(item: _Item, where: str) -> Check:
    """The words before a colon may look like a condition too: what can be read is the one.

    Where nothing can, the last part was meant.
    """
    wrong = ""
    for words, rest in ((item.text, item.text), *_halves(item.text)):
        try:
            found = condition(rest)
        except UsageError as error:
            wrong = str(error)
            continue
        if found is not None:
            return Check(words, found, item.below, veiled=rest is not words)
        wrong = (
            f"{rest!r:.100} is nothing that can be checked.{nearest_form(rest)} "
            "%toolchat exercise --forms lists them all"
        )
    raise UsageError(f"{where}, line {item.line}: {wrong}")


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before a colon, and behind it: the learner's words, and the condition."""
    for found in re.finditer(r":\s+", text):
        yield text[: found.start()].strip(), text[found.end() :].strip()


_REPLAYS = re.compile(r"replays?\s+`?([^`]+?)`?\.?", re.IGNORECASE)
_PLANTED = re.compile(r"in call (\d+),?\s+`?(.+?)`?\.?", re.IGNORECASE)
_NAMED = re.compile(r"(?:the )?session is\s+`?([\w-]+)`?\.?", re.IGNORECASE)
_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)")


def _with_session(plain: Exercise, items: Sequence[_Item], where: str) -> Exercise:
    replays, session, plants = "", "", list[Plant]()
    for item in items:
        if found := _REPLAYS.fullmatch(item.text):
            replays = found[1]
        elif found := _PLANTED.fullmatch(item.text):
            plants.append(_plant(int(found[1]), found[2], f"{where}, line {item.line}"))
        elif found := _NAMED.fullmatch(item.text):
            session = found[1]
        else:
            raise UsageError(
                f"{where}, line {item.line}: of a session it can be said: Replays `FILE`. "
                'In call 5, `shape="SLICES"`. The session is `NAME`'
            )
    if plants and not replays:
        raise UsageError(f"{where}: a wrong call is planted in a recording: say - Replays `FILE`")
    return Exercise(
        *(plain.title, plain.text, plain.checks, plain.hints, plain.solution),
        *(replays, tuple(plants), session),
    )


def _nothing_astray(text: Sequence[str], where: str) -> None:
    """Raise UsageError where the learner would read what is said of the session."""
    for line in text:
        item = _ITEM.match(line)
        if item is not None and (_REPLAYS.fullmatch(item[2]) or _PLANTED.fullmatch(item[2])):
            raise UsageError(
                f"{where}: the learner would read {item[2]!r:.60}; write it below a heading "
                "## Session"
            )


def _plant(step: int, text: str, where: str) -> Plant:
    whole = _CALL.fullmatch(text)
    try:
        if whole is not None:
            return Plant(step, _plain(arguments(whole[2])), whole[1])
        return Plant(step, _plain(arguments(text)))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """A word without quotes is a text here."""
    return {name: each.text if isinstance(each, Word) else each for name, each in given.items()}
