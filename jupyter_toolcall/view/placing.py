"""Where in the graph what a call made stands, or the call that made nothing."""

from __future__ import annotations

from dataclasses import replace

from ..drawing.layout import Layout, beside, place
from ..rows.contract import CallRow
from ..state.call import CallState
from .seen import Seen, key_of

NOTHING = ("failed", "rejected", "interrupted")
"""How a call stands that made nothing, and yet is to be seen in the graph."""


def placed(layout: Layout, call: CallState, row: CallRow, seen: Seen) -> Layout:
    """Return the layout in which what a call made, will make, or failed to make has its place."""
    main = next((use.object for use in row.uses if use.receiver), "")
    uses = [use.object for use in row.uses]
    inputs = {use.object for use in row.uses if use.input}
    if row.status in NOTHING and not row.object:
        return beside(layout, f"call:{row.id}", uses, main, inputs)
    made = [key_of(made.producer, seen) for made in call.produced]
    for key in made or ([row.object] if row.object and call.outcome is None else []):
        if key not in uses:
            layout = place(layout, key, uses, main, inputs)
    return layout


def standing_at(row: CallRow, layout: Layout) -> CallRow:
    """Return a call's row with the place of a call that came to nothing."""
    spot = layout.places.get(f"call:{row.id}")
    return row if spot is None else replace(row, column=spot[0], lane=spot[1])
