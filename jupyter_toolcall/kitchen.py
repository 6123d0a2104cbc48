"""The kitchen: a toy world in which to learn what a tool call is.

A potato is never changed: each tool gives a new one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from .models.scripted import Scripted
from .tools.toolbox import Toolbox


@functools.cache
def _drawings() -> Mapping[str, Sequence[str]]:
    """Return the paths of each line drawing by its name: 24 by 24, so that a tile can ink them."""
    path = Path(__file__).with_name("kitchen_drawings.json")
    drawings: Mapping[str, Sequence[str]] = json.loads(path.read_text("utf-8"))
    return drawings


def drawn(name: str) -> str:
    """Return a line drawing as SVG."""
    paths = "".join(f'<path d="{path}"/>' for path in _drawings().get(name, ()))
    size = 'viewBox="0 0 24 24" width="64" height="64"'
    style = 'fill="none" stroke="#808080" stroke-width="1.5" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{paths}</svg>'


@dataclass(frozen=True)
class Sink:
    """Cold water and a drain."""

    def _repr_svg_(self) -> str:
        return drawn("sink")


@dataclass(frozen=True)
class Plate:
    """A plate, with or without something on it."""

    food: str = ""

    def __str__(self) -> str:
        return self.food or "empty"

    def _repr_svg_(self) -> str:
        return drawn(self.food or "plate")


@dataclass(frozen=True)
class Fries:
    """Baked potato, in its shape."""

    shape: str

    def __str__(self) -> str:
        return self.shape

    def _repr_svg_(self) -> str:
        return drawn(f"bag of {self.shape}")

    def plate(self, plate: Annotated[Plate, "Where to put them."]) -> Plate:
        """Serve these fries on a plate."""
        return replace(plate, food=f"fries: {self.shape}")


@dataclass(frozen=True)
class Potato:
    """A potato in one state of its way to the plate."""

    rinsed: bool = False
    peeled: bool = False
    cut: str = ""

    def __str__(self) -> str:
        done = [word for word, true in (("rinsed", self.rinsed), ("peeled", self.peeled)) if true]
        return f"cut in {self.cut.lower()}" if self.cut else ", ".join(done) or "raw"

    def _repr_svg_(self) -> str:
        state = "peeled" if self.peeled else "rinsed" if self.rinsed else "raw"
        return drawn(self.cut.lower() or state)

    def rinse(self, sink: Annotated[Sink, "Where the water is."]) -> Potato:
        """Wash the dirt off."""
        return replace(self, rinsed=True)

    def peel(self) -> Potato:
        """Take the skin off."""
        return replace(self, peeled=True)

    def slice(
        self, shape: Annotated[Literal["STICKS", "SLICES"], "The shape of a piece."]
    ) -> Potato:
        """Cut the potato into pieces of one shape."""
        if not self.peeled:
            raise ValueError("peel the potato before you cut it")
        return replace(self, cut=shape)


@dataclass(frozen=True)
class Oven:
    """An oven that is hot already."""

    def _repr_svg_(self) -> str:
        return drawn("oven")

    def bake(self, item: Annotated[Potato, "What to bake."]) -> Fries:
        """Bake a potato that is in pieces."""
        if not item.cut:
            raise ValueError("a whole potato does not become fries; cut it first")
        return Fries(item.cut.lower())


def kitchen() -> Toolbox:
    """Return the kitchen's tools."""
    return Toolbox(Potato, Oven, Fries)


FRIES = Scripted(
    [
        [
            "First I get the tools that I need.",
            (
                "selectTools",
                {"tools": ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"]},
            ),
        ],
        ("Potato_rinse", {"Potato": "$Potato", "sink": "$Sink"}),
        ("Potato_peel", {"Potato": "$Potato"}),
        ["It is clean and peeled, so it can be cut now.", ("Potato_slice", {"shape": "STICKS"})],
        ("Oven_bake", {"Oven": "$Oven", "item": "$Potato"}),
        ("selectTools", {"tools": ["Fries_plate"]}),
        ("Fries_plate", {"Fries": "$Fries", "plate": "$Plate"}),
        ["Your fries are on the plate.", ("save", {"fries": "$Plate"})],
    ],
    name="scripted:kitchen",
)
SCRIPTS: Mapping[str, Scripted] = {"kitchen": FRIES}
