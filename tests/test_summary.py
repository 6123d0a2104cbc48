"""The line below the picture of a session: what a person changed is told where there is room."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.models import Scripted
from jupyter_toolcall.view.saving import MIME


def test_the_line_below_the_picture_says_which_value_took_which_ones_place() -> None:
    model = Scripted([("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."])
    inputs = {"potato": Potato(), "sink": Sink()}
    session = Session(Toolbox(Potato), model, scheme="flat", inputs=inputs, approve="all")
    session.tell("Cut it.")
    edited = session.edit(session.calls[-1], shape="SLICES").run()
    shown = edited._repr_mimebundle_()
    assert 'call 2 edited: shape "SLICES" for "STICKS"' in shown["text/plain"]
    assert "call 2 edited" in shown["image/svg+xml"]


@dataclass(frozen=True)
class Card:
    """Who it is for."""

    name: str


def write(name: str) -> Card:
    """Write a card."""
    return Card(name)


def send(card: Card) -> str:
    """Send a card."""
    return f"sent to {card.name}"


def test_letters_of_any_language_are_seen_as_they_are() -> None:
    model = Scripted([("write", {"name": "José"}), "Done."])
    session = Session(Toolbox(write, send, types=[Card]), model, scheme="flat", approve="all").tell(
        "Write."
    )
    edited = session.edit(session.calls[-1], name="小红 😀").run()
    shown = edited._repr_mimebundle_()
    assert 'call 1 edited: name "小红 😀" for "José"' in shown["text/plain"]
    [card] = [row for row in shown[MIME]["rows"]["objects"] if not row.get("branch")]
    assert card["preview"]["fields"] == [["name", '"小红 😀"']]
    told = " ".join(row["text"] for row in shown[MIME]["rows"]["messages"])
    assert "小红 😀" in told
    assert "\\u" not in told
