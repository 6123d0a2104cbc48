"""A recording in which calls are made wrong on purpose, as a model: it says the rest as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..digest import digest
from ..errors import UsageError
from ..events import Call
from ..models.recorded import Recorded
from ..models.recorded.recorded_model import speak
from ..models.recorded.tape import Course
from ..request import Model, Reply, Request
from ..tools import nearest
from .reading import Exercise, Plant


def recording(exercise: Exercise, place: Path, name: str) -> Model:
    """Return the recording that an exercise replays, as a model.

    `place` is the exercise's own file, `name` what the model is called: nothing in it tells
    what is wrong. Raises UsageError where there is none, or no such call in it.
    """
    if not exercise.replays:
        raise UsageError(f"{name} replays nothing; its section ## Session can say: Replays `FILE`")
    if not any((place.parent / file).is_file() for file in _files(exercise.replays)):
        raise UsageError(_missing(exercise.replays, place, name))
    found = Recorded(place.parent / exercise.replays, name=exercise.replays)
    if not exercise.plants:
        found.name = f"recorded:{name}"
        return found
    return Planted(found, exercise.plants, name)


def _files(replays: str) -> tuple[str, str]:
    """Return what may be the file: a session of a notebook is named behind it, `a.ipynb#me`."""
    return replays, replays.rpartition("#")[0]


def _missing(file: str, place: Path, name: str) -> str:
    known = sorted(each.name for each in place.parent.glob("*.jsonl"))
    there = f"there are {', '.join(known)}" if known else "there is no recording"
    return (
        f"{name} replays {file}, and that is not beside it; {there}.{nearest(file, known)} "
        f"--record {place.parent.name}/{Path(file).name} in a cell makes one"
    )


class Planted:
    """A recording with other calls in it.

    Up to the first of these it is told what was recorded, or says where that differs; behind
    it what comes of the calls is another thing, and only the turn counts.
    """

    def __init__(self, recorded: Recorded, plants: tuple[Plant, ...], name: str) -> None:
        self.recorded, self.course = recorded, recorded.courses[0]
        self.name, self.note = f"recorded:{name}", recorded.note
        self.replies = _planted(self.course, plants, name)
        self.first = min(self.replies)
        said = [[n, repr(reply)] for n, reply in sorted(self.replies.items())]
        self.identity = f"{self.name}:{digest('planted', recorded.identity, said)[:12]}"
        self.on_text: Callable[[str], object] = lambda text: None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __call__(self, request: Request) -> Reply:
        """Return what was recorded for this turn; behind the last one it says nothing.

        Raises ModelError where something else is asked than was recorded.
        """
        number = request.turn + 1
        if number <= self.first:
            self.recorded(request)
        turn = self.course.turn(number)
        if turn is None:
            return Reply()
        return speak(self.replies.get(number, turn.reply), self.on_text)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a call stands in a recording."""

    turn: int
    index: int


def _planted(course: Course, plants: tuple[Plant, ...], name: str) -> Mapping[int, Reply]:
    """Return the replies that are other ones, by turn."""
    places = [
        _Place(turn.number, index)
        for turn in course.turns
        for index in range(len(turn.reply.calls))
    ]
    replies: dict[int, Reply] = {}
    for plant in plants:
        if not 0 < plant.step <= len(places):
            raise UsageError(f"{name}: there is no call {plant.step}; it has {len(places)} calls")
        place = places[plant.step - 1]
        turn = course.turn(place.turn)
        assert turn is not None
        known = replies.get(place.turn, turn.reply)
        replies[place.turn] = _with_call(
            known, place.index, _wrong(known.calls[place.index], plant)
        )
    return replies


def _with_call(reply: Reply, index: int, call: Call) -> Reply:
    """The provider's own content would say the call as it was: it goes."""
    calls = (*reply.calls[:index], call, *reply.calls[index + 1 :])
    return replace(reply, calls=calls, raw=None)


def _wrong(call: Call, plant: Plant) -> Call:
    given: dict[str, Any] = dict(plant.given) if plant.tool else {**call.arguments, **plant.given}
    return replace(call, tool=plant.tool or call.tool, arguments=given)
