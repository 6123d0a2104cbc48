"""A person's word in every order: twice, late, stale, forged; over forks, edits, replays, crashes.

A random walk over a session and its panel. What the walk holds against the session is one
count: how often a person's word, as it was shown then, was taken for a call.
"""

from __future__ import annotations

import contextlib
import random
import traceback
from collections import Counter
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder
from jupyter_toolcall.view.contract import Notice, Refused
from tests.faults import laws
from tests.faults.lives import Setting
from tests.faults.places import data_directory
from tests.faults.platter import Platter, empty
from tests.faults.tally import Tally, cpu

NOTEBOOK = "/decisions.ipynb"
LINE = "-m model -t box --scheme flat --approve ask"
LOOK = 2
"""The last digit of the calls that need nobody's word."""
SETTING = Setting()
TALLY = Tally("decisions")


@dataclass
class Model:
    """Says the same in each turn: a call, three calls, or a word that ends the run."""

    name: str = "model"

    def __call__(self, request: Request) -> Reply:
        turn = request.turn
        tools = ((), ("send",), ("send", "Till_add", "look"))[(turn + 1) % 3]
        calls = tuple(
            Call(f"call_{turn}_{n}", tool, {"n": turn * 10 + n}) for n, tool in enumerate(tools)
        )
        return Reply("" if calls else "done", calls, "tools" if calls else "end")


class Decisions(RuleBasedStateMachine):
    """A notebook of one kernel at a time, its panel, and a person whose messages may go astray."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = empty(journals_folder())
        self.prompts: list[str] = []
        self.sent: list[Mapping[str, Any]] = []
        self.allowed: Counter[int] = Counter()
        self.effects: Counter[int] = Counter()
        self.dead: Platter | None = None
        """The disk as it was when the kernel died in a tool, which it does not know yet."""
        self.dies = False
        self._shown: tuple[Any, list[Any]] = None, []
        self._checked: Any = None
        SETTING.outside.note = self.note
        self.start()

    # -- a kernel -----------------------------------------------------------------------

    def start(self) -> None:
        """Open the notebook in a new kernel, and run its cells again."""
        self.cells = Cells(NOTEBOOK, files=self.disk)
        variables = {"box": SETTING.box, "model": Model()}
        self.session = self.cells.session(parse_options(LINE), variables)
        self.told: list[Notice] = []
        self.drive = PanelController(self.session, self.told.append)
        for prompt in self.prompts:
            if self.drive.session.state.open or not self.said(prompt, fresh=False):
                break

    def said(self, prompt: str, fresh: bool) -> bool:
        self.drive.session = add_prompt(self.drive.session, prompt, fresh)
        self.go()
        return not self.drive.session.state.open

    def go(self, *messages: Mapping[str, Any]) -> bool:
        """Let the panel say so, go on to the next pause; return whether all of it was taken."""
        before = len(self.told)
        for message in messages:
            self.drive.receive(dict(message))
        with contextlib.suppress(ToolcallError):
            _now(self.drive.resume()) if messages else self.drive.run_to_pause()
        if self.dead is not None:
            self.disk, self.dead, self.dies = self.dead, None, False
            self.start()
        return not any(isinstance(notice, Refused) for notice in self.told[before:])

    def note(self, line: str) -> None:
        """A tool has its effect, while there is a kernel; it may be the last thing it does."""
        word, n, *_ = line.split()
        if word != "effect" or self.dead is not None:
            return
        self.effects[int(n)] += 1
        if self.dies:
            self.dead = Platter(
                {*self.disk.folders}, set(), dict(self.disk.now), dict(self.disk.now)
            )

    # -- what the person does -------------------------------------------------------------

    @property
    def waiting(self) -> list[Any]:
        """The rows of the calls that wait, as the panel shows them."""
        at = id(self.drive), self.drive.session.head, len(self.drive.session.journal)
        if self._shown[0] != at:
            waits = {call.id for call in self.drive.session.pending}
            rows = self.drive.whole().calls if waits else ()
            self._shown = at, [row for row in rows if row.call in waits and row.bound]
        return self._shown[1]

    def word(self, message: Mapping[str, Any], n: int) -> None:
        """Say something for the first time; where it is taken, so much is allowed."""
        self.sent.append(message)
        self.take(message, n)

    def take(self, message: Mapping[str, Any], n: int) -> None:
        # What is allowed counts from before, since its effect comes with it.
        self.allowed[n] += 1
        if not self.go(message):
            self.allowed[n] -= 1

    @precondition(lambda self: not self.drive.session.state.open)
    @rule(fresh=st.booleans())
    def ask(self, fresh: bool) -> None:
        self.prompts.append(f"Prompt {len(self.prompts)}.")
        self.said(self.prompts[-1], fresh)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def approve(self, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        n = self.drive.session.state.call(row.call).asked["n"]
        self.word({"type": "approve", "call": row.call, "bound": row.bound}, n)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def approve_and_die(self, data: st.DataObject) -> None:
        """The kernel dies in the tool, behind its effect."""
        self.dies = True
        self.approve(data)
        self.dies = False

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), by=st.sampled_from([0, 1_000]))
    def edit(self, data: st.DataObject, by: int) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        n = self.drive.session.state.call(row.call).asked["n"] + by
        message = {"type": "edit", "call": row.call, "bound": row.bound, "arguments": {"n": n}}
        self.word(message, n)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), verdict=st.sampled_from(["reject", "answer"]))
    def refuse(self, data: st.DataObject, verdict: str) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        more = {"result": "given"} if verdict == "answer" else {"reason": "no"}
        message = {"type": verdict, "call": row.call, "bound": row.bound, **more}
        self.sent.append(message)
        self.go(message)

    # -- what goes astray -----------------------------------------------------------------

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def late(self, data: st.DataObject) -> None:
        """An old message comes again: it counts only where it says what is shown now."""
        message = data.draw(st.sampled_from(self.sent))
        shown = any(
            (row.call, row.bound) == (message["call"], message["bound"]) for row in self.waiting
        )
        known = self.drive.session.state.calls.get(message["call"])
        if message["type"] == "edit":
            # An edit of what has run is another branch, whenever it is said.
            self.take(message, message["arguments"]["n"])
        elif message["type"] == "approve" and shown and known is not None:
            self.take(message, known.asked["n"])
        else:
            self.go(message)

    @precondition(lambda self: self.waiting)
    @rule(
        data=st.data(),
        verdict=st.sampled_from(["approve", "edit", "approve_all"]),
        bound=st.sampled_from(["", "forged", "0" * 32, "other"]),
    )
    def forged(self, data: st.DataObject, verdict: str, bound: str) -> None:
        """What was not shown allows nothing: another bound, another's, one of another call."""
        row = data.draw(st.sampled_from(self.waiting))
        others = [each.bound for each in self.waiting if each.bound != row.bound]
        bound = data.draw(st.sampled_from(others)) if bound == "other" and others else bound
        if not bound or bound == "other":
            bound = "unknown"
        before = self.drive.session.head
        assert not self.go(
            {"type": verdict, "call": row.call, "bound": bound, "arguments": {"n": 7}}
        )
        assert self.drive.session.head == before

    @rule(call=st.sampled_from(["call_99_0", "Potato#1", "", "call_0_0~"]), junk=st.booleans())
    def unheard_of(self, call: str, junk: bool) -> None:
        before = self.drive.session.head
        assert not self.go({"type": "approve", "call": call, **({} if junk else {"bound": "x"})})
        assert self.drive.session.head == before

    # -- another place ----------------------------------------------------------------------

    @precondition(lambda self: self.done)
    @rule(data=st.data(), kind=st.sampled_from(["fork", "replay"]))
    def go_back(self, data: st.DataObject, kind: str) -> None:
        self.go({"type": kind, "call": data.draw(st.sampled_from(self.done))})

    @precondition(lambda self: self.done)
    @rule(data=st.data(), by=st.sampled_from([0, 1_000]))
    def edit_what_ran(self, data: st.DataObject, by: int) -> None:
        call = self.drive.session.state.call(data.draw(st.sampled_from(self.done)))
        n = call.call.arguments["n"] + by
        message = {
            "type": "edit",
            "call": call.id,
            "bound": call.approval_digest,
            "arguments": {"n": n},
        }
        self.word(message, n)

    @rule(data=st.data())
    def checkout(self, data: st.DataObject) -> None:
        heads = self.drive.session.branches
        self.go({"type": "checkout", "branch": data.draw(st.sampled_from(heads))})
        self.go({"type": "run"})

    @property
    def done(self) -> list[str]:
        state = self.drive.session.state
        return [call.id for call in state.all_calls() if call.outcome is not None]

    # -- the kernel dies ---------------------------------------------------------------------

    @rule(closes=st.booleans())
    def restart(self, closes: bool) -> None:
        if closes:
            self.cells.close()
        self.disk.locks.clear()
        self.start()

    # -- what always holds ---------------------------------------------------------------------

    @invariant()
    def no_effect_without_a_word_for_it(self) -> None:
        TALLY.cases += 1
        for n, times in self.effects.items():
            assert times <= self.allowed[n] or n % 10 == LOOK, f"{n}: {times} of {self.allowed[n]}"

    @invariant()
    def the_file_is_the_memory(self) -> None:
        session, text = self.drive.session, self.disk.now[journal_file(NOTEBOOK, "")].decode()
        if self._checked == (text, session.head):
            return
        self._checked = text, session.head
        broken = [*laws.same(session.journal, text, session.head), *laws.names(session.journal)]
        assert not broken, broken


def _where(error: BaseException) -> str:
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} {error} ({last.name}: {last.line})"


def _steps(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ())) or "a walk"


def _now(going: Coroutine[None, None, object]) -> None:
    """Run what awaits nothing but its turn, and nobody else has one."""
    with contextlib.suppress(StopIteration):
        while True:
            going.send(None)


def failure_of(
    machine: type[RuleBasedStateMachine], examples: int, steps: int, number: int
) -> Exception | None:
    """Return what broke in so many walks of so many steps; None where nothing did."""
    random.seed(number)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    try:
        run_state_machine_as_test(seed(number)(machine), settings=chosen)
    except Exception as error:
        return error
    return None


def run(examples: int, steps: int, number: int) -> Tally:
    """Return the outcomes of so many walks of so many steps; a case is a step."""
    began = cpu()
    with data_directory():
        if error := failure_of(Decisions, examples, steps, number):
            TALLY.broken.append({"law": "unapproved", "how": _where(error), "case": _steps(error)})
    TALLY.seconds = cpu() - began
    return TALLY
