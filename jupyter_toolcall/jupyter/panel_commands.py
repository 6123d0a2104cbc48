"""What a person asks for in a panel: commands, a closed union, and the session after each.

Each is a message whose `type` is its name; TypeScript types of them are generated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from ..core import errors
from ..core.digests import digest
from ..core.events import Decision
from ..core.interface_text import t
from ..core.json_data import from_exact
from ..core.rows import Json, Row
from ..engine.cursor import Cursor
from ..engine.decisions import check_answer, decide_all, decision_event, record_decisions
from ..engine.forks import entry_before_reply
from ..engine.outdated import changed_tool_parts, recorded_tool_code
from ..engine.person_model import Written, check_person_call, demand_model_turn
from ..previews.rule_offers import edited_rule, offered_rule
from ..rules.person_rules import Change, Until
from ..session.session import Session
from ..tools.arguments import plain_arguments
from ..view.contract import Message
from ..view.decision_contract import RuleParts


def _exact_call(data: Any) -> object:
    """Return a call as a panel sent it, with the arguments that its marks stand for."""
    match data:
        case {"arguments": dict() as arguments}:
            return {**data, "arguments": {key: from_exact(arguments[key]) for key in arguments}}
    return data


UNCHANGED = t("The tool has not changed since the call failed. Change it and run its cell first.")
WrittenCall = Annotated[Written, BeforeValidator(_exact_call)]


@runtime_checkable
class Applied(Protocol):
    """A command that is applied to the session: it is recorded, and nothing runs yet."""

    def apply(self, session: Session) -> Session:
        """Return the session after the command."""


class Hello(Message):
    """A panel is here, and wants everything."""


class ShownCall(Row):
    """A call with the approval digest that it was shown with."""

    call: str
    approval_digest: str


class Approve(Message, ShownCall):
    """Approve exactly this call; one whose outcome is unknown runs again."""

    def apply(self, session: Session) -> Session:
        _demand_open(session, self.call)
        return session.decide(self.call, "approve", approval_digest=self.approval_digest)


class AddRule(Message, ShownCall):
    """Approve exactly this call, and add the rule that was offered for it with this number."""

    number: int
    scope: Literal["session", "notebook", "computer"] = "session"
    until: Until = "run"

    def apply(self, session: Session) -> Session:
        _demand_open(session, self.call)
        cursor, shown_digest = session.cursor, self.approval_digest
        offer = offered_rule(cursor, self.call, self.number)
        cursor.refresh()
        approval = decision_event(cursor, self.call, "approve", approval_digest=shown_digest)
        # If the rule cannot be kept, the click does nothing.
        cursor.context.person_rules.add(offer, self.scope, self.until)
        record_decisions(cursor, approval)
        return session


class ChangeRule(Message):
    """Change a rule that the person added; `name` is that of the rule with this number."""

    number: int
    """Its place in the list, from 1."""
    name: str
    change: Change

    def apply(self, session: Session) -> Session:
        context = session.cursor.context
        context.person_rules.carry_out(self.number, self.name, self.change, context.toolbox)
        return session


class EditRule(Message):
    """Tell what a rule would do as the person edits it, or with `save` change it so."""

    number: int
    name: str
    edit: RuleParts
    save: bool = False

    def apply(self, session: Session) -> Session:
        rule = edited_rule(session.cursor, self.number, self.name, self.edit).rule
        rules = session.cursor.context.person_rules
        rules.edit(self.number, rule, self.edit.scope, self.edit.until)
        return session


class ApproveAll(Message):
    """Approve exactly these calls, which wait now; where one has changed, none is approved."""

    calls: tuple[ShownCall, ...]

    def apply(self, session: Session) -> Session:
        return session.approve_all({shown.call: shown.approval_digest for shown in self.calls})


class RejectAll(Message):
    """Reject exactly these calls, which wait now; where one has changed, none is rejected."""

    calls: tuple[ShownCall, ...]
    reason: str = ""

    def apply(self, session: Session) -> Session:
        calls = {shown.call: shown.approval_digest for shown in self.calls}
        decide_all(session.cursor, calls, "reject", self.reason)
        return session


class ApproveAfterEdit(Message, ShownCall):
    """Approve exactly this call, and those that follow from it as they were approved before.

    After an edit of an earlier call these run on other objects of the same kinds, with the same
    arguments. A call that reaches others or may delete data still waits.
    """

    def apply(self, session: Session) -> Session:
        _demand_open(session, self.call)
        session.decide(self.call, "approve", approval_digest=self.approval_digest)
        session.cursor.replay_queue.approves_following = True
        return session


class KeepResult(Message, ShownCall):
    """Keep the recorded result of a call that may have run; with `rest` all that follow too."""

    rest: bool = False

    def apply(self, session: Session) -> Session:
        return session.keep_result(self.call, approval_digest=self.approval_digest, rest=self.rest)


class BeginNew(Message):
    """Ask the last prompt again on a branch of its own, with nothing of what is recorded."""

    def apply(self, session: Session) -> Session:
        return session.begin_new()


class Edit(Message, ShownCall):
    """Run a call with other arguments; one that has run is replayed from there.

    Where nothing changes, it approves a call that waits, runs one that failed with the tool as it
    is now, and does nothing to another one.
    """

    arguments: Mapping[str, Json]
    """Those that change, by name; the others stay as they are."""
    reason: str = ""
    left_out: tuple[str, ...] = ()
    """The names of those that are left out, so that the tool uses its defaults."""
    tool: str = ""
    """Another tool to run, of which `arguments` are all; "" for the call's own."""

    def apply(self, session: Session) -> Session:
        shown, arguments = edited_arguments(session, self)
        # Equal in Python are 1, 1.0 and True too; a digest tells them apart.
        record = session.state.call(self.call)
        is_same = digest("arguments", arguments) == digest("arguments", dict(shown))
        changes = not is_same or self.tool not in ("", record.tool)
        runs = self.call in session.state.open or record.status == "failed"
        decision: Decision | None = "edit" if changes else "approve" if runs else None
        parts = {"arguments": arguments, "reason": self.reason, "tool": self.tool or record.tool}
        return _decided(session, self, decision, **(parts if changes else {}))


class Retry(Message, ShownCall):
    """Run a call that failed again, with its tool as it is now; one whose tool is the same as then
    only if `unchanged`."""

    unchanged: bool = False

    def apply(self, session: Session) -> Session:
        record = session.state.call(self.call)
        code = recorded_tool_code(record, session.journal)
        is_same = code is not None and not changed_tool_parts(session.toolbox[record.tool], code)
        if is_same and not self.unchanged:
            raise errors.UsageError(UNCHANGED)
        return _decided(session, self, "approve")


class TryEdit(Message, ShownCall):
    """Tell what a waiting call would do with other arguments, as a person types them."""

    number: int
    arguments: Mapping[str, Json]
    left_out: tuple[str, ...] = ()


class Reject(Message, ShownCall):
    """Do not run a call; the model gets the reason."""

    reason: str = ""

    def apply(self, session: Session) -> Session:
        return _decided(session, self, "reject", reason=self.reason)


class Answer(Message, ShownCall):
    """Give the result oneself: JSON, text, or the name of an object."""

    result: Json
    reason: str = ""

    def apply(self, session: Session) -> Session:
        check_answer(session.cursor, self.call, self.result)
        return _decided(session, self, "answer", result=self.result, reason=self.reason)


class Draft(Message):
    """The calls that the person has written so far in the model's place.

    What is new among them is checked as it would run, but with `anyway`; nothing is recorded
    before the reply is sent: with `send` at once, and with `text`.
    """

    calls: tuple[WrittenCall, ...]
    anyway: bool = False
    send: bool = False
    text: str = ""


class Say(Message):
    """Reply in the model's place: with words, with calls, or with both."""

    text: str = ""
    calls: tuple[WrittenCall, ...] = ()

    def apply(self, session: Session) -> Session:
        return session.reply(self.text, *((call.tool, call.arguments) for call in self.calls))


class AddBudget(Message):
    """Go on with more: tokens, US dollars, and calls."""

    tokens: int = 0
    cost: float = 0
    calls: int = 0


class Step(Message):
    """Run the next step, and pause."""


class Run(Message):
    """Run until a person has to decide."""


class Stop(Message):
    """Pause the run."""


class Replay(Message):
    """Repeat the recorded events from a call on, on a branch of its own."""

    call: str

    def apply(self, session: Session) -> Session:
        return session.replay(self.call)


class Fork(Message):
    """Start a branch at a call."""

    call: str

    def apply(self, session: Session) -> Session:
        return session.fork(self.call)


class Undo(Message):
    """Go back to before the last decision, which was on this call, on a branch of its own."""

    call: str

    def apply(self, session: Session) -> Session:
        call, cursor = session.state.call(self.call), session.cursor
        if not call.decision_entry:
            raise errors.UsageError(f"nobody decided on call {self.call}")
        # A rule that decided would do so again.
        if call.decided is not None:
            cursor.context.person_rules.pause(call.decided.rule)
        return session.fork(cursor.context.journal[call.decision_entry].parent)


class Ask(Message):
    """Ask the model again in place of the reply of a turn, on a branch of its own."""

    turn: int

    def apply(self, session: Session) -> Session:
        return session.fork(entry_before_reply(session.cursor, self.turn))


class Checkout(Message):
    """Show a branch, and continue there."""

    branch: str

    def apply(self, session: Session) -> Session:
        return session.at(session.cursor).checkout(self.branch)


class NameBranch(Message):
    """Call a branch so."""

    branch: str
    name: str

    def apply(self, session: Session) -> Session:
        return session.name_branch(self.name, _head(session, self.branch))


class HideBranch(Message):
    """Take a branch out of view, or with `hidden` false back into it. Nothing is deleted."""

    branch: str
    hidden: bool = True

    def apply(self, session: Session) -> Session:
        head = _head(session, self.branch)
        return session.hide_branch(head) if self.hidden else session.show_branch(head)


class Compare(Message):
    """Tell how two branches differ, and tell it again as they grow, until `on` is false.

    Without their ids: those that are compared where a person has chosen none.
    """

    left: str = ""
    right: str = ""
    on: bool = True


class Break(Message):
    """Let all calls of a tool wait, or no longer."""

    tool: str
    on: bool = True

    def apply(self, session: Session) -> Session:
        session.cursor.context.set_breakpoint(self.tool, self.on)
        return session


class ShowRequest(Message):
    """Show the request of a turn exactly as it goes to the model."""

    turn: int


class OfferRules(Message):
    """Tell which rules would decide on calls like one that waits."""

    call: str


class Export(Message):
    """Tell the session as a text of a format, such as `dot`."""

    to: str


class ShowObject(Message):
    """Tell an object as large as may be, by the id of its row."""

    object: str


class ShowDifference(Message):
    """Tell how two objects of a branch differ, by the ids of their rows."""

    left: str
    right: str


class DrawGraph(Message):
    """Draw the calls up to one, and what an object or a call came from."""

    until: int = 0
    """The number of the last call to draw; 0 is the newest."""
    selected: str = ""
    """The id of the row of an object or a call whose ancestors are drawn too."""
    page: int = 0
    """Pixels of the width of rows; 0 for a usual width."""
    compact: bool = False
    """Whether objects are drawn by their names alone."""


Look = (
    Compare | DrawGraph | ShowObject | ShowDifference | ShowRequest | OfferRules | EditRule | Export
)
"""The commands that ask to see something, and change nothing; `EditRule` unless it saves."""
Setting = Break | ChangeRule | EditRule | NameBranch | HideBranch
"""The commands that change rules, breakpoints and labels of branches, and no call."""
Move = Replay | Fork | Undo | Checkout
"""The commands after which the session stands elsewhere, and waits."""
Command = (
    (Approve | AddRule | ApproveAll | ApproveAfterEdit | RejectAll)
    | (KeepResult | Edit | Retry | Reject | Answer | Draft | Say | AddBudget)
    | (Hello | BeginNew | Step | Run | Stop | Ask | TryEdit | Setting | Move | Look)
)


# -- commands applied to a session ---------------------------------------------------------------
#
# What a command asks for is checked as strictly as a model's call: the panel is only a view, and
# what it sends may be late, double or forged.

_COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


def parse_command(data: object, extensions: Mapping[str, type] | None = None) -> Any:
    """Return the command that a message is: a `Command`, or one of `extensions`, by its `type`.

    Raises UsageError for anything else.
    """
    kind = data.get("type") if isinstance(data, Mapping) else data
    extension = extensions.get(kind) if extensions and isinstance(kind, str) else None
    try:
        return (_COMMAND if extension is None else TypeAdapter(extension)).validate_python(data)
    except ValidationError:
        raise errors.UsageError(f"{str(kind)[:40]!r} is no command of this panel") from None


def apply_command(session: Session, command: Command) -> Session:
    """Return the session after a command; it is recorded, nothing has run.

    Raises what `decide`, `reply`, `edit`, `fork`, `replay` and `name_branch` raise.
    """
    if not isinstance(command, Applied):
        raise errors.UsageError(f"{command.type!r} is for the one who runs the session")
    return command.apply(session)


def _head(session: Session, branch: str) -> str:
    """Return the head of a branch that a panel names: that of the shown one may have moved on."""
    on_show = any(entry.id == branch for entry in session.journal.path(session.head))
    return session.head if on_show else branch


def _demand_open(session: Session, call_id: str) -> None:
    """Raise NotYourTurn for a call that other code or another page has decided meanwhile."""
    status = session.state.call(call_id).status
    if call_id not in session.state.open:
        if status == "rejected":
            raise errors.NotYourTurn(t("This call was rejected already."))
        raise errors.NotYourTurn(t("This call has run already."))


def edited_arguments(
    session: Session, edit: Edit | TryEdit
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Return the arguments of a call as they are shown, and all of them after an edit."""
    record = session.state.call(edit.call)
    is_open = edit.call in session.state.open
    shown = session.cursor.arguments_to_run(record) if is_open else record.arguments
    others = {} if isinstance(edit, Edit) and edit.tool else shown
    merged = {**others, **edit.arguments}
    kept = {key: merged[key] for key in merged if key not in edit.left_out}
    return shown, plain_arguments(kept)


def _decided(
    session: Session, shown: ShownCall, decision: Decision | None, **options: Any
) -> Session:
    """Decide on a call as it was shown; on one that has its result, on another branch.

    Without a decision such a call stays as it is. Raises NotYourTurn where it was shown otherwise.
    """
    if decision is not None and shown.call in session.state.open:
        digest = shown.approval_digest
        return session.decide(shown.call, decision, approval_digest=digest, **options)
    call = session.state.call(shown.call)
    if shown.approval_digest != call.approval_digest:
        raise errors.NotYourTurn(
            f"call {call.id} is {call.status} by now; look at it and decide again"
        )
    return session if decision is None else session.decide_anew(call.id, decision, **options)


# -- what a person writes in the model's place ---------------------------------------------------


@dataclass
class WrittenReply:
    """The calls that a person has written so far for the reply that is due at an entry."""

    head: str = ""
    _calls: tuple[Written, ...] = ()

    def calls(self, head: str) -> tuple[Written, ...]:
        """Return the calls, if it is still the reply at this entry that is due."""
        return self._calls if head == self.head else ()

    def keep(self, cursor: Cursor, draft: Draft) -> tuple[Written, ...]:
        """Keep and return calls that could run. Raises what is wrong with one."""
        earlier, calls = self.calls(cursor.head), self.revealed(cursor, draft.calls)
        demand_model_turn(cursor)
        for call in calls if not draft.anyway else ():
            if call not in earlier:
                check_person_call(cursor, call.tool, call.arguments)
        self.head, self._calls = cursor.head, calls
        return calls

    def revealed(self, cursor: Cursor, calls: Sequence[Written]) -> tuple[Written, ...]:
        """Return calls as the person wrote them: a panel has markers in place of secrets."""
        hide, revealed = cursor.context.secrets.hide, []
        for call in calls:
            earlier = [c.arguments for c in self.calls(cursor.head) if c.tool == call.tool]
            arguments = {
                name: next(
                    (a[name] for a in earlier if name in a and hide(a[name]) == value), value
                )
                for name, value in call.arguments.items()
            }
            revealed.append(Written(call.tool, arguments))
        return tuple(revealed)
