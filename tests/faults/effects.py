"""One decision, one effect; and no recorded effect twice unasked: one state machine for both laws.

Persons decide in panels, by line magics and in Python, on notebooks, copies of notebooks and
saved sessions, in several kernels at a time. Kernels die, also inside a tool; keys are lost, the
disk fails, journals are damaged. The ledger counts from outside: in the tools and in the model.
"""

from __future__ import annotations

import contextlib
import functools
import random
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from jupyter_toolcall import Session
from jupyter_toolcall.core.call_record import CallRecord
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.storage.value_store import value_store
from jupyter_toolcall.view.contract_rows import CallRow
from tests.faults import laws
from tests.faults.kernels import BOX, EDITED, OBJECTS, OUTSIDE, Disk, Kernel, Model, Notebook, View
from tests.faults.kernels import inside as inside_of
from tests.faults.permissions import READ_ONLY, Effect, Ledger
from tests.faults.places import data_directory
from tests.faults.tally import Tally, cpu

Item = TypeVar("Item")
TALLY = Tally("effects")
KEY = b"k" * 32
KERNELS = 3
POLICIES = st.sampled_from(["ask", "ask", "all", "all", "read-only"])
INTERFACES = st.sampled_from(["panel", "magic", "python"])


class Plan(NamedTuple):
    """What happens in the next tool that runs, before or after its effect."""

    what: str
    after: bool
    policy: str


class SavedSession(NamedTuple):
    """A session in a file, and the effects that only it records."""

    path: Path
    unrecorded: Counter[Effect]


class Effects(RuleBasedStateMachine):
    """One machine with its notebooks, kernels and files, and the persons who use it."""

    def __init__(self) -> None:
        super().__init__()
        for path in [*journals_folder().rglob("*"), *Path.cwd().glob("*")]:
            if path.is_file():
                path.unlink()
        self.write_key(KEY)
        self.disk, self.ledger = Disk(), Ledger()
        self.model = Model(self.ledger)
        self.running: list[Kernel] = []
        self.plan: Plan | None = None
        self.values_epoch = 0
        """Grows each time that values may have been lost."""
        self.ran: dict[Effect, tuple[int, Kernel]] = {}
        self.sent: list[Mapping[str, Any]] = []
        """The decisions that panels sent."""
        self.undisturbed = True
        """Whether neither the disk nor the key failed: all that a kernel writes is in its file."""
        self.files: list[SavedSession] = []
        self.notebooks = [Notebook("0.ipynb", ["Prompt 0."])]
        self.kernels: list[Kernel] = []
        OUTSIDE.run = self.count
        self.start(self.notebooks[0], "ask")

    # -- kernels --------------------------------------------------------------------------

    def start(self, notebook: Notebook, policy: str) -> Kernel:
        """Open a notebook in a new kernel, and run its cells."""
        kernel = Kernel(notebook, policy, View(self.disk), self.model)
        self.kernels.append(kernel)
        with inside_of(self.running, kernel):
            kernel.run_cells()
        self.end_kernels()
        return kernel

    def end_kernels(self) -> None:
        """Forget dead kernels, and keep the number of the others small."""
        self.kernels = [kernel for kernel in self.kernels if kernel.view.alive]
        while len(self.kernels) > KERNELS and not self.running:
            self.kernels.pop(0).close()

    def choose(self, data: st.DataObject, having: Callable[[Kernel], Any] = bool) -> Kernel:
        return one_of(data, [each for each in self.opened if having(each)])

    @property
    def opened(self) -> list[Kernel]:
        return [kernel for kernel in self.kernels if kernel.drive is not None]

    @property
    def waiting(self) -> list[Kernel]:
        return [kernel for kernel in self.opened if kernel.rows]

    @property
    def with_calls(self) -> list[Kernel]:
        return [kernel for kernel in self.opened if _done(kernel)]

    def settle(self, kernel: Kernel) -> None:
        """Start a new kernel in the place of one that died."""
        if not kernel.view.alive and kernel.notebook.path:
            self.start(kernel.notebook, kernel.policy)
        self.end_kernels()

    # -- what tools tell ------------------------------------------------------------------

    def count(self, effect: Effect) -> None:
        """A tool has its effect, while there is a kernel."""
        kernel = self.running[-1]
        if not kernel.view.alive:
            return
        plan = None
        begun = effect in self.ledger.begun
        self.ledger.begun.add(effect)
        if effect.tool != READ_ONLY:
            plan, self.plan = self.plan, None
        if plan is not None and not plan.after:
            self.carry_out(plan, kernel)
        if kernel.view.alive:
            ran, self.ran[effect] = self.ran.get(effect), (self.values_epoch, kernel)
            kernel.record()
            self.ledger.count(
                effect,
                None if kernel.records else kernel.unrecorded,
                kernel.decisions,
                kernel.policy,
                kernel.fresh,
                begun,
                functools.partial(self.value_is_lost, effect, kernel, ran),
            )
        if plan is not None and plan.after:
            self.carry_out(plan, kernel)

    def value_is_lost(self, effect: Effect, kernel: Kernel, ran: tuple[int, Kernel] | None) -> bool:
        if effect.tool not in OBJECTS or ran is None or not kernel.writes:
            return False
        lost = ran[1] is not kernel if effect.tool == "Box_add" else ran[0] < self.values_epoch
        return lost and kernel.is_verified(effect.n % EDITED)

    def carry_out(self, plan: Plan, kernel: Kernel) -> None:
        """Do inside of a tool what was planned."""
        match plan.what:
            case "die":
                kernel.die()
            case "second" if kernel.notebook.path:
                self.start(kernel.notebook, plan.policy)
            case "copy" if kernel.notebook.path:
                kernel.save()
                self.open_copy(kernel.notebook, kernel.notebook.saved[-1], plan.policy)
            case "load":
                self.load_session(self.save_session(kernel), plan.policy)

    # -- cells ----------------------------------------------------------------------------

    @precondition(lambda self: any(not k.session.state.open for k in self.opened))
    @rule(data=st.data(), fresh=st.booleans())
    def ask(self, data: st.DataObject, fresh: bool) -> None:
        kernel = self.choose(data, lambda kernel: not kernel.session.state.open)
        prompts = kernel.notebook.prompts
        if fresh and prompts:
            prompt = prompts[-1]
        else:
            prompt = f"Prompt {len(prompts)}."
            prompts.append(prompt)
        with inside_of(self.running, kernel):
            kernel.ask(prompt, fresh)
        self.settle(kernel)

    @rule(data=st.data(), fresh=st.booleans())
    def run_cells_again(self, data: st.DataObject, fresh: bool) -> None:
        kernel = one_of(data, self.kernels)
        if not kernel.notebook.path:
            return
        with inside_of(self.running, kernel):
            if not fresh:
                kernel.run_cells()
            elif kernel.open(fresh=True):
                kernel.ask(kernel.notebook.prompts[0], fresh=True)
        self.settle(kernel)

    @precondition(lambda self: self.opened)
    @rule(data=st.data(), interface=INTERFACES)
    def go_on(self, data: st.DataObject, interface: str) -> None:
        kernel = self.choose(data)
        self.act(kernel, interface, {"type": "run"}, ["next"], lambda session: session)

    @rule(repeats=st.booleans())
    def repeat_replies(self, repeats: bool) -> None:
        self.model.repeats = repeats

    # -- decisions ------------------------------------------------------------------------

    def act(
        self,
        kernel: Kernel,
        interface: str,
        message: Mapping[str, Any],
        words: Sequence[str],
        method: Callable[[Session], Session],
        allows: Sequence[Effect] = (),
    ) -> bool:
        """Do one thing by one of the interfaces; where it is taken, it allows these effects."""
        # What is allowed counts from before, since its effect comes with it.
        kernel.decisions.update(allows)
        with inside_of(self.running, kernel):
            if interface == "panel":
                taken = kernel.send(message)
            elif interface == "magic" and words:
                taken = kernel.line(*words)
            else:
                taken = kernel.call(method)
        if not taken and kernel.view.alive:
            kernel.decisions.subtract(allows)
        self.settle(kernel)
        return taken

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=INTERFACES, named=st.booleans())
    def approve(self, data: st.DataObject, interface: str, named: bool) -> None:
        kernel, row, call = self.shown(data)
        message = {"type": "approve", **as_shown(row)}
        self.sent.append(message)
        self.act(
            kernel,
            interface,
            message,
            ["approve", row.call],
            lambda s: s.decide(
                call, "approve", approval_digest=row.approval_digest if named else None
            ),
            [kernel.effect_of(call)],
        )

    @precondition(lambda self: self.waiting)
    @rule(
        data=st.data(),
        interface=INTERFACES,
        what=st.sampled_from(["die", "second", "copy", "load"]),
        after=st.booleans(),
        policy=POLICIES,
    )
    def approve_and_more(
        self, data: st.DataObject, interface: str, what: str, after: bool, policy: str
    ) -> None:
        """Inside of the tool that runs next the kernel dies, or another one opens."""
        self.plan = Plan(what, after, policy)
        self.approve(data, interface, True)
        self.plan = None

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=st.sampled_from(["panel", "python"]))
    def approve_all(self, data: st.DataObject, interface: str) -> None:
        kernel = self.choose(data, lambda kernel: kernel.rows)
        pending = {call.id: call for call in kernel.session.pending}
        rows = [row for row in kernel.rows if row.approval_digest and row.call in pending]
        calls = [as_shown(row) for row in rows]
        self.act(
            kernel,
            interface,
            {"type": "approve_all", "calls": calls},
            [],
            lambda s: s.approve_all({row.call: row.approval_digest for row in rows}),
            [kernel.effect_of(pending[row.call]) for row in rows],
        )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=INTERFACES, by=st.sampled_from([0, EDITED]))
    def edit(self, data: st.DataObject, interface: str, by: int) -> None:
        kernel, row, call = self.shown(data)
        arguments = {**call.arguments, "n": call.arguments["n"] + by}
        message = {"type": "edit", **as_shown(row), "arguments": arguments}
        self.sent.append(message)
        self.act(
            kernel,
            interface,
            message,
            ["edit", row.call, f"n={arguments['n']}"],
            lambda s: s.decide(
                call, "edit", arguments=arguments, approval_digest=row.approval_digest
            ),
            [kernel.effect_of(call, arguments["n"])],
        )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=INTERFACES, rejects=st.booleans())
    def refuse(self, data: st.DataObject, interface: str, rejects: bool) -> None:
        kernel, row, call = self.shown(data)
        result = 5 if call.tool in OBJECTS else "given"
        message = {"type": "answer", **as_shown(row), "result": result}
        if rejects:
            message = {"type": "reject", **as_shown(row), "reason": "no"}
        self.sent.append(message)
        self.act(
            kernel,
            interface,
            message,
            ["reject", row.call] if rejects else ["answer", row.call, str(result)],
            lambda s: s.decide(
                call,
                "reject" if rejects else "answer",
                result=result,
                approval_digest=row.approval_digest,
            ),
        )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=INTERFACES, rest=st.booleans())
    def keep_result(self, data: st.DataObject, interface: str, rest: bool) -> None:
        kernel, row, call = self.shown(data)
        self.act(
            kernel,
            interface,
            {"type": "keep_result", **as_shown(row), "rest": rest},
            ["keep", row.call, *(["--rest"] if rest else [])],
            lambda s: s.keep_result(call, approval_digest=row.approval_digest, rest=rest),
        )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), interface=st.sampled_from(["panel", "python"]))
    def begin_new(self, data: st.DataObject, interface: str) -> None:
        kernel = self.choose(data, lambda kernel: kernel.rows)
        kernel.fresh = False
        self.act(kernel, interface, {"type": "begin_new"}, [], Session.begin_new)

    def shown(self, data: st.DataObject) -> tuple[Kernel, CallRow, CallRecord]:
        """Draw a call that waits, as it is shown."""
        kernel = self.choose(data, lambda kernel: kernel.rows)
        row = one_of(data, kernel.rows)
        return kernel, row, next(c for c in kernel.session.pending if c.id == row.call)

    # -- decisions that are late, double or forged ------------------------------------------

    @precondition(lambda self: self.sent and self.opened)
    @rule(data=st.data())
    def late(self, data: st.DataObject) -> None:
        """An old command comes again, perhaps to another panel: it counts if it fits there."""
        kernel, message = self.choose(data), one_of(data, self.sent)
        kind = message["type"]
        call = kernel.call_as_shown(message["call"], message["approval_digest"])
        allows: list[Effect] = []
        if call is not None and kind == "approve":
            allows = [kernel.effect_of(call)]
        elif call is not None and kind == "edit":
            allows = [kernel.effect_of(call, message["arguments"]["n"])]
        taken = self.act(kernel, "panel", message, [], lambda s: s, allows)
        assert not taken or allows or kind in ("reject", "answer"), message

    @precondition(lambda self: self.waiting)
    @rule(
        data=st.data(),
        verdict=st.sampled_from(
            ["approve", "edit", "reject", "answer", "approve_all", "keep_result"]
        ),
        digest=st.sampled_from(["", "forged", "0" * 32, "another call's"]),
        panel=st.booleans(),
    )
    def forged(self, data: st.DataObject, verdict: str, digest: str, panel: bool) -> None:
        """A decision with another digest than the shown one is refused, and nothing runs."""
        kernel, row, call = self.shown(data)
        others = [
            each.approval_digest
            for each in kernel.rows
            if each.approval_digest not in ("", row.approval_digest)
        ]
        if digest == "another call's" and others:
            digest = others[0]
        if digest == row.approval_digest:
            return
        message: dict[str, Any] = {"type": verdict, "call": row.call, "approval_digest": digest}
        message |= {"arguments": call.arguments} if verdict == "edit" else {}
        message |= {"result": 5} if verdict == "answer" else {}
        fine = [as_shown(r) for r in kernel.rows if r.call != row.call]
        if verdict == "approve_all":
            message = {
                "type": verdict,
                "calls": [*fine, {"call": row.call, "approval_digest": digest}],
            }
        before, effects = kernel.session.head, self.ledger.total

        def method(session: Session) -> Session:
            if verdict == "approve_all":
                return session.approve_all(
                    {each["call"]: each["approval_digest"] for each in message["calls"]}
                )
            if verdict == "keep_result":
                return session.keep_result(call, approval_digest=digest)
            word: Any = verdict
            arguments = call.arguments if verdict == "edit" else None
            return session.decide(call, word, arguments=arguments, result=5, approval_digest=digest)

        interface = "panel" if panel else "python"
        assert not self.act(kernel, interface, message, [], method), message
        assert self.ledger.total == effects
        assert not kernel.view.alive or kernel.session.head == before

    @precondition(lambda self: self.opened)
    @rule(
        data=st.data(),
        call=st.sampled_from(["call_99_0", "Potato#1", "", "call_0_0~"]),
        digest=st.booleans(),
    )
    def unheard_of(self, data: st.DataObject, call: str, digest: bool) -> None:
        """A decision on a call that there is not is refused, and nothing runs."""
        kernel = self.choose(data)
        before, effects = kernel.session.head, self.ledger.total
        message = {"type": "approve", "call": call, **({"approval_digest": "x"} if digest else {})}
        assert not self.act(kernel, "panel", message, [], lambda s: s)
        assert self.ledger.total == effects
        assert kernel.session.head == before

    # -- branches -------------------------------------------------------------------------

    @precondition(lambda self: self.with_calls)
    @rule(
        data=st.data(),
        interface=INTERFACES,
        kind=st.sampled_from(["fork", "fork", "replay", "replay", "ask", "fresh"]),
    )
    def go_back(self, data: st.DataObject, interface: str, kind: str) -> None:
        kernel = self.choose(data, _done)
        call = one_of(data, _done(kernel))
        kernel.fresh = kind == "fresh"
        match kind:
            case "ask":
                turn = kernel.session.state.call(call.id).turn
                self.act(kernel, "panel", {"type": "ask", "turn": turn}, [], lambda s: s)
            case "fork" | "replay":
                self.act(
                    kernel,
                    interface,
                    {"type": kind, "call": call.id},
                    [kind, call.id],
                    lambda s: getattr(s, kind)(call),
                )
                self.act(kernel, interface, {"type": "run"}, ["next"], lambda s: s)
            case "fresh":
                interface = "magic" if interface == "magic" else "python"
                words = ["replay", "--fresh"]
                self.act(kernel, interface, {}, words, lambda s: s.replay(fresh=True))

    @precondition(lambda self: self.with_calls)
    @rule(data=st.data(), interface=INTERFACES, by=st.sampled_from([0, EDITED]))
    def edit_what_ran(self, data: st.DataObject, interface: str, by: int) -> None:
        kernel = self.choose(data, _done)
        call = one_of(data, _done(kernel))
        n = call.arguments["n"] + by
        digest = kernel.session.state.call(call.id).approval_digest
        arguments = {**call.arguments, "n": n}
        message = {
            "type": "edit",
            "call": call.id,
            "approval_digest": digest,
            "arguments": arguments,
        }
        self.sent.append(message)
        kernel.fresh = False
        self.act(
            kernel,
            interface,
            message,
            ["edit", call.id, f"n={n}"],
            lambda s: s.edit(call, n=n),
            [kernel.effect_of(call, n)],
        )

    @precondition(lambda self: self.with_calls)
    @rule(data=st.data(), interface=st.sampled_from(["magic", "python"]))
    def run_again(self, data: st.DataObject, interface: str) -> None:
        """Approve what the model asked for, of a call that has its result: that is a new branch."""
        kernel = self.choose(data, _done)
        call = one_of(data, _done(kernel))
        n = kernel.session.state.call(call.id).call.arguments["n"]
        kernel.fresh = False
        self.act(
            kernel,
            interface,
            {},
            ["approve", call.id],
            lambda s: s.decide_anew(call, "approve"),
            [kernel.effect_of(call, n)],
        )

    @precondition(lambda self: self.opened)
    @rule(data=st.data(), interface=INTERFACES, anywhere=st.booleans())
    def checkout(self, data: st.DataObject, interface: str, anywhere: bool) -> None:
        kernel = self.choose(data)
        journal = kernel.session.journal
        heads = [entry.id for entry in journal] if anywhere else kernel.session.branches
        head = one_of(data, heads)
        kernel.fresh = False
        self.act(
            kernel,
            "python" if interface == "magic" else interface,
            {"type": "checkout", "branch": head},
            [],
            lambda s: s.checkout(head),
        )
        self.act(kernel, interface, {"type": "run"}, ["next"], lambda s: s)

    # -- copies and saved sessions ------------------------------------------------------------

    @precondition(lambda self: any(k.notebook.path for k in self.opened))
    @rule(data=st.data())
    def save_notebook(self, data: st.DataObject) -> None:
        self.choose(data, lambda kernel: kernel.notebook.path).save()

    @precondition(lambda self: any(n.saved for n in self.notebooks))
    @rule(data=st.data(), policy=POLICIES)
    def copy_notebook(self, data: st.DataObject, policy: str) -> None:
        """Open a copy of a notebook as it was saved last, or before that."""
        notebook = one_of(data, [n for n in self.notebooks if n.saved])
        self.open_copy(notebook, one_of(data, notebook.saved), policy)

    def open_copy(self, notebook: Notebook, text: str, policy: str) -> None:
        copy = Notebook(f"{len(self.notebooks)}.ipynb", [*notebook.prompts], saved=[text])
        Path(copy.path).write_text(text)
        self.notebooks.append(copy)
        self.start(copy, policy)

    @precondition(lambda self: self.opened)
    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        self.save_session(self.choose(data))

    def save_session(self, kernel: Kernel) -> SavedSession:
        saved = SavedSession(Path(f"{len(self.files)}.jsonl"), Counter(kernel.unrecorded))
        kernel.session.save(saved.path)
        self.files.append(saved)
        return saved

    @precondition(lambda self: self.files)
    @rule(data=st.data(), policy=POLICIES)
    def load(self, data: st.DataObject, policy: str) -> None:
        self.load_session(one_of(data, self.files), policy)

    def load_session(self, saved: SavedSession, policy: str) -> None:
        kernel = Kernel(Notebook("", ["Prompt 0."]), policy, View(self.disk), self.model)
        try:
            session = Session.load(saved.path, BOX, self.model, approve=policy)
        except ToolcallError:
            return
        kernel.show(session)
        kernel.unrecorded.update(saved.unrecorded)
        self.kernels.append(kernel)
        with inside_of(self.running, kernel):
            kernel.call(lambda session: session)
        self.end_kernels()

    # -- kernels end and begin ----------------------------------------------------------------

    @rule(data=st.data(), closes=st.booleans(), policy=POLICIES)
    def restart(self, data: st.DataObject, closes: bool, policy: str) -> None:
        kernel = one_of(data, self.kernels)
        kernel.close() if closes else kernel.die()
        self.start(kernel.notebook if kernel.notebook.path else self.notebooks[0], policy)

    @rule(data=st.data(), policy=POLICIES)
    def open_second_kernel(self, data: st.DataObject, policy: str) -> None:
        self.start(one_of(data, self.notebooks), policy)

    # -- what fails ---------------------------------------------------------------------------

    @rule(writable=st.booleans(), readable=st.booleans())
    def change_disk(self, writable: bool, readable: bool) -> None:
        self.disk.writable, self.disk.readable = writable, readable
        self.undisturbed = self.undisturbed and writable and readable

    @rule(key=st.sampled_from([b"", b"other".ljust(32), KEY, KEY, None]))
    def change_key(self, key: bytes | None) -> None:
        """The key is unreadable, another one, the first one again, or gone."""
        self.write_key(key)
        self.values_epoch += 1
        self.undisturbed = self.undisturbed and key == KEY

    def write_key(self, key: bytes | None) -> None:
        path = journals_folder() / "key"
        path.unlink(missing_ok=True)
        if key is not None:
            path.write_bytes(key)
            path.chmod(0o600)
        seal._key.cache_clear()

    @rule()
    def forget_values(self) -> None:
        store = value_store()
        if store is not None:
            store.clear()
            self.values_epoch += 1

    @rule(data=st.data(), policy=POLICIES, closes=st.booleans())
    def damage_journal(self, data: st.DataObject, policy: str, closes: bool) -> None:
        """A line of a journal is damaged while no kernel has it open; all behind it is lost."""
        notebook = one_of(data, self.notebooks)
        for kernel in [kernel for kernel in self.kernels if kernel.notebook is notebook]:
            kernel.close() if closes else kernel.die()
        self.end_kernels()
        if notebook.journal.exists():
            lines = notebook.journal.read_bytes().splitlines(keepends=True)
            at = data.draw(st.integers(1, max(len(lines) - 1, 1)))
            if at < len(lines):
                lines[at] = b"?" + lines[at][1:]
                notebook.journal.write_bytes(b"".join(lines))
        self.start(notebook, policy)

    # -- the laws -------------------------------------------------------------------------------

    @invariant()
    def each_effect_has_a_permission_of_its_own(self) -> None:
        TALLY.cases += 1
        for kernel in self.kernels:
            kernel.record()
        assert not self.ledger.broken, self.ledger.broken

    @invariant()
    def what_a_kernel_writes_is_in_its_file_and_no_id_is_used_twice(self) -> None:
        for kernel in self.opened:
            if self.undisturbed and kernel.records and kernel.has_changed():
                text = kernel.notebook.journal.read_text()
                broken = [*laws.same(kernel.session.journal, text, kernel.session.head)]
                assert not broken, broken
                broken = [*laws.names(kernel.session.journal)]
                assert not broken, broken


def as_shown(row: CallRow) -> dict[str, str]:
    """Return what a command says of a call that is shown."""
    return {"call": row.call, "approval_digest": row.approval_digest}


def one_of(data: st.DataObject, options: Sequence[Item]) -> Item:
    return options[data.draw(st.integers(0, len(options) - 1))]


def _done(kernel: Kernel) -> list[CallRecord]:
    """Return the calls that have a result."""
    state = kernel.session.state
    return [call for call in kernel.session.calls if state.call(call.id).outcome is not None]


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


def _where(error: BaseException) -> str:
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} {error} ({last.name}: {last.line})"


def _steps(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ())) or "a walk"


def run(examples: int, steps: int, number: int) -> Tally:
    """Return the outcomes of so many machines of so many steps each; a case is a step."""
    began = cpu()
    with data_directory() as folder:
        notebooks = folder / "notebooks"
        notebooks.mkdir()
        with contextlib.chdir(notebooks):
            error = failure_of(Effects, examples, steps, number)
        if error:
            law = "duplicate effect" if isinstance(error, AssertionError) else "crash"
            TALLY.broken.append({"law": law, "how": _where(error), "case": _steps(error)})
    TALLY.seconds = cpu() - began
    return TALLY
