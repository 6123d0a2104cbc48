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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.events import Call
from ..core.recorded_data import replace
from ..core.text import nearest
from ..models.recorded import Recorded, speak
from ..schemes.messages import Reply, Request

FOLDER = "exercises"
SUFFIX = ".md"
SECTIONS = ("session", "check", "hint", "solution")
"""The headings that have a meaning, also in the plural; the learner reads all other text."""

_NAME = re.compile(r"[\w-]{1,64}")
_CELL = re.compile(r"%%toolchat\s+exercise\s+([\w-]+)[ \t]*\n(.*)", re.DOTALL)
_FENCED = re.compile(r"^(```|~~~)[^\n`]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(.*)$")
_DETAILS = re.compile(r"\s*</?(?:details|summary)\b.*$", re.IGNORECASE)
"""What folds a solution on a code host."""
_CHECK = re.compile(r"(.+?):\s+(`+)((?:(?!\2).)+)\2\.?")
"""A sentence, a colon, and an expression as a Markdown code span."""
_SESSION = re.compile(
    r"replays?\s+`?(?P<replays>[^`]+?)`?\.?|in call (?P<step>\d+),?\s+`?(?P<error>.+?)`?\.?"
    r"|(?:the )?session is\s+`?(?P<session>[\w-]+)`?\.?",
    re.IGNORECASE,
)
"""An item below `## Session`."""
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


class _Item(NamedTuple):
    """An item of a list: its text, and those of the items below it."""

    line: int
    indent: int
    texts: list[str]


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
        existing = exercise_names(folder)
        listed = ", ".join(existing) or f"no {relative_path('NAME')}"
        raise UsageError(
            f"no exercise {name!r:.80} here; there are {listed}.{nearest(name, existing)}"
        )
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
        if item is not None and (found := _SESSION.fullmatch(item[2])) and not found["session"]:
            raise UsageError(
                f"{file}: the learner would read {item[2]!r:.60}; write it below a heading "
                "## Session"
            )
    if not title:
        raise UsageError(f"{file} has no title; its first line has to be one, such as: # Fries")
    checks = tuple(_check(item, file) for item in _items(sections["check"], file))
    if not checks:
        raise UsageError(
            f"{file} has nothing to check; write a list below the heading ## Checks, such as: "
            "- Something is saved: `session.outputs`"
        )
    names, seeded_errors = _session(_items(sections["session"], file), file)
    body, solution = (
        "\n".join(line for _, line in sections[name]).strip("\n") for name in ("text", "solution")
    )
    return Exercise(
        title=title,
        text=body,
        checks=checks,
        hints=tuple(item.texts[0] for item in _items(sections["hint"], file)),
        solution=solution,
        seeded_errors=seeded_errors,
        **names,
    )


def _sections(text: str) -> tuple[str, dict[str, list[tuple[int, str]]]]:
    """Return the title, and the lines of each section; "text" is what the learner reads."""
    title, section, fence = "", "text", ""
    sections: dict[str, list[tuple[int, str]]] = {name: [] for name in ("text", *SECTIONS)}
    for number, line in enumerate(text.splitlines(), 1):
        mark = line[:3] if line.startswith(("```", "~~~")) else ""
        fence = "" if mark and mark == fence else fence or mark
        heading = None if fence else _HEADING.match(line)
        if heading is not None and len(heading[1]) == 1 and not title:
            title = heading[2]
        elif heading is not None and (name := heading[2].lower().removesuffix("s")) in SECTIONS:
            section = name
        elif not _DETAILS.match(line):
            section = "text" if heading is not None else section
            sections[section].append((number, line))
    return title, sections


def _items(lines: Sequence[tuple[int, str]], file: str) -> list[_Item]:
    """Return the items of a list; a line without a mark continues the item above it."""
    items: list[_Item] = []
    for number, text in lines:
        item = _ITEM.match(text)
        if item is not None and (not items or len(item[1]) <= items[-1].indent):
            items.append(_Item(number, len(item[1]), [item[2]]))
        elif item is not None:
            items[-1].texts.append(item[2])
        elif text.strip() and items:
            items[-1].texts[-1] += f" {text.strip()}"
        elif text.strip():
            raise UsageError(
                f"{file}, line {number}: write this as a list, an item a line: - {text.strip()}"
            )
    return items


def _check(item: _Item, file: str) -> Check:
    parts = _CHECK.fullmatch(item.texts[0])
    if parts is None:
        raise UsageError(
            f"{file}, line {item.line}: write a sentence, a colon, and a Python expression "
            'between backticks, such as: - The fries are in sticks: `fries.food == "fries: sticks"`'
        )
    sentence, expression = parts[1], parts[3].strip()
    try:
        # Python warns of what never makes sense, such as `x is 1`: that is a mistake too.
        with warnings.catch_warnings(action="error", category=SyntaxWarning):
            compile(expression, file, "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = f"{expression!r:.100} is no Python expression ({getattr(error, 'msg', error)})"
        raise UsageError(f"{file}, line {item.line}: {problem}") from None
    return Check(sentence, expression, tuple(item.texts[1:]))


def _session(items: Sequence[_Item], file: str) -> tuple[dict[str, str], tuple[SeededError, ...]]:
    """Return the names of the recording and of the session that is checked, and the errors."""
    names: dict[str, str] = {}
    errors: list[SeededError] = []
    for item in items:
        line, found = f"{file}, line {item.line}", _SESSION.fullmatch(item.texts[0])
        if found is None:
            raise UsageError(
                f"{line}: the section ## Session holds lines such as: "
                'Replays `FILE`. In call 5, `shape="SLICES"`. The session is `NAME`'
            )
        if found["error"]:
            errors.append(_seeded_error(int(found["step"]), found["error"], line))
        else:
            names |= {name: text for name, text in found.groupdict().items() if text}
    if errors and "replays" not in names:
        raise UsageError(f"{file}: an error is seeded in a recording: write - Replays `FILE`")
    return names, tuple(errors)


def _seeded_error(step: int, text: str, line: str) -> SeededError:
    """Read `shape="SLICES"`, or `Potato_peel()`: the values are Python literals."""
    other_tool = _CALL.fullmatch(text)
    try:
        call = ast.parse(text if other_tool else f"_({text})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("no call with named arguments")
        arguments = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f'{line}: {text!r:.80} is no argument; write shape="SLICES", or a whole call ({error})'
        ) from None
    return SeededError(step, arguments, call.func.id if other_tool else "")


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
            raise UsageError(
                f"{file} replays nothing; its section ## Session can say: Replays `FILE`"
            )
        path = Path(file).parent / exercise.replays
        super().__init__(folder / path, name=path.as_posix())
        self.name = f"recorded:{file}"
        self.replies = self._replies_with_errors(exercise.seeded_errors, file)
        if self.replies:
            replies = [[turn, repr(reply)] for turn, reply in sorted(self.replies.items())]
            self.identity = f"{self.name}:{digest('planted', self.identity, replies)[:12]}"

    def __call__(self, request: Request) -> Reply:
        """Return the reply of this turn, an empty one after the last turn.

        Raises ModelError where something else is asked than was recorded.
        """
        number = request.turn + 1
        if not self.replies:
            return super().__call__(request)
        if number <= min(self.replies):
            self._matching_turns(request)
        turn = self.courses[0].turn(number)
        return speak(self.replies.get(number, turn.reply), self.on_text) if turn else Reply()

    def _replies_with_errors(self, errors: Sequence[SeededError], file: str) -> dict[int, Reply]:
        """Return the replies that have errors, by turn. Raises UsageError for no such call."""
        turns = self.courses[0].turns if errors else ()
        calls = [(turn, index) for turn in turns for index in range(len(turn.reply.calls))]
        replies: dict[int, Reply] = {}
        for error in errors:
            if not 0 < error.step <= len(calls):
                raise UsageError(
                    f"{file}: there is no call {error.step}; it has {len(calls)} calls"
                )
            turn, index = calls[error.step - 1]
            reply = replies.get(turn.number, turn.reply)
            changed = [*reply.calls]
            changed[index] = error.applied(changed[index])
            # The provider's own content would say the call as it was.
            replies[turn.number] = replace(reply, calls=tuple(changed), raw=None)
        return replies
