"""The kitchen: a toy world in which to learn what a tool call is.

A potato is never changed: each tool gives a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from .models.scripted import Scripted
from .tools.toolbox import Toolbox

_ROUND = "M4 13c0-4.5 3.5-7.5 8-7.5s8.5 3 8.5 7-3.5 6.5-8.5 6.5-8-2-8-6z"
_RIM = "M3.5 12a8.5 8.5 0 1 0 17 0a8.5 8.5 0 1 0 -17 0z"
DRAWINGS: Mapping[str, tuple[str, ...]] = {
    "raw": (_ROUND, "M9 10.5h.01M14 9.5h.01M16.5 13.5h.01M11 15h.01M7.5 14h.01"),
    "rinsed": (_ROUND, "M7.5 12c.3-1.800 1.800-3 3.700-3.200"),
    "peeled": (
        _ROUND,
        "M7.3 12.8c0-2.5 2-4.1 4.8-4.1s5.1 1.7 5.1 4-2.1 3.5-5.1 3.5-4.8-1-4.8-3.4z",
    ),
    "sticks": ("M5 5.5v13h2.6v-13zM10.7 5.5v13h2.6v-13zM16.4 5.5v13H19v-13z",),
    "slices": (
        "M4.5 8.5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "M12.5 12a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "M5.5 17a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    ),
    "sink": (
        "M3.5 12.5h17v2.5a4 4 0 0 1-4 4h-9a4 4 0 0 1-4-4z",
        "M12 12.5V7.5a2.5 2.5 0 0 1 5 0v1",
    ),
    "oven": ("M4 4h16v16H4z", "M4 9h16M7.5 6.5h.01M11 6.5h.01", "M7.5 12h9v5h-9z"),
    "plate": (_RIM, "M7 12a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"),
    "fries: sticks": (_RIM, "M9 8.5v7M12 7.5v9M15 8.5v7"),
    "fries: slices": (
        _RIM,
        "M7.7 10.5a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0 -4.6 0z",
        "M11.7 13.5a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0 -4.6 0z",
    ),
    "bag of sticks": ("M6 11h12l-1.5 9h-9z", "M8 11V5.5h2.2V11M11 11V4h2.2v7M14 11V5.5h2V11"),
    "bag of slices": (
        "M4.5 12.5h15l-2 7.5h-11z",
        "M6.5 12.5a3 3 0 0 1 5.5-1.5 3 3 0 0 1 5.5 1.5M8.5 9.5a3.5 3.5 0 0 1 7 0",
    ),
}


def drawn(name: str) -> str:
    """Return a line drawing as SVG: 24 by 24, paths alone, so that a tile can ink it."""
    paths = "".join(f'<path d="{path}"/>' for path in DRAWINGS.get(name, ()))
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
