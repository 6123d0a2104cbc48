"""Lives of a kernel: each opens the notebook's session, goes on where it was, and may die."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import NotKept, UnreadableJournal
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.storage.file_system import Files
from tests.faults.world import Model, Outside, Story, nothing, toolbox

Result = TypeVar("Result")


class StillBroken(Exception):
    """A session does not go on: its disk takes nothing, whatever the person does."""


@dataclass
class Setting:
    """What all lives of a process have: the tools, made once, and what is outside."""

    outside: Outside = field(default_factory=Outside)
    box: Toolbox = field(init=False)

    def __post_init__(self) -> None:
        self.box = toolbox(self.outside)


@dataclass(frozen=True)
class Life:
    """One kernel, and the person in front of it."""

    story: Story
    setting: Setting
    notebook: str
    files: Files
    mend: Callable[[], None] = nothing
    """What the person does about a disk that takes nothing."""

    def live(self) -> tuple[Session, Cells]:
        """Run the cell to its end; return its session, and its kernel, which is still there."""
        cells = Cells(self.notebook, files=self.files)
        model = Model(Scripted(self.story.script), self.setting.outside.note)
        variables = {"box": self.setting.box, "model": model}
        chosen = _chosen(self.story.line)
        session = self._insist(
            lambda: add_prompt(cells.session(chosen, variables), "Go.", fresh=False)
        )
        self._insist(session.run)
        while session.pending:
            self._insist(functools.partial(self._decide, session, session.pending[0]))
            self._insist(session.run)
        return session, cells

    def _decide(self, session: Session, call: CallRecord) -> None:
        if call.waits_for_input:
            session.decide(call, "answer")
            return
        verdict, how = self.story.verdicts.get(call.arguments["n"], ("approve", {}))
        if call.status == "unknown":
            verdict, how = "approve", {}
        allows, outside = verdict in ("approve", "edit"), self.setting.outside
        n = how.get("arguments", call.arguments)["n"]
        if allows:
            outside.note(f"approve {n}")
        session.decide(call, verdict, **how)
        if allows:
            outside.note(f"taken {n} {outside.on_disk()[1]}")

    def _insist(self, act: Callable[[], Result]) -> Result:
        for _ in range(4):
            try:
                return act()
            except (NotKept, UnreadableJournal):
                self.mend()
        raise StillBroken


_chosen = functools.cache(parse_options)
