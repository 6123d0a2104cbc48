"""Sessions with branches, made at random from a seed: for all who compare branches.

A plan is data, so that one seed gives the same branches in a test and in a kernel.
"""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.compare.comparison import CallPair, Comparison
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import CallError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.models import Reply, Request


@dataclass(frozen=True)
class Clay:
    """A piece of clay."""

    shape: str = ""
    weight: int = 8

    def form(self, shape: str) -> Clay:
        """Give it a shape."""
        print(f"formed\n{shape}\ndone")
        if shape == "cube":
            raise ValueError("no cubes")
        return Clay(shape, self.weight)

    def split(self) -> list[Clay]:
        """Make two of it."""
        return [Clay(self.shape, self.weight // 2), Clay("", self.weight // 2)]

    def keep(self) -> Clay:
        """Return it as it is."""
        return self

    def weigh(self, unit: str = "g") -> str:
        """Weigh it."""
        return f"in {unit}\n{self.weight}\nshape {self.shape}"


class Mold:
    """A mold, whose content nothing tells apart from another's: it holds a function."""

    def __init__(self, shape: str) -> None:
        self.shape = shape
        self.press = lambda: shape


def cast(shape: str) -> Mold:
    """Make a mold."""
    return Mold(shape)


def total(clays: list[Clay]) -> int:
    """Weigh them all."""
    return sum(each.weight for each in clays)


SHAPES = ("ball", "bowl", "cube")


def wild_call(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a call that a model may make; the object that it names may not be there."""
    clay = f"Clay#{rng.randint(1, 4)}"
    shape = rng.choice(SHAPES)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Clay_form", {"Clay": clay, "shape": shape}),
        ("Clay_form", {"Clay": clay, "shape": shape}),
        ("Clay_split", {"Clay": clay}),
        ("Clay_keep", {"Clay": clay}),
        ("Clay_weigh", {"Clay": clay, "unit": rng.choice(["g", "kg"])}),
        ("cast", {"shape": shape}),
        ("total", {"clays": [clay, "Clay#1"]}),
    ]
    return rng.choice(calls)


@dataclass
class Wild:
    """A model that says something else each time it is asked."""

    rng: random.Random
    turns: int = 4
    name: str = "wild"
    asked: int = field(default=0)

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        if request.turn >= self.turns:
            return Reply(f"Done.\n{self.rng.randint(1, 2)}\nThat is all.")
        # Ids are now those of another branch's calls, and now of no other call.
        prefix = self.rng.choice(["call", f"own{self.asked}"])
        calls = [
            Call(f"{prefix}_{request.turn}_{index}", *wild_call(self.rng))
            for index in range(self.rng.randint(1, 2))
        ]
        return Reply("", tuple(calls), "tools")


def wild_box() -> Toolbox:
    """Return the tools."""
    return Toolbox(Clay, cast, total)


def wild_session(seed: int, turns: int = 4) -> Session:
    """Return a session with one branch."""
    model = Wild(random.Random(seed), turns)
    made = Session(wild_box(), model, scheme="flat", approve="all", inputs={"clay": Clay()})
    return made.tell("Make something.")


def wild_branches(seed: int, count: int = 4, turns: int = 4) -> list[Session]:
    """Return sessions of one journal, each on a branch of its own."""
    return grown(wild_session(seed, turns), seed, count)


def grown(session: Session, seed: int, count: int = 4) -> list[Session]:
    """Return a session and others of its journal: edits, forks and replays, at random."""
    rng = random.Random(f"branches {seed}")
    found = [session]
    for _ in range(4 * count):
        of = rng.choice(found)
        # An edit that names what is not there is refused.
        with suppress(CallError):
            found.append(wild_branch(rng, of))
        if len(found) == count:
            break
    return found


def wild_branch(rng: random.Random, of: Session) -> Session:
    """Return another branch. Raises CallError for an edit that can't be."""
    call = rng.choice(of.calls)
    match rng.choice(["edit", "edit", "fork", "replay"]):
        case "edit":
            return of.edit(call, **wild_edit(rng, dict(call.arguments))).run()
        case "fork":
            return of.fork(call).run()
    return of.replay(fresh=rng.random() < 0.5).run()


def wild_edit(rng: random.Random, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments for a call, other ones or the same."""
    other = {
        "shape": rng.choice(SHAPES),
        "unit": rng.choice(["g", "kg", "lb"]),
        "Clay": f"Clay#{rng.randint(1, 3)}",
    }
    return {key: other.get(key, value) for key, value in arguments.items()}


# -- what `session.diff` says, as a panel is to show it -------------------------------------


def expected(compared: Comparison) -> list[dict[str, Any]]:
    """Return a comparison row by row: steps, whether it differs, and for each side a call."""
    return [_row(pair) for pair in compared.calls]


def _row(pair: CallPair) -> dict[str, Any]:
    calls = [call for call in (pair.left, pair.right) if call is not None]
    steps = " | ".join(dict.fromkeys(str(call.step) for call in calls))
    return {
        "head": f"{steps}, {'the same' if pair.same else 'differs'}",
        "left": _side(pair.left, pair.right, pair, "left"),
        "right": _side(pair.right, pair.left, pair, "right"),
    }


def _side(call: CallRecord | None, other: CallRecord | None, pair: CallPair, side: str) -> Any:
    if call is None:
        return None
    changed = {(change.what, change.name) for change in pair.changes}
    marks = [call.tool] if ("tool", "") in changed else []
    for name, value in call.arguments.items():
        if other is None or ("argument", name) in changed:
            named = name in call.uses
            marks.append(value if named else json.dumps(value, separators=(",", ":")))
    objects = [getattr(each, side) for each in pair.objects] if not pair.shared else []
    return {"tool": call.tool, "marks": marks, "objects": [*filter(None, objects)]}
