"""A session as it can be read: all that there is to ask of it, and to take home."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import comparing
from ..acts import by_hand, keeping, outdated, records
from ..acts.records import CallRecord
from ..branches import naming
from ..branches.branch import branches
from ..comparing import Comparison
from ..errors import UsageError
from ..events import Usage
from ..journal.tree import Journal
from ..lineage import Graph, lineage
from ..loop import Cursor
from ..state.shape import State
from ..tools import Toolbox
from ..view.exchanges import Exchange, exchanges
from ..view.saving import bundle
from ..view.watch import standing

if TYPE_CHECKING:
    from ..why import Explanation


class Record:
    """What a session is at one head of its journal. Nothing here writes to the journal."""

    name: str
    cursor: Cursor

    @property
    def branches(self) -> tuple[str, ...]:
        """The heads of all branches, oldest first."""
        return self.cursor.desk.journal.leaves()

    @property
    def branch(self) -> str:
        """The name of the branch that this session is on."""
        return naming.current(self.journal, self.head).name

    @property
    def branch_names(self) -> Mapping[str, str]:
        """The heads of the branches by name, oldest first, those that are hidden too."""
        return {each.name: each.head for each in branches(self.journal, self.head)}

    @property
    def head(self) -> str:
        return self.cursor.head

    @property
    def journal(self) -> Journal:
        return self.cursor.desk.journal

    @property
    def toolbox(self) -> Toolbox:
        return self.cursor.desk.toolbox

    @property
    def state(self) -> State:
        return self.cursor.state

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Every call in order, the scheme's own too."""
        return records.calls(self.cursor)

    @property
    def pending(self) -> tuple[CallRecord, ...]:
        """The calls that wait for a person as they would run, the one to decide first."""
        return records.pending(self.cursor)

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of all objects, oldest first."""
        return tuple(self.state.names)

    @property
    def outputs(self) -> Mapping[str, Any]:
        """What was saved, by name."""
        return records.outputs(self.cursor)

    @property
    def usage(self) -> Usage:
        """The tokens of this branch."""
        return self.state.usage

    @property
    def requests(self) -> tuple[Exchange, ...]:
        """The turns of this branch: each request as the model got it, and what came back."""
        return tuple(exchanges(self.cursor))

    @property
    def graph(self) -> Graph:
        """The lineage of this branch's objects."""
        return lineage(self.state)

    @property
    def text(self) -> str:
        """What the model said last."""
        return self.state.said

    def __getitem__(self, name: str) -> Any:
        """Return a copy of the value of an object.

        Raises CallError for a name that there is not, Absent where the value is not here.
        """
        return records.value(self.cursor, name)

    def deps(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that an object was made from, nearest first; with `all` their own too.

        Raises UsageError, which names the nearest, for a name that there is not.
        """
        return self.graph.deps(records.known_object(self.state, name), all=all)

    def users(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that were made from an object; as `deps`, the other way."""
        return self.graph.users(records.known_object(self.state, name), all=all)

    def why(self, name: Any) -> Explanation:
        """Return why an object, an output or a call is there: in words, and as code.

        Raises UsageError, which names the nearest, for a name that there is not.
        """
        home = import_module("..export", __package__)
        told = import_module("..why", __package__)
        said: Explanation = told.explain(home.take(self.cursor, self.name), id_of(name))
        return said

    @property
    def tool_calls(self) -> tuple[CallRecord, ...]:
        """The calls of the last reply that have no result yet, in call order."""
        return by_hand.tool_calls(self.cursor)

    def outdated(self) -> outdated.Report:
        """Return what would come out otherwise today, and why: calls, and what they made.

        A tool, or a helper that it calls, was changed since it ran, or an input has other
        content. `replay` runs these calls again, and no others.
        """
        self.cursor.look_again()
        return outdated.report(self.cursor.desk, self.state)

    def came_out(self) -> Comparison:
        """Return how a replay, on the right, differs from what it says again, on the left."""
        return comparing.came_out(self.cursor)

    def diff(self, other: Record | str | None = None) -> Comparison:
        """Compare this branch with another one, call by call and object by object.

        `other` is a session, or the name or head of a branch; None is the branch that this
        one left. What stands on the left is the other. Raises UsageError where there is none.
        """
        return comparing.diff(self.cursor, other.cursor if isinstance(other, Record) else other)

    def save(self, path: str | Path) -> None:
        """Write the journal as JSON Lines.

        The values of what was dear, or must not run a second time, are kept on this machine.
        """
        keeping.save(self.cursor, path)

    def export(self, path: str | Path, to: str | None = None, *, force: bool = False) -> Path:
        """Write this branch to a file, and return its path.

        `to` is py, ipynb, html, dot, svg, json or messages; without it the file's ending says
        which. A file that is there is overwritten where an export made it and nobody changed
        it since, or with `force`. Raises UsageError.
        """
        home = import_module("..export", __package__)
        done: Path = home.export(home.take(self.cursor, self.name), path, to, force)
        return done

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Show the session as a notebook keeps it."""
        return bundle(self.cursor, standing(self.cursor, self.name), None)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<Session{name}: {len(self.state.order)} calls, {len(self.state.names)} objects>"


def id_of(call: Any) -> str:
    """A call may be given as its id, or as itself. Raises UsageError for anything else."""
    found = call if isinstance(call, str) else getattr(call, "id", None)
    if not isinstance(found, str):
        raise UsageError(f"{call!r:.60} is no call; give one of session.calls, or its id")
    return found
