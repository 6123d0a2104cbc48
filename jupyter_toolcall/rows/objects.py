"""What a person sees of an object: a node of the graph, and a small picture of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["input", "made", "pending", "output"]


@dataclass(frozen=True, slots=True)
class Preview:
    """A small picture of an object; every part is optional and size-capped."""

    caption: str = ""
    """At most about 24 characters, stands under the object's name in the graph."""
    text: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    image: str = ""
    """A `data:image/…;base64,` address, shown by <img> or <image> alone."""
    glyph: tuple[str, ...] = ()
    """Path data (`d` of <path>) for a 24 by 24 box, drawn in the ink of the theme."""
    html: str = ""
    """Markup of the object's own making: shown in a frame that runs and loads nothing."""
    more: bool = False
    """There is more to see: a live panel may ask for it (`ShowObject`)."""


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """A node of the graph. `id` is unique over all branches, `name` in its branch only."""

    id: str
    name: str
    kind: str
    role: Role = "made"
    step: int = 0
    """The number of the call that made it; 0 for what the session began with."""
    call: str = ""
    """The id of that call's row."""
    column: float = 0
    """Place in the graph: columns go right, 150 units each; never changes once given."""
    lane: float = 0
    """Lanes go down, 122 units each; -1 is above the main line."""
    branch: str = ""
    """Empty on the branch that is shown; else the branch that it is on (drawn pale)."""
    used: bool = False
    """False: an input that no call has used yet; waits at the right."""
    saved: str = ""
    """The name of the output that it was saved as."""
    equals: str = ""
    """The name of an earlier object with the same content."""
    content: str = ""
    """The beginning of the content's digest: two objects of a kind with the same are alike."""
    description: str = ""
    note: str = ""
    """Such as: not reproducible; passed as it is, since it can't be copied."""
    outdated: str = ""
    """Why it would come out otherwise today, where it would."""
    preview: Preview = Preview()
