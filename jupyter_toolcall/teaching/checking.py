"""Whether what an exercise asks for is so: its conditions, held against a session and a notebook.

Everything is looked up and compared; the one thing that runs is a tool of the learner's own
that a condition calls (`weigh(unit="g")` gives `180.0`), and it runs as any call does.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Absent, ToolcallError
from ..session import Session
from .calls import demand_calls
from .conditions import (
    Called,
    CalledBefore,
    CallIs,
    Calls,
    CallWas,
    ComesFrom,
    Condition,
    Described,
    Equals,
    Gives,
    Guessed,
    Holds,
    IsA,
    IsTool,
    NoCall,
    Offers,
    OffersMany,
    Saved,
    Says,
    SchemeIs,
    Takes,
)
from .reading import Check, Exercise
from .scene import Missing, Otherwise, Scene, otherwise
from .scoring import Points
from .trying import demand_tool
from .values import ANSWER, code, equal, listed, object_named, shown, value_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an exercise stands: the checks that hold, from the first on, and what is in the way."""

    exercise: Exercise
    held: tuple[Check, ...] = ()
    fails: Check | None = None
    found: str = ""
    """What was found in the place of what has to be, "" where that is not told."""

    @property
    def passed(self) -> bool:
        return self.fails is None


def checked(exercise: Exercise, scene: Scene) -> Verdict:
    """Return how an exercise stands: up to the first of its checks that does not hold."""
    held: list[Check] = []
    for check in exercise.checks:
        try:
            _demand(check.condition, scene)
        except Otherwise as error:
            return Verdict(exercise, tuple(held), check, "" if check.veiled else str(error))
        except Absent:
            said = "its value is not in this kernel: run the cells above first"
            return Verdict(exercise, tuple(held), check, said)
        except Missing as error:
            return Verdict(exercise, tuple(held), check, str(error))
        except ToolcallError as error:
            return Verdict(exercise, tuple(held), check, code(str(error)))
        held.append(check)
    return Verdict(exercise, tuple(held))


def _demand(wanted: Condition, scene: Scene) -> None:
    """Raise Otherwise, which says what was found, where a condition does not hold."""
    match wanted:
        case Called() | CalledBefore() | Calls() | NoCall() | CallWas() | CallIs():
            demand_calls(wanted, [*scene.opened.state.each()])
        case IsTool() | Takes() | Described() | Gives():
            demand_tool(wanted, scene)
        case Offers() | OffersMany():
            _demand_offer(wanted, scene.opened)
        case SchemeIs(name):
            scheme = scene.opened.state.opened.scheme
            otherwise(scheme == name, f"it is `{scheme}`")
        case Guessed(least, percent):
            points = scene.points or Points()
            right = points.right * 100 / max(points.of, 1) if percent else points.right
            otherwise(right >= least, f"you have {points}")
        case _:
            _demand_value(wanted, scene)


def _demand_value(wanted: Saved | IsA | Equals | Holds | ComesFrom | Says, scene: Scene) -> None:
    match wanted:
        case Saved(name):
            otherwise(name in scene.opened.state.outputs, "it was not saved")
        case IsA(path, kind):
            found = type(value_of(path, scene)).__name__
            otherwise(found == kind, f"it is a `{found}`")
        case Equals(path, expected) if path == ANSWER:
            said = scene.opened.text
            otherwise(_sentence(said) == _sentence(str(expected)), f"it is {shown(said)}")
        case Equals(path, expected):
            there = value_of(path, scene)
            otherwise(equal(there, expected), f"it is {shown(there)}")
        case Holds(path, count):
            parts = _parts(value_of(path, scene))
            otherwise(parts in count, f"it has {parts}")
        case ComesFrom(name, origin):
            one, other = object_named(name, scene.opened), object_named(origin, scene.opened)
            made = other in scene.opened.deps(one, all=True)
            otherwise(made, f"{one} was not made from {other}")
        case Says(text):
            said = scene.opened.text
            otherwise(text.casefold() in said.casefold(), f"it says {shown(said)}")


def _sentence(text: str) -> str:
    return text.strip().rstrip(".").casefold()


def _parts(value: object) -> int:
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:
        raise Otherwise(f"it is {shown(value)}, which has no parts to count") from None


def _demand_offer(wanted: Offers | OffersMany, session: Session) -> None:
    requests = session.requests
    otherwise(wanted.turn <= len(requests), f"there were {len(requests)} turns")
    names = [tool.name for tool in requests[wanted.turn - 1].request.tools]
    match wanted:
        case Offers(tool=tool, there=there):
            otherwise((tool in names) == there, f"it offers {listed(names)}")
        case OffersMany(count=count):
            otherwise(len(names) in count, f"it offers {len(names)}: {listed(names)}")
