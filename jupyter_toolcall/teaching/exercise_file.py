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
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.events import Call
from ..core.recorded_data import replace
from ..core.text import nearest
from ..models.recorded import Recorded
from ..models.recording_file import Course, Turn
from ..schemes.messages import Reply, Request

FOLDER = "exercises"
SUFFIX = ".md"
SECTIONS = ("text", "session", "check", "hint", "solution")
"""What is above the headings, and the headings, also in the plural."""
CELL = re.compile(r"%%toolchat\s+exercise\s+([\w-]+)[ \t]*(\n.*)", re.DOTALL)
"""A cell that is an exercise: its name, and its text with the end of the first line."""

_TITLE = re.compile(r"\s*#\s+(.*?)[\s#]*$", re.MULTILINE)
_HEADING = re.compile(r"#{2,6}\s+(session|check|hint|solution)s?[\s#]*", re.IGNORECASE)
"""It begins a section; the learner reads what is above the first one."""
_FENCED = re.compile(r"^(```|~~~)[^\n`]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+)?(.*)")
_DETAILS = re.compile(r"^\s*</?(?:details|summary)\b.*\n?", re.IGNORECASE | re.MULTILINE)
"""What folds a solution on a code host."""
_CHECK = re.compile(r"(.+?):\s+(`+)((?:(?!\2).)+)\2\.?")
_CHECK_FORM = (
    "a sentence, a colon, and a Python expression between backticks, such as: "
    '- The fries are in sticks: `fries.food == "fries: sticks"`'
)
_SESSION = re.compile(
    r"replays?\s+`?(?P<replays>[^`]+?)`?\.?|in call (?P<step>\d+),?\s+`?(?P<error>.+?)`?\.?"
    r"|(?:the )?session is\s+`?(?P<session>[\w-]+)`?\.?",
    re.IGNORECASE,
)
_SESSION_FORM = 'such a line: - Replays `FILE`, - In call 5, `shape="SLICES"`, - Session is `NAME`'
_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)")


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
    name: str = ""
    source: str = ""
    """The file, as it is written."""
    text: str = ""
    """What the learner reads."""
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


class _Item(NamedTuple):
    """An item of a list: its text, and those of the items below it."""

    line: str
    """The file and the number of the line."""
    indent: int
    texts: list[str]


def relative_path(name: str) -> str:
    """Return the file of an exercise, relative to the notebook's folder."""
    return f"{FOLDER}/{name}{SUFFIX}"


def name_of(path: str) -> str:
    """Return the name of the exercise that has this relative path, "" for any other path."""
    file = Path(path)
    return file.stem if file.suffix == SUFFIX and file.parent == Path(FOLDER) else ""


@dataclass(frozen=True, slots=True)
class Exercises:
    """The exercises of a notebook: in its own cells, and in files beside it."""

    folder: Path
    """The folder of the notebook."""
    in_cells: dict[str, str] = field(default_factory=dict)
    """The texts of those in cells, by name; they come before files of the same name."""

    @property
    def names(self) -> list[str]:
        """The names of all of them."""
        files = (self.folder / FOLDER).glob(f"*{SUFFIX}")
        return sorted({*self.in_cells, *(path.stem for path in files)})

    def read(self, name: str) -> Exercise:
        """Return an exercise.

        Raises UsageError for a name or a file that is wrong; it names the line of a mistake.
        """
        if name in self.in_cells:
            return read_exercise(self.in_cells[name], f"the exercise {name}", name)
        if name not in self.names:
            listed = ", ".join(self.names) or f"no {relative_path('NAME')}"
            close = nearest(name, self.names)
            raise UsageError(f"no exercise {name!r:.80} here; there are {listed}.{close}")
        file = relative_path(name)
        try:
            text = (self.folder / file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read ({type(error).__name__})") from None
        return read_exercise(text, file, name)


def read_exercise(text: str, file: str, name: str = "") -> Exercise:
    """Return the exercise in a Markdown text; `file` is what messages call it.

    Raises UsageError, which names the line, where the text is no exercise.
    """
    sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in SECTIONS}
    section = "text"
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.fullmatch(line):
            section = heading[1].lower()
        else:
            sections[section].append((f"{file}, line {number}", line))
    body, solution = (
        "\n".join(line for _, line in sections[part]) for part in ("text", "solution")
    )
    title = _TITLE.match(body)
    if title is None:
        raise UsageError(f"{file} has no title; its first line has to be one, such as: # Fries")
    checks = tuple(map(_check, _items(sections["check"])))
    if not checks:
        raise UsageError(f"{file} has nothing to check; below ## Checks write {_CHECK_FORM}")
    replays_and_session, seeded_errors = _session(_items(sections["session"]))
    return Exercise(
        title=title[1],
        name=name,
        source=text,
        text=body[title.end() :].strip("\n"),
        checks=checks,
        hints=tuple(item.texts[0] for item in _items(sections["hint"])),
        solution=_DETAILS.sub("", solution).strip("\n"),
        seeded_errors=seeded_errors,
        **replays_and_session,
    )


def _items(lines: Sequence[tuple[str, str]]) -> list[_Item]:
    """Return the items of a list; a line without a mark continues the item above it."""
    items: list[_Item] = []
    for line, text in lines:
        indent, mark, words = _parts(_ITEM, text, line, "a list").groups()
        if words and (not items or (mark and len(indent) <= items[-1].indent)):
            items.append(_Item(line, len(indent), [words]))
        elif mark:
            items[-1].texts.append(words)
        elif words:
            items[-1].texts[-1] += f" {words.strip()}"
    return items


def _parts(form: re.Pattern[str], text: str, line: str, called: str) -> re.Match[str]:
    """Return the parts of a text of a form. Raises UsageError, which describes the form."""
    if (parts := form.fullmatch(text)) is None:
        raise UsageError(f"{line}: write {called}")
    return parts


def _check(item: _Item) -> Check:
    parts = _parts(_CHECK, item.texts[0], item.line, _CHECK_FORM)
    sentence, expression = parts[1], parts[3].strip()
    try:
        # Python warns of what never makes sense, such as `x is 1`: that is a mistake too.
        with warnings.catch_warnings(action="error", category=SyntaxWarning):
            compile(expression, item.line, "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = f"{expression!r:.100} is no Python expression ({getattr(error, 'msg', error)})"
        raise UsageError(f"{item.line}: {problem}") from None
    return Check(sentence, expression, tuple(item.texts[1:]))


def _session(items: Sequence[_Item]) -> tuple[dict[str, str], tuple[SeededError, ...]]:
    """Return the names of the recording and of the session that is checked, and the errors."""
    names: dict[str, str] = {}
    errors: list[SeededError] = []
    for item in items:
        found = _parts(_SESSION, item.texts[0], item.line, _SESSION_FORM)
        if found["error"]:
            errors.append(_seeded_error(int(found["step"]), found["error"], item.line))
        else:
            names |= {name: text for name, text in found.groupdict().items() if text}
    return names, tuple(errors)


def _seeded_error(step: int, text: str, line: str) -> SeededError:
    """Read `shape="SLICES"`, or `Potato_peel()`: the values are Python literals."""
    tool, arguments = found.groups() if (found := _CALL.fullmatch(text)) else ("", text)
    try:
        call = ast.parse(f"_({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("no call with named arguments")
        values = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f'{line}: {text!r:.80} is no argument; write shape="SLICES", or a whole call ({error})'
        ) from None
    return SeededError(step, values, tool)


class ExerciseRecording(Recorded):
    """The recording that an exercise replays, with its seeded errors.

    Up to the first error the requests have to be as recorded. After it the results are others,
    and only the number of the turn counts.

    Args:
        folder: The folder of the notebook.
        file: The file of the exercise there. The model is called after it, so that its name does
            not tell what is wrong.
        exercise: What the file says.

    Raises UsageError where there is no recording, or no such call in it.
    """

    def __init__(self, folder: Path, file: str, exercise: Exercise) -> None:
        if not exercise.replays:
            raise UsageError(f"{file} replays nothing; below ## Session write: - Replays `FILE`")
        path = Path(file).parent / exercise.replays
        super().__init__(folder / path, name=path.as_posix())
        self.name, self.exact_turns = f"recorded:{file}", math.inf
        if errors := {error.step: error for error in exercise.seeded_errors}:
            planted = digest("planted", self.identity, [*map(str, errors.values())])
            self.identity = f"{self.name}:{planted[:12]}"
            course = _with_errors(self.courses[0], errors, file)
            turns = zip(self.courses[0].turns, course.turns, strict=True)
            wrong = (turn.number for turn, now in turns if turn.reply.calls != now.reply.calls)
            self.courses, self.exact_turns = (course,), next(wrong, math.inf)

    def _matching_turns(self, request: Request) -> list[Turn]:
        number = request.turn + 1
        if number <= self.exact_turns:
            return super()._matching_turns(request)
        # An empty reply comes after the last turn.
        return [self.courses[0].turn(number) or Turn(number, Reply(), 0)]


def _with_errors(course: Course, errors: Mapping[int, SeededError], file: str) -> Course:
    """Return a recording with errors in its calls, which they name by number.

    Raises UsageError for a call that is not there.
    """
    steps, turns = count(1), list[Turn]()
    for turn in course.turns:
        numbered = zip(turn.reply.calls, steps, strict=False)
        calls = (errors[n].applied(call) if n in errors else call for call, n in numbered)
        # The provider's own content would say the call as it was.
        turns.append(replace(turn, reply=replace(turn.reply, calls=tuple(calls), raw=None)))
    of = next(steps) - 1
    if wrong := [step for step in errors if not 0 < step <= of]:
        raise UsageError(f"{file}: there is no call {wrong[0]}; it has {of} calls")
    return replace(course, turns=tuple(turns))
