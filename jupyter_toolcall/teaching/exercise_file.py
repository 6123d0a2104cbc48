"""Exercises: the Markdown files `exercises/NAME.md` beside a notebook, and what they replay.

Reading one runs nothing.

# Fries in sticks

Bake the potato, in sticks. Save it as `fries`.

## Session
- Replays `kitchen.jsonl`.
- In call 5, `shape="SLICES"`.

## Checks
- The fries are in sticks: `fries.food == "fries: sticks"`
  - Which argument says how a potato is cut?

## Hints
1. Look at what each call was asked to do.

## Solution
```python
%toolchat edit 5 shape=STICKS
```
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.events import Call
from ..core.recorded_data import replace
from ..core.text import nearest
from ..models.recorded import Recorded, speak
from ..models.recording_file import Course
from ..schemes.messages import Model, Reply, Request

FOLDER = "exercises"
SUFFIX = ".md"
SECTIONS = {"session": "session", "checks": "checks", "hints": "hints", "solution": "solution"}
SECTIONS |= {"check": "checks", "hint": "hints", "solutions": "solution"}
"""The headings that have a meaning; the learner reads all other text."""

_NAME = re.compile(r"[\w-]{1,64}")
_CELL = re.compile(r"%%toolchat\s+exercise\s+([\w-]+)[ \t]*\n(.*)", re.DOTALL)
_FENCED = re.compile(r"^(```|~~~)[^\n`]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)$")
_DETAILS = re.compile(r"\s*</?(?:details|summary)\b.*$", re.IGNORECASE)
"""What folds a solution on a code host."""
_CHECK = re.compile(r"(.+?):\s+(`+)((?:(?!\2).)+)\2\.?")
"""A sentence, a colon, and an expression as a Markdown code span."""
_REPLAYS = re.compile(r"replays?\s+`?([^`]+?)`?\.?", re.IGNORECASE)
_SEEDED = re.compile(r"in call (\d+),?\s+`?(.+?)`?\.?", re.IGNORECASE)
_SESSION = re.compile(r"(?:the )?session is\s+`?([\w-]+)`?\.?", re.IGNORECASE)
_CALL = re.compile(r"[A-Za-z_]\w*\(.*\)")


@dataclass(frozen=True, slots=True)
class Check:
    """Something that has to hold: a sentence for the learner, and a Python expression."""

    sentence: str
    expression: str
    hints: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names in the expression."""
        tree = ast.parse(self.expression, mode="eval")
        return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


@dataclass(frozen=True, slots=True)
class SeededError:
    """A call of a recording that a teacher made wrong."""

    step: int
    arguments: dict[str, Any]
    tool: str = ""
    """Another tool; "": `arguments` replace those of the same name."""

    def __str__(self) -> str:
        """Return the line of this error below `## Session`."""
        text = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"In call {self.step}, `{f'{self.tool}({text})' if self.tool else text}`"

    def applied(self, call: Call) -> Call:
        """Return a call with this error in it."""
        arguments = self.arguments if self.tool else {**call.arguments, **self.arguments}
        return replace(call, tool=self.tool or call.tool, arguments=arguments)


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a learner is asked to do, how it is checked, and how it is solved."""

    title: str
    text: str = ""
    checks: tuple[Check, ...] = ()
    hints: tuple[str, ...] = ()
    solution: str = ""
    """Markdown, as it is written."""
    replays: str = ""
    """The recording, relative to the exercise's folder."""
    seeded_errors: tuple[SeededError, ...] = ()
    session: str = ""
    """The name of the session that is checked, or of a variable that holds it; "": the last one."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The code of the solution, one block a cell."""
        return tuple(block[2].rstrip("\n") for block in _FENCED.finditer(self.solution))


@dataclass
class _Item:
    """An item of a list, and the items below it."""

    line: int
    indent: int
    text: str
    nested: list[str] = field(default_factory=list)


def exercise_in_cell(source: str) -> tuple[str, str] | None:
    """Return the name and the text of the exercise that a code cell is, None for any other cell."""
    found = _CELL.match(source)
    return (found[1], found[2]) if found else None


def exercise_names(folder: Path) -> list[str]:
    """Return the names of the exercises beside a notebook in this folder."""
    return sorted(path.stem for path in (folder / FOLDER).glob(f"*{SUFFIX}"))


def relative_path(name: str) -> str:
    """Return the file of an exercise, relative to the notebook's folder."""
    return f"{FOLDER}/{name}{SUFFIX}"


def name_of(path: str) -> str:
    """Return the name of the exercise that has this relative path, "" for any other path."""
    file = Path(path)
    return file.stem if file.suffix == SUFFIX and file.parent == Path(FOLDER) else ""


def exercise_text(folder: Path, name: str) -> str:
    """Return the text of an exercise. Raises UsageError for a name or a file that is wrong."""
    file = relative_path(name)
    if not _NAME.fullmatch(name) or not (folder / file).is_file():
        known = exercise_names(folder)
        listed = (
            f"there are {', '.join(known)}" if known else f"there is no {relative_path('NAME')}"
        )
        raise UsageError(f"no exercise {name!r:.80} here; {listed}.{nearest(name, known)}")
    try:
        return (folder / file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({type(error).__name__})") from None


def read_exercise(text: str, file: str) -> Exercise:
    """Return the exercise in a Markdown text; `file` is its name in messages.

    Raises UsageError, which names the line, where the text is no exercise.
    """
    title, sections = _sections(text)
    for _, line in sections["text"]:
        item = _ITEM.match(line)
        if item is not None and (_REPLAYS.fullmatch(item[2]) or _SEEDED.fullmatch(item[2])):
            raise UsageError(
                f"{file}: the learner would read {item[2]!r:.60}; write it below a heading "
                "## Session"
            )
    if not title:
        raise UsageError(f"{file} has no title; its first line has to be one, such as: # Fries")
    checks = tuple(_check(item, file) for item in _items(sections["checks"], file))
    if not checks:
        raise UsageError(
            f"{file} has nothing to check; write a list below the heading ## Checks, such as: "
            "- Something is saved: `session.outputs`"
        )
    replays, seeded_errors, session = _session(_items(sections["session"], file), file)
    return Exercise(
        title=title,
        text="\n".join(line for _, line in sections["text"]).strip("\n"),
        checks=checks,
        hints=tuple(item.text for item in _items(sections["hints"], file)),
        solution="\n".join(line for _, line in sections["solution"]).strip("\n"),
        replays=replays,
        seeded_errors=seeded_errors,
        session=session,
    )


def with_seeded_error(text: str, error: SeededError | None) -> str:
    """Return the text of an exercise that replays, with one seeded error, or without any."""
    lines: list[str] = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item is None or not _SEEDED.fullmatch(item[2]):
            lines.append(line)
        if item is not None and _REPLAYS.fullmatch(item[2]) and error is not None:
            lines.append(f"{item[1]}- {error}")
    return "\n".join(lines)


def _sections(text: str) -> tuple[str, dict[str, list[tuple[int, str]]]]:
    """Return the title, and the lines of each section; "text" is what the learner reads."""
    title, section, fence = "", "text", ""
    sections: dict[str, list[tuple[int, str]]]
    sections = {name: [] for name in ("text", *SECTIONS.values())}
    for number, line in enumerate(text.splitlines(), 1):
        mark = line[:3] if line.startswith(("```", "~~~")) else ""
        fence = "" if mark and mark == fence else fence or mark
        heading = None if fence else _HEADING.match(line)
        if heading is not None and len(heading[1]) == 1 and not title:
            title = heading[2]
        elif heading is not None and heading[2].lower() in SECTIONS:
            section = SECTIONS[heading[2].lower()]
        elif not _DETAILS.match(line):
            section = "text" if heading is not None else section
            sections[section].append((number, line))
    return title, sections


def _items(lines: Sequence[tuple[int, str]], file: str) -> list[_Item]:
    """Return the items of a list; a line without a mark continues the item above it."""
    items: list[_Item] = []
    for number, text in lines:
        item = _ITEM.match(text)
        if item is not None and items and len(item[1]) > items[-1].indent:
            items[-1].nested.append(item[2])
        elif item is not None:
            items.append(_Item(number, len(item[1]), item[2]))
        elif not text.strip():
            continue
        elif not items:
            raise UsageError(
                f"{file}, line {number}: write this as a list, an item a line: - {text.strip()}"
            )
        elif items[-1].nested:
            items[-1].nested[-1] += f" {text.strip()}"
        else:
            items[-1].text += f" {text.strip()}"
    return items


def _check(item: _Item, file: str) -> Check:
    parts = _CHECK.fullmatch(item.text)
    if parts is None:
        raise UsageError(
            f"{file}, line {item.line}: write a sentence, a colon, and a Python expression "
            'between backticks, such as: - The fries are in sticks: `fries.food == "fries: sticks"`'
        )
    sentence, expression = parts[1], parts[3].strip()
    try:
        # Python warns of what never makes sense, such as `x is 1`: that is a mistake too.
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(expression, file, "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = f"{expression!r:.100} is no Python expression ({getattr(error, 'msg', error)})"
        raise UsageError(f"{file}, line {item.line}: {problem}") from None
    return Check(sentence, expression, tuple(item.nested))


def _session(items: Sequence[_Item], file: str) -> tuple[str, tuple[SeededError, ...], str]:
    """Return the recording, the errors in it, and the name of the session that is checked."""
    replays, session, seeded_errors = "", "", list[SeededError]()
    for item in items:
        if line := _REPLAYS.fullmatch(item.text):
            replays = line[1]
        elif line := _SEEDED.fullmatch(item.text):
            seeded_errors.append(_seeded_error(int(line[1]), line[2], f"{file}, line {item.line}"))
        elif line := _SESSION.fullmatch(item.text):
            session = line[1]
        else:
            raise UsageError(
                f"{file}, line {item.line}: the section ## Session holds lines such as: "
                'Replays `FILE`. In call 5, `shape="SLICES"`. The session is `NAME`'
            )
    if seeded_errors and not replays:
        raise UsageError(f"{file}: an error is seeded in a recording: write - Replays `FILE`")
    return replays, tuple(seeded_errors), session


def _seeded_error(step: int, text: str, line: str) -> SeededError:
    """Read `shape="SLICES"`, or `Potato_peel()`: the values are Python literals."""
    other_tool = _CALL.fullmatch(text)
    try:
        call = ast.parse(text if other_tool else f"_({text})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("no call with named arguments")
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f'{line}: {text!r:.80} is no argument; write shape="SLICES", or a whole call ({error})'
        ) from None
    return SeededError(step, arguments, call.func.id if other_tool else "")


# -- the recording of an exercise, with seeded errors ------------------------------------------


def recording(folder: Path, file: str, exercise: Exercise) -> Model:
    """Return the recording that an exercise replays, as a model.

    `file` is the exercise's file in a notebook's folder, and what the model is called, so that
    its name does not tell what is wrong. Raises UsageError where there is no recording, or no
    such call in it.
    """
    if not exercise.replays:
        raise UsageError(f"{file} replays nothing; its section ## Session can say: Replays `FILE`")
    beside = (folder / file).parent
    path = beside / exercise.replays
    # `a.ipynb#me` is a session of a notebook.
    if not path.is_file() and not (beside / exercise.replays.rpartition("#")[0]).is_file():
        known = sorted(path.name for path in beside.glob("*.jsonl"))
        there = f"there are {', '.join(known)}" if known else "there is no recording"
        raise UsageError(
            f"{file} replays {exercise.replays}, and that is not beside it; {there}."
            f"{nearest(exercise.replays, known)} "
            f"--record {FOLDER}/{path.name} in a cell makes one"
        )
    recorded = Recorded(path, name=exercise.replays)
    recorded.name = f"recorded:{file}"
    return RecordingWithErrors(recorded, exercise, file) if exercise.seeded_errors else recorded


class RecordingWithErrors:
    """A recording with other calls in it.

    Up to the first of these the requests have to be as recorded. After it the results are
    others, and only the number of the turn counts.
    """

    def __init__(self, recorded: Recorded, exercise: Exercise, file: str) -> None:
        self.recorded, self.course = recorded, recorded.courses[0]
        self.name, self.note = recorded.name, recorded.note
        self.replies = _replies_with_errors(self.course, exercise.seeded_errors, file)
        self.first = min(self.replies)
        replies = [[turn, repr(reply)] for turn, reply in sorted(self.replies.items())]
        self.identity = f"{self.name}:{digest('planted', recorded.identity, replies)[:12]}"
        self.on_text: Callable[[str], object] = lambda text: None

    def __call__(self, request: Request) -> Reply:
        """Return the reply of this turn, an empty one after the last turn.

        Raises ModelError where something else is asked than was recorded.
        """
        number = request.turn + 1
        if number <= self.first:
            self.recorded(request)
        turn = self.course.turn(number)
        if turn is None:
            return Reply()
        return speak(self.replies.get(number, turn.reply), self.on_text)


def _replies_with_errors(
    course: Course, errors: tuple[SeededError, ...], file: str
) -> Mapping[int, Reply]:
    """Return the replies that have errors, by turn. Raises UsageError for no such call."""
    calls = [(turn, index) for turn in course.turns for index in range(len(turn.reply.calls))]
    replies: dict[int, Reply] = {}
    for error in errors:
        if not 0 < error.step <= len(calls):
            raise UsageError(f"{file}: there is no call {error.step}; it has {len(calls)} calls")
        turn, index = calls[error.step - 1]
        reply = replies.get(turn.number, turn.reply)
        wrong = error.applied(reply.calls[index])
        # The provider's own content would say the call as it was.
        others = (*reply.calls[:index], wrong, *reply.calls[index + 1 :])
        replies[turn.number] = replace(reply, calls=others, raw=None)
    return replies
