"""A recording with seeded errors, as a model: all other replies are as they were recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.text import nearest
from ..models.recorded import Recorded, speak
from ..models.recording_file import Course
from ..schemes.messages import Model, Reply, Request
from .exercise_file import SeededError, load_exercise


def recording(folder: Path, name: str) -> Model:
    """Return the recording that an exercise replays, as a model.

    `name` is the exercise's file in a notebook's folder, and what the model is called, so that
    its name does not tell what is wrong. Raises UsageError where there is no exercise, no
    recording, or no such call in it.
    """
    file, exercise = folder / name, load_exercise(folder, name)
    if not exercise.replays:
        raise UsageError(f"{name} replays nothing; its section ## Session can say: Replays `FILE`")
    path = file.parent / exercise.replays
    # `a.ipynb#me` is a session of a notebook.
    if not path.is_file() and not (file.parent / exercise.replays.rpartition("#")[0]).is_file():
        known = sorted(each.name for each in file.parent.glob("*.jsonl"))
        there = f"there are {', '.join(known)}" if known else "there is no recording"
        raise UsageError(
            f"{name} replays {exercise.replays}, and that is not beside it; {there}."
            f"{nearest(exercise.replays, known)} "
            f"--record {file.parent.name}/{path.name} in a cell makes one"
        )
    recorded = Recorded(path, name=exercise.replays)
    if exercise.seeded_errors:
        return RecordingWithErrors(recorded, exercise.seeded_errors, name)
    recorded.name = f"recorded:{name}"
    return recorded


class RecordingWithErrors:
    """A recording with other calls in it.

    Up to the first of these the requests have to be as recorded. After it the results are
    others, and only the number of the turn counts.
    """

    def __init__(self, recorded: Recorded, errors: tuple[SeededError, ...], name: str) -> None:
        self.recorded, self.course = recorded, recorded.courses[0]
        self.name, self.note = f"recorded:{name}", recorded.note
        self.replies = _replies_with_errors(self.course, errors, name)
        self.first = min(self.replies)
        replies = [[turn, repr(reply)] for turn, reply in sorted(self.replies.items())]
        self.identity = f"{self.name}:{digest('planted', recorded.identity, replies)[:12]}"
        self.on_text: Callable[[str], object] = lambda text: None

    def __repr__(self) -> str:
        return f"<{self.name}>"

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
    course: Course, errors: tuple[SeededError, ...], name: str
) -> Mapping[int, Reply]:
    """Return the replies that have errors, by turn. Raises UsageError for no such call."""
    calls = [(turn, index) for turn in course.turns for index in range(len(turn.reply.calls))]
    replies: dict[int, Reply] = {}
    for error in errors:
        if not 0 < error.step <= len(calls):
            raise UsageError(f"{name}: there is no call {error.step}; it has {len(calls)} calls")
        turn, index = calls[error.step - 1]
        reply = replies.get(turn.number, turn.reply)
        call = reply.calls[index]
        arguments = error.arguments if error.tool else {**call.arguments, **error.arguments}
        wrong = replace(call, tool=error.tool or call.tool, arguments=arguments)
        # The provider's own content would say the call as it was.
        others = (*reply.calls[:index], wrong, *reply.calls[index + 1 :])
        replies[turn.number] = replace(reply, calls=others, raw=None)
    return replies
