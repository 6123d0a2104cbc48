"""Tasks to compare schemes with: `jupyter toolcall eval tests/tasks.py`.

Three small worlds: the kitchen; one big type, a picture with sixty functions; and many
small types, a mill where each station makes the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any

from jupyter_toolcall import Toolbox
from jupyter_toolcall.evaluation import Task
from jupyter_toolcall.kitchen import Oven, Plate, Potato, Sink, kitchen

# -- one big type --------------------------------------------------------------------------

FILTERS = [
    f"{way}_{what}"
    for what in ("light", "dark", "red", "green", "blue", "edges", "noise", "grain", "sky", "skin")
    for way in ("raise", "lower", "blur", "sharpen", "mask", "invert")
]


@dataclass(frozen=True)
class Picture:
    steps: tuple[str, ...] = ()


def _filter(name: str) -> Callable[..., Any]:
    def apply(self: Picture, strength: int = 50, feather: float = 0.5) -> Picture:
        return Picture((*self.steps, f"{name} {strength}"))

    way, _, what = name.partition("_")
    apply.__name__ = name
    apply.__doc__ = f"""{way.capitalize()} the {what} of this picture, and leave all else.

    Args:
        strength: How much of it, from 0 to 100.
        feather: How softly it ends, from 0 to 1.
    """
    return apply


def studio() -> Toolbox:
    """Return a box of sixty tools, all of one type."""
    for name in FILTERS:
        setattr(Picture, name, _filter(name))
    return Toolbox(Picture)


# -- many small types ------------------------------------------------------------------------

STATIONS = [
    *("Field", "Sheaf", "Grain", "Flour", "Dough", "Loaf", "Slice", "Toast", "Crumb", "Crust"),
    *("Malt", "Mash", "Wort", "Beer", "Barrel", "Bottle", "Crate", "Cart", "Market", "Coin"),
]


def mill() -> tuple[Toolbox, dict[str, type]]:
    """Return a box of twenty types with three functions each, and these types."""
    types: dict[str, type] = {name: make_dataclass(name, [], frozen=True) for name in STATIONS}
    for name, after in zip(STATIONS, [*STATIONS[1:], STATIONS[-1]], strict=True):
        _equip(types[name], types[after])
    return Toolbox(*types.values()), types


def _equip(station: type, after: type) -> None:
    def work(self: Any, care: int = 1) -> Any:
        return after()

    def weigh(self: Any, unit: str = "kg") -> float:
        return 1.5

    def label(self: Any, language: str = "en") -> str:
        return station.__name__

    work.__doc__ = f"Make the next thing, a {after.__name__}, of this {station.__name__}."
    work.__annotations__["return"] = after
    weigh.__doc__ = f"Weigh this {station.__name__}."
    label.__doc__ = f"Write a label for this {station.__name__}."
    for function in (work, weigh, label):
        setattr(station, function.__name__, function)


MILL, TYPES = mill()

TASKS = [
    Task(
        "fries",
        "Bake me some fries from Potato#1. Save them as fries.",
        kitchen(),
        inputs={"potato": Potato(), "sink": Sink(), "oven": Oven(), "plate": Plate()},
        outputs={"fries": (Plate, "the fries on their plate")},
        check=lambda outputs: outputs["fries"].food == "fries: sticks",
        plan=[
            ("Potato_rinse", {"Potato": "$Potato", "sink": "$Sink"}),
            ("Potato_peel", {"Potato": "$Potato"}),
            ("Potato_slice", {"shape": "STICKS"}),
            ("Oven_bake", {"Oven": "$Oven", "item": "$Potato"}),
            ("Fries_plate", {"Fries": "$Fries", "plate": "$Plate"}),
        ],
    ),
    Task(
        "picture",
        "Raise the light of Picture#1 by 20, sharpen its edges, blur the sky of that, and "
        "lower the noise of Picture#1 alone. Save both as finished and plain.",
        studio(),
        inputs={"picture": (Picture(), "The picture as it was taken.")},
        outputs={"finished": Picture, "plain": Picture},
        check=lambda outputs: (
            outputs["finished"].steps == ("raise_light 20", "sharpen_edges 50", "blur_sky 70")
            and outputs["plain"].steps == ("lower_noise 50",)
        ),
        plan=[
            ("Picture_raise_light", {"Picture": "Picture#1", "strength": 20}),
            ("Picture_sharpen_edges", {"Picture": "$Picture"}),
            ("Picture_blur_sky", {"strength": 70}),
            ("Picture_lower_noise", {"Picture": "Picture#1"}),
            ("save", {"finished": "Picture#4", "plain": "Picture#5"}),
        ],
    ),
    Task(
        "bread",
        "Make bread of Field#1, and weigh the flour on the way. Save the loaf and the weight.",
        MILL,
        inputs={"field": TYPES["Field"]()},
        outputs={"loaf": TYPES["Loaf"], "weight": (float, "of the flour, in kg")},
        check=lambda outputs, text: outputs["weight"] == 1.5,
        plan=[
            ("Field_work", {}),
            ("Sheaf_work", {"care": 3}),
            ("Grain_work", {"Grain": "$Grain"}),
            ("Flour_weigh", {"unit": "kg"}),
            ("Flour_work", {"Flour": "$Flour"}),
            ("Dough_work", {"Dough": "$Dough"}),
            ("save", {"loaf": "$Loaf", "weight": 1.5}),
        ],
    ),
]
