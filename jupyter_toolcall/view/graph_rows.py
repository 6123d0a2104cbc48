"""The drawing of a session's objects and calls: what stands where, as Graphviz laid it out.

A drawing is complete: whoever shows it draws the nodes and edges as they are, and places nothing.
Lengths are CSS pixels from the upper left corner; y goes down.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..core.rows import Row, Text

Ended = Literal["failed", "rejected", "answered", "interrupted", "unknown"]
NodeState = Literal["ran", "waits", "approved", "running", Ended]


class GraphNode(Row):
    """A box (an object, or a fold of calls) or a pill (a call), with a row of its own.

    A fold stands for a chain of calls; one that no line leaves, for all that have no room. A
    reference is a small box for an object that is drawn in another row of the drawing. The name
    of a branch stands above its rows, where there are several branches.
    """

    kind: Literal["object", "call", "fold", "reference", "branch"] = "object"
    row: str = ""
    """The id of its ObjectRow, CallRow or BranchRow; of a fold that of its last call."""
    x: float = 0
    """Of its centre, like y."""
    y: float = 0
    width: float = 112
    height: float = 84
    label: Text = ""
    """`DataFrame#4`, `4 mean = 2327.5`, `calls 3-19`."""
    detail: Text = ""
    """The second line: of an object what it is, of a call its arguments without objects."""
    state: NodeState = "ran"
    """Of the call; of an object that of the call that makes it."""
    edited: bool = False
    stale: bool = False
    """The call, or the object, would come out otherwise today: it is outdated."""
    muted: bool = False
    """Only other branches have it."""
    dashed: bool = False
    """It does not exist yet: it would be made, or is to be saved."""
    flag: str = ""
    """The name of the output that the object is saved as."""
    input: bool = False

    @property
    def is_unsaved_output(self) -> bool:
        return self.dashed and self.flag != ""


class GraphEdge(Row):
    """From an object to a call that takes it, or from a call to an object that it made.

    There is at most one from a node to another.
    """

    tail: int
    """The place of a node among the nodes, like head."""
    head: int
    path: Annotated[str, Field(pattern=r"^[Mch\d\s.,-]*$")] = ""
    """SVG path data of the whole line, from the head back to the tail: it begins at the tip. ""
    from an object to a reference to it, where no line is drawn."""
    label: str = ""
    """The name of the argument, where the call takes two or more objects."""
    label_x: float = 0
    """Of the label's centre, like label_y."""
    label_y: float = 0
    muted: bool = False
    dashed: bool = False


class GraphRow(Row):
    """The drawing. There is one, with id `graph`."""

    id: str = "graph"
    width: float = 0
    height: float = 0
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    until: int = 0
    """The number of the last call that is drawn; 0 is the newest."""
    earlier: int = 0
    """How many calls up to there are not drawn."""
    selected: str = ""
    """The id of the row whose ancestors are drawn too."""
    compact: bool = False
    """Whether objects are drawn by their names alone."""
    error: Text = ""
    """Why nothing is drawn, in one line."""
