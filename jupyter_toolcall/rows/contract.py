"""What a person sees, as rows: the contract with the panel and the saved notebook, in one place.

Nothing is written here: each kind of row has a file beside this one, where only frozen
dataclasses live. The panel's TypeScript types are generated from
them (`labextension/src/generated/contract.ts`). A row is known by its `id` in its
table; a later row with the same id takes its place. A field that is left out on the
wire has the default that stands there; but what a delta tells again of the session, of a
call or of an object is its id and what has changed. Every string is data from models, tools
and files: it is shown as text, never as markup.
"""

from .branches import BranchRow, CellPair, DifferenceRow, LinePair, PartRow
from .calls import CallRow, CallStatus, ToolRow, Use
from .commands import (
    Anew,
    Answer,
    Approve,
    ApproveAll,
    Break,
    Check,
    Checkout,
    Command,
    Compare,
    Draft,
    Edit,
    Export,
    Fork,
    Guess,
    Hello,
    HideBranch,
    NameBranch,
    Reject,
    Replay,
    Run,
    Say,
    ShowObject,
    ShowRequest,
    SkipGuess,
    Step,
    Stop,
    Tidy,
)
from .messages import MessageRow, TurnRow
from .notices import (
    VERSION,
    Delta,
    Displayed,
    Exported,
    Notice,
    Refused,
    Row,
    Rows,
    Saved,
    Shown,
    Whole,
)
from .objects import ObjectRow, Preview, Role
from .playing import GuessRow, Mark, Task, Told, Written, YourTurn
from .session import Phase, SessionRow

__all__ = [
    "VERSION",
    "Anew",
    "Answer",
    "Approve",
    "ApproveAll",
    "BranchRow",
    "Break",
    "CallRow",
    "CallStatus",
    "CellPair",
    "Check",
    "Checkout",
    "Command",
    "Compare",
    "Delta",
    "DifferenceRow",
    "Displayed",
    "Draft",
    "Edit",
    "Export",
    "Exported",
    "Fork",
    "Guess",
    "GuessRow",
    "Hello",
    "HideBranch",
    "LinePair",
    "Mark",
    "MessageRow",
    "NameBranch",
    "Notice",
    "ObjectRow",
    "PartRow",
    "Phase",
    "Preview",
    "Refused",
    "Reject",
    "Replay",
    "Role",
    "Row",
    "Rows",
    "Run",
    "Saved",
    "Say",
    "SessionRow",
    "ShowObject",
    "ShowRequest",
    "Shown",
    "SkipGuess",
    "Step",
    "Stop",
    "Task",
    "Tidy",
    "Told",
    "ToolRow",
    "TurnRow",
    "Use",
    "Whole",
    "Written",
    "YourTurn",
]
