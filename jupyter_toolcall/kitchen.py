"""The kitchen: a toy world in which to learn what a tool call is.

A potato is never changed: each tool gives a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from .models.scripted import Scripted
from .tools import Toolbox


@dataclass(frozen=True)
class Sink:
    """Cold water and a drain."""


@dataclass(frozen=True)
class Plate:
    """A plate, with or without something on it."""

    food: str = ""

    def __str__(self) -> str:
        return self.food or "empty"


@dataclass(frozen=True)
class Fries:
    """Baked potato, in its shape."""

    shape: str

    def __str__(self) -> str:
        return self.shape

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
        ("save", {"fries": "$Plate"}),
        "Your fries are on the plate.",
    ],
    name="scripted:kitchen",
)
SCRIPTS: Mapping[str, Scripted] = {"kitchen": FRIES}
