"""What panels are sent, and what a notebook keeps: notices, a closed union, bring rows to a panel,
table by table. The commands that a panel sends are in `jupyter/panel_commands.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, dataclass_transform

from ..compare.comparison_rows import ComparisonRow, DifferenceRow, PartRow
from ..core.rows import Row, Text
from ..engine.cursor import ExtensionRow
from . import contract_rows as rows
from .decision_contract import RuleOffer
from .graph_rows import GraphRow

VERSION = 4
"""Of what panels are sent and notebooks keep. In version 1 a notebook's rows were no texts; before
version 3 there was no drawing, and before version 4 its edges named nodes by ids."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Message:
    """Base of notices and commands: each subclass is a frozen dataclass.

    Its field `type`, which tells it from the others, is its name: `draw_graph` is `DrawGraph`.
    """

    type: str

    def __init_subclass__(cls) -> None:
        """Make a dataclass with a `type` of a subclass."""
        cls.type = re.sub("(?<=.)(?=[A-Z])", "_", cls.__name__).lower()
        cls.__annotations__["type"] = Literal[cls.type]
        dataclass(frozen=True)(cls)


class Drop(Row):
    """A row to drop."""

    table: Literal["objects", "branches", "comparisons"]
    id: str


class Rows(Row):
    """Rows to put, table by table, and rows to drop."""

    session: tuple[rows.SessionRow, ...] = ()
    calls: tuple[rows.CallRow, ...] = ()
    objects: tuple[rows.ObjectRow, ...] = ()
    tools: tuple[rows.ToolRow, ...] = ()
    messages: tuple[rows.MessageRow, ...] = ()
    turns: tuple[rows.TurnRow, ...] = ()
    branches: tuple[rows.BranchRow, ...] = ()
    comparisons: tuple[ComparisonRow, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()
    graph: tuple[GraphRow, ...] = ()
    extensions: tuple[ExtensionRow, ...] = ()
    drop: tuple[Drop, ...] = ()


class Whole(Message):
    """Everything that there is to see: sent when a panel connects."""

    rows: Rows
    live: bool = True
    version: int = VERSION


class Delta(Message):
    """The rows that changed since the last message; after a gap in `number` the panel asks for all
    rows."""

    rows: Rows
    number: int


class Refused(Message):
    """A command was not carried out; `fields` says which arguments are wrong, and how.

    Without a reason: what was refused before may be possible by now.
    """

    command: str
    reason: Text
    fields: Mapping[str, str] = field(default_factory=dict)


class Shown(Message):
    """The request of a turn, exactly as it goes to the model: JSON as text."""

    turn: int
    text: str


class Exported(Message):
    """The session as a text of a format that it can be exported to."""

    to: str
    text: str
    name: str = ""
    """The name of the file, without its ending: of the notebook and of the session."""


class Displayed(Message):
    """An object as large as may be: what its row's preview had no room for."""

    object: str
    """The id of its row."""
    preview: rows.Preview


class Offered(Message):
    """The rules that would decide on calls like a waiting one."""

    call: str
    offers: tuple[RuleOffer, ...]


class Previewed(Message):
    """What a call would do that waits: it ran on copies, and nothing is recorded."""

    call: str
    approval_digest: str = ""
    """The digest of exactly what ran."""
    number: int = 0
    """0 for the call as it waits, else the number of the request of the form `Edit`."""
    says: Text = ""
    """What it changes: `removes 5 rows`."""
    error: Text = ""
    """Why there is no preview, or why the call would fail."""
    parts: tuple[PartRow, ...] = ()
    """The rows and cells that it changes."""
    object: rows.Preview = rows.Preview()
    """What it makes, where no part shows that."""


Notice = Whole | Delta | Refused | Shown | Exported | Displayed | Offered | Previewed


class Saved(Row):
    """The notebook output (application/vnd.jupyter-toolcall.session+json)."""

    rows: Mapping[str, list[str]]
    """The tables of `Rows`, each row as a JSON text."""
    journal: Mapping[str, Any]
    version: int = VERSION
