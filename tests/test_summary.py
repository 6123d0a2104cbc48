"""The line below the picture of a session: what a person changed is told where there is room."""

from __future__ import annotations

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.models import Scripted


def test_the_line_below_the_picture_says_which_value_took_which_ones_place() -> None:
    model = Scripted([("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."])
    inputs = {"potato": Potato(), "sink": Sink()}
    session = Session(Toolbox(Potato), model, scheme="flat", inputs=inputs, approve="all")
    session.tell("Cut it.")
    edited = session.edit(session.calls[-1], shape="SLICES").run()
    shown = edited._repr_mimebundle_()
    assert 'call 2 edited: shape "SLICES" for "STICKS"' in shown["text/plain"]
    assert "call 2 edited" in shown["image/svg+xml"]
