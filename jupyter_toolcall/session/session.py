"""`Session`: a tool-calling session at one head of its journal.

Every method is synchronous and never waits for a person. Where a person has to decide, `run`
returns, and the session stays as it is until somebody does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from ..compare.alignment import compare
from ..compare.comparison import Comparison
from ..core.branches import (
    branch_named,
    branches,
    choose_branch,
    current_branch,
    entry_named,
    forked_from,
    hide_branch,
    name_branch,
)
from ..core.call_record import CallRecord
from ..core.errors import NotYourTurn, UsageError, checked_path, checked_text
from ..core.events import MAX_RESULT, Decision, Usage
from ..core.journal import Journal
from ..core.lineage import lineage
from ..core.recorded_data import JsonDict
from ..core.state import State
from ..engine import (
    calls_by_program,
    decisions,
    forks,
    outdated,
    person_model,
    prompts,
    verification,
)
from ..engine.cursor import Cursor
from ..engine.exchanges import Exchange, exchanges
from ..engine.opening import load_session, open_session, save_session
from ..rules.approval_policy import Approve
from ..rules.budget import Budget
from ..schemes.messages import Model, Reply
from ..schemes.scheme import Scheme
from ..tools.executors import AnyExecutor
from ..tools.toolbox import Toolbox
from ..view.saved_output import mime_bundle
from ..view.session_graph import SessionGraph, session_graph
from ..view.view_rows import all_rows

if TYPE_CHECKING:
    from ..export.provenance import Explanation
    from ..jupyter.session_panel import SessionPanel
    from ..maps.session_map import SessionMap

T = TypeVar("T")


class Session:
    """A tool-calling session at one head of its journal.

    Args:
        toolbox: The tools that the model may call, and the types of the objects.
        model: What replies: a model, its name such as `"anthropic:MODEL"`, or a function from a
            `Request` to a `Reply`. None: replies are given with `reply`.
        scheme: How the tools are presented to the model: "select", "current", "flat", or a scheme
            of your own.
        native: Whether the tools are described, and called, as XML in the text.
        inputs: The objects and data to begin with, by name: a value, or a pair with a description,
            such as `(plan, "The plan of May.")`. Any tuple of two whose second is a text is such a
            pair; as a value it is given in one: `(("plum", "blue"), "")`.
        outputs: What the session should produce, by name: a type, or a pair with a description.
        system: The beginning of the system prompt.
        approve: Which calls run unasked: "ask", "read-only", "all", "none", "flow", a list of
            `Rule(...)` or (glob, verdict) pairs, which may end with one of these names, or a
            function of a tool and its arguments.
        journal: A new file for the session's events, which are written as they come;
            `Session.load` continues the session, also after its process was killed. None: the
            events stay in memory.
        name: The session's name in panels and lists.
        max_turns: After how many replies to one prompt the session stops; None for no limit.
        breaks: Globs of tools whose calls wait in any case.
        executor: Where the tools run that are marked `@tool(executor=True)`: a
            `concurrent.futures.Executor`, a client of Dask or ipyparallel, "threads",
            "processes", "dask" or "dask:ADDRESS". None: in the kernel.
        jobs: How many read-only calls of one reply run together, where none of them takes the
            result of another. 1: one after the other.
        max_result: How many characters of one result, or of a text that is an input, the model is
            sent; it reads on in a result by `read_result`.
        budget: What the session may use before it pauses: `run` returns before the request that
            would go over it, and calls above it wait.

    Raises:
        UsageError: A name, a type or an option is wrong.
        DefinitionError: A function takes an object that no tool makes and no input is.

    Example:
        >>> from jupyter_toolcall import Scripted, Session, Toolbox
        >>> def double(x: int) -> int:
        ...     return 2 * x
        >>> model = Scripted([("double", {"x": 4}), "Done."])
        >>> session = Session(Toolbox(double), model, scheme="flat").tell("Double 4.")
        >>> [call.tool for call in session.pending]
        ['double']
        >>> session.decide(session.pending[0], "approve").run().calls[0].result
        8
    """

    name: str
    cursor: Cursor
    _panel: SessionPanel | None

    def __init__(
        self,
        toolbox: Toolbox,
        model: Model | str | None = None,
        *,
        scheme: str | Scheme = "select",
        native: bool = False,
        inputs: Mapping[str, object] | None = None,
        outputs: Mapping[str, object] | None = None,
        system: str = "",
        approve: Approve = "ask",
        journal: str | Path | Journal | None = None,
        name: str | None = None,
        max_turns: int | None = None,
        breaks: str | Sequence[str] = (),
        executor: AnyExecutor | None = None,
        jobs: int = 1,
        max_result: int = MAX_RESULT,
        budget: Budget | None = None,
    ) -> None:
        context, opened = open_session(
            toolbox,
            model,
            scheme=scheme,
            native=native,
            inputs=inputs or {},
            outputs=outputs or {},
            system=system,
            approve=approve,
            journal=journal if isinstance(journal, Journal | None) else checked_path(journal),
            breaks=breaks,
            max_turns=max_turns,
            executor=executor,
            jobs=jobs,
            max_result=max_result,
            budget=budget,
        )
        self.name, self._panel = checked_text(name or "", "name"), None
        self.cursor = Cursor(context, context.journal.append(None, opened).id)

    @classmethod
    def here(cls, cursor: Cursor, name: str) -> Self:
        """Return the session of a cursor."""
        session = cls.__new__(cls)
        session.name, session.cursor, session._panel = name, cursor, None
        return session

    def at(self, cursor: Cursor) -> Self:
        """Return the session of another cursor of the same journal, of the same class."""
        session = copy.copy(self)
        vars(session).update(cursor=cursor, _panel=None)
        vars(session).pop("_ipython_display_", None)
        return session

    @classmethod
    def map(
        cls,
        prompts: Iterable[str],
        toolbox: Toolbox | Callable[[], Toolbox],
        model: object = None,
        *,
        executor: AnyExecutor | None = None,
        jobs: int | None = None,
        name: str = "",
        folder: str | Path | None = None,
        **options: object,
    ) -> SessionMap:
        """Run one separate session for each prompt, and return them with a table.

        Each has a journal of its own on disk. The same map again, after a kill too, continues
        each session from its journal: no reply that was received is requested again.

        Args:
            prompts: what each session is asked.
            toolbox: the tools, or a function without parameters that returns them.
            model: as for `Session`, or a function without parameters that returns one.
            executor: where whole sessions run, if its workers share your data directory;
                else the tools that are marked `@tool(executor=True)` run there.
            jobs: how many sessions run at once. None: 4 in the kernel, where their requests
                overlap, and twice the workers of an executor.
            name: the name by which the map continues. Without it its arguments identify it.
            folder: where the journals are, instead of your data directory; those of a map with a
                name are in a folder of that name in it.
            options: the other arguments of `Session`, the same for all.

        Raises UsageError. The error of a session is in its row. An interrupt stops the map, and
        what was recorded by then is returned.
        """
        maps = import_module("..maps.session_map", __package__)
        where = {"name": name, "folder": folder, "executor": executor, "jobs": jobs}
        sessions: SessionMap = maps.session_map(prompts, toolbox, model, options, **where)
        return sessions.run()

    # -- prompts and decisions -----------------------------------------------------------

    def ask(self, text: str) -> Self:
        """Record a prompt and return this session; `run` sends it.

        Args:
            text: What the person asks.

        Raises:
            NotYourTurn: A call has no result yet.
            UsageError: The text is empty.
        """
        prompts.record_prompt(self.cursor, text)
        return self

    def run(self) -> Self:
        """Continue to the next pause: a decision is needed, or the model asks for nothing more.

        Raises:
            ModelError: The model could not reply; `run` again asks it again.
            KeyboardInterrupt: The run was interrupted; the session can continue.
        """
        prompts.run_to_pause(self.cursor)
        return self

    def step(self) -> Self:
        """Take one step, if it needs no decision."""
        prompts.run_step(self.cursor)
        return self

    def tell(self, text: str) -> Self:
        """Record a prompt, and continue to the next pause: `ask(text).run()`."""
        return self.ask(text).run()

    def decide(
        self,
        call_id: CallRecord | str,
        decision: Decision = "approve",
        *,
        arguments: Mapping[str, object] | None = None,
        result: object = None,
        reason: str = "",
        approval_digest: str | None = None,
        bound: str | None = None,
        tool: str = "",
    ) -> Self:
        """Decide on a call that waits, and record the decision; `run` continues.

        Args:
            call_id: The call, or its id: one of `pending`.
            decision: "approve" runs it, "edit" runs it with `arguments`, "reject" tells the model
                the `reason`, "answer" records `result` without running it. Where a tool asks for
                input, "answer" gives the fields of its form as `result`, and "reject" declines.
            arguments: All arguments of an edited call, by name; objects as for `edit`.
            result: What an answer returns: data, or objects by their names or values.
            reason: Why a call is rejected; the model reads it.
            approval_digest: The approval digest of the call as it was shown, if it was.
            bound: The same, by its older name.
            tool: Another tool for an edited call.

        Raises:
            NotYourTurn: The call does not wait, or has changed since it was shown.
            CallError: The call cannot run with these arguments.
            UsageError: There is no such decision, or it does not take one of the arguments.
        """
        self.cursor.refresh()
        shown = approval_digest if bound is None else bound
        event = decisions.decision_event(
            self.cursor, self._own_id(call_id), decision, arguments, result, reason, shown, tool
        )
        decisions.record_decisions(self.cursor, event)
        return self

    def approve_all(
        self, calls: Mapping[CallRecord | str, str] | Iterable[CallRecord | str]
    ) -> Self:
        """Approve these calls, such as `session.pending`; if one cannot be approved, none is.

        A dict has the approval digest of each call as it was shown. Raises what `decide` raises.
        """
        if isinstance(calls, str) or not isinstance(calls, Iterable):
            raise UsageError(f"{calls!r:.60} is no list of calls; give session.pending, or some")
        shown = calls if isinstance(calls, Mapping) else dict.fromkeys(calls)
        approved = {self._own_id(call): approval_digest for call, approval_digest in shown.items()}
        decisions.decide_all(self.cursor, approved, "approve")
        return self

    def _own_id(self, call: CallRecord | str) -> str:
        """Return the id of a call of this session. Raises NotYourTurn for a record of another."""
        call_id = id_of(call)
        if isinstance(call, CallRecord):
            asked = self.cursor.state.call(call_id).asked_call
            if (asked.reply, asked.call) != (call.asked_call.reply, call.asked_call.call):
                raise NotYourTurn(f"this {call_id} is a call of another session or branch")
        return call_id

    def keep_result(
        self, call: CallRecord | str, *, approval_digest: str | None = None, rest: bool = False
    ) -> Self:
        """Keep the recorded result of a call that may have run, in place of running it again.

        With `rest` all recorded entries after it are kept too. Raises NotYourTurn where the
        call does not wait, has no recorded result, or has another approval digest now.
        """
        self.cursor.refresh()
        decisions.keep_result(self.cursor, self._own_id(call), approval_digest, rest)
        return self

    def begin_new(self) -> Self:
        """Return a session that asks the last prompt again. Raises NotYourTurn without one."""
        return self.at(prompts.start_over(self.cursor))

    def reply(self, text: str | Reply | None = "", *calls: person_model.Pair) -> Self:
        """Record a reply in the model's place; `run` continues.

        Args:
            text: The text of the reply; or a whole reply, such as that of `generate`.
            calls: The calls that it asks for, each a `(tool, arguments)` pair. A call is checked
                when its turn comes.

        Raises:
            NotYourTurn: It is not the model's turn.
            UsageError: The reply is empty.
        """
        person_model.record_person_reply(self.cursor, text, calls)
        return self

    # -- branches ----------------------------------------------------------------------

    def fork(self, at: CallRecord | str | None = None) -> Self:
        """Return a session that continues from an earlier point, on a branch of its own.

        Args:
            at: A call or its id, after which it continues, or the id of an entry. None:
                the head of this session.
        """
        return self.at(forks.fork_cursor(self.cursor, at if at is None else id_of(at)))

    def replay(self, at: CallRecord | str | None = None, fresh: bool = False) -> Self:
        """Return a session that replays what is recorded. Nothing happens before `run`.

        Calls with the same inputs take their cached results; the others run. A replay in which
        nothing changed adds no entry.

        Args:
            at: A call or an entry, after which it replays. None: from the start.
            fresh: Whether every call runs again that did not ask you for input; `came_out` then
                shows what differs.
        """
        self.cursor.refresh()
        return self.at(forks.replay_cursor(self.cursor, at if at is None else id_of(at), fresh))

    def edit(self, call_id: CallRecord | str, /, **arguments: object) -> Self:
        """Return a session that replays this one with other arguments to one call.

        That call runs, and the calls that depend on it; the others take their cached results.
        Nothing happens before `run`.

        Args:
            call_id: The call, or its id, such as "call_3".
            arguments: The arguments that change, by name; the others stay. An object is given by
                its name or its value: an object that has this content already, or a new input, a
                private copy with a name such as `Potato#4`.

        Raises:
            CallError: The arguments do not fit the tool.
        """
        self.cursor.refresh()
        return self.at(forks.edit_cursor(self.cursor, id_of(call_id), arguments))

    def decide_anew(
        self,
        call_id: CallRecord | str,
        decision: Decision,
        *,
        arguments: Mapping[str, object] | None = None,
        result: object = None,
        reason: str = "",
        tool: str = "",
    ) -> Self:
        """Return a session that replays this one with another decision on one call.

        It is `decide` for a call that has a result. Nothing happens before `run`.

        Args:
            call_id: The call, or its id.
            decision: As for `decide`.
            arguments: All arguments of an edited call, by name; objects as for `edit`.
            result: What an answer returns: data, or objects by their names or values.
            reason: Why a call is rejected; the model reads it.
            tool: Another tool for an edited call, such as one whose own tool does not exist.

        Raises:
            CallError: The call cannot run with these arguments.
            UsageError: There is no such call or decision.
        """
        self.cursor.refresh()
        call = id_of(call_id)
        anew = forks.decide_anew(self.cursor, call, decision, arguments, result, reason, tool)
        return self.at(anew)

    def verify(self) -> verification.Verification:
        """Run all calls of this branch again, and compare the results with those that are recorded.

        Calls that change something run too, without a question: their approvals hold. Only the
        journal is a copy, and no model is asked.
        """
        self.cursor.refresh()
        return verification.verify_cursor(self.cursor)

    def checkout(self, head: str) -> Self:
        """Move this session to another head, and return it.

        A session that is loaded, or whose cells run again, is on the branch that was chosen last,
        unless it continued since then.

        Args:
            head: The name of a branch, the id of an entry, or a call's id: the end of that call.

        Raises:
            UsageError: There is no such head.
        """
        entry_id = entry_named(self.journal, self.head, head)
        self.cursor = forks.fork_cursor(self.cursor, entry_id)
        choose_branch(self.journal, self.cursor.head)
        return self

    def name_branch(self, name: str, of: str | None = None) -> Self:
        """Name this branch, or the branch `of`. Raises UsageError for an invalid name."""
        name_branch(self.journal, self.head, str(name), of)
        return self

    def hide_branch(self, name: str) -> Self:
        """Hide a branch; nothing is deleted.

        Args:
            name: The name of the branch.

        Raises:
            UsageError: There is no such branch, or it is the one that is shown.
        """
        hide_branch(self.journal, self.head, name)
        return self

    def show_branch(self, name: str) -> Self:
        """Show a hidden branch again.

        Args:
            name: The name of the branch.

        Raises:
            UsageError: There is no such branch.
        """
        hide_branch(self.journal, self.head, name, hidden=False)
        return self

    # -- calls by the program ---------------------------------------------------------

    def call_tool(self, call: object) -> CallRecord:
        """Run a call of the last reply, in any order, and return its record.

        Your program approves the call, whatever `approve` says. The smallest program is
        `while session.step().tool_calls: ...`.

        Args:
            call: The call, or its id: one of `tool_calls`.

        Raises:
            NotYourTurn: The last reply has no such call, or it has a result.
            UsageError: The tool is a request to a person, so nothing can run.
        """
        self.cursor.refresh()
        return calls_by_program.call_tool(self.cursor, id_of(call))

    def tool_call_result(self, call_id: object, result: object) -> CallRecord:
        """Record the result of your own run of a call, once for each call, in any order.

        Args:
            call_id: The call, or its id: one of `tool_calls`.
            result: Plain data, an object (a value or a name), a list of objects, or an exception.

        Raises:
            NotYourTurn: The last reply has no such call, or it has a result.
            CallError: The result does not fit the tool, or names no object.
            UsageError: The tool is the scheme's own, such as `save`.
        """
        return calls_by_program.tool_call_result(self.cursor, id_of(call_id), result)

    def generate(self) -> Reply | None:
        """Return the model's reply without recording it. Raises NotYourTurn while calls wait."""
        return calls_by_program.generate(self.cursor)

    @overload
    def transform(self, obj: str, instruction: str) -> Any: ...
    @overload
    def transform(self, obj: T, instruction: str) -> T: ...
    def transform(self, obj: object, instruction: str) -> Any:
        """Ask the model to transform an object; return the result, a value of the same type.

        The model knows the conversation so far. The question is a branch of its own with a name
        such as "Peel it.": `checkout` shows its calls and objects. The conversation continues
        as if it had not been asked.

        Args:
            obj: A value, or the name of an object.
            instruction: What to do with it, such as "Peel it."

        Raises:
            Unfinished: A call waits for a person, or nothing was saved. Where one waits, `decide`
                and `run`; `outputs["result"]` is the result then, and the next prompt continues
                the conversation.
        """
        return prompts.transform(self.cursor, obj, instruction)

    @overload
    def query(self, obj: object, question: str) -> str: ...
    @overload
    def query(self, obj: object, question: str, returns: type[T]) -> T: ...
    @overload
    def query(self, obj: object, question: str, returns: object) -> Any: ...
    def query(self, obj: object, question: str, returns: object = str) -> Any:
        """Return the model's answer to a question about an object, asked as by `transform`.

        Args:
            obj: A value, or the name of an object. The model sees the values of plain data.
            question: What to answer.
            returns: The type of the answer: a scalar, `list[str]`, a dict, a dataclass or a
                pydantic model.

        Raises:
            UsageError: The type cannot be an answer.
            Unfinished: As for `transform`.
        """
        return prompts.query(self.cursor, obj, question, returns)

    # -- reading ---------------------------------------------------------------------

    @property
    def branches(self) -> tuple[str, ...]:
        """The heads of all branches, those of other cells too; the one that grew last is last."""
        return self.cursor.context.journal.leaves()

    @property
    def branch(self) -> str:
        """The name of the branch that this session is on."""
        return current_branch(self.journal, self.head).name

    @property
    def branch_names(self) -> Mapping[str, str]:
        """The heads of the branches by name, oldest first, those that are hidden too."""
        return {branch.name: branch.head for branch in branches(self.journal, self.head)}

    @property
    def head(self) -> str:
        """The id of the newest entry of this branch."""
        return self.cursor.head

    @property
    def journal(self) -> Journal:
        """The record of all branches."""
        return self.cursor.context.journal

    @property
    def toolbox(self) -> Toolbox:
        """The tools, as they are now."""
        return self.cursor.context.toolbox

    @property
    def state(self) -> State:
        """The state of this branch at its head."""
        return self.cursor.state

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Every call in order, the scheme's own too."""
        return tuple(map(self.cursor.shown, self.state.all_calls()))

    @property
    def pending(self) -> tuple[CallRecord, ...]:
        """The calls that wait for a person as they would run, the one to decide first."""
        return decisions.pending_calls(self.cursor)

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of all objects, oldest first."""
        return tuple(self.state.names)

    @property
    def outputs(self) -> Mapping[str, Any]:
        """What was saved, by name."""
        return self.cursor.context.values.outputs(self.state)

    @property
    def usage(self) -> Usage:
        """The tokens of this branch."""
        return self.state.usage

    @property
    def requests(self) -> tuple[Exchange, ...]:
        """The turns of this branch: each request as the model got it, and its reply."""
        return tuple(exchanges(self.cursor))

    @property
    def graph(self) -> SessionGraph:
        """The objects and calls as a graph: a picture in a notebook, DOT, or networkx."""
        return session_graph(self.cursor, all_rows(self.cursor, self.name))

    @property
    def panel(self) -> SessionPanel:
        """The live panel as a widget, for a `VBox`, an `Output` or a Voilà page; its traits
        `status`, `pending`, `head` and `calls` can be observed."""
        if self._panel is None:
            panels = import_module("..jupyter.session_panel", __package__)
            self._panel = panels.SessionPanel(self)
        return self._panel

    @property
    def text(self) -> str:
        """The model's latest text in reply to the latest prompt; "" while there is none."""
        return self.state.reply_text

    def __contains__(self, name: object) -> bool:
        """Return whether an object has this name."""
        return name in self.state.objects

    def __iter__(self) -> Iterator[str]:
        """Return the names of all objects, oldest first."""
        return iter(self.objects)

    def __getitem__(self, name: str) -> Any:
        """Return a copy of the value of an object, or of an instance as the calls have left it.

        Raises CallError for a name that no object has, Absent where the value is not here.
        """
        return self.cursor.context.values.copy_of(str(name), self.state)

    def value(self, name: str) -> Any:
        """Return a copy of the current value of an object, an output, an instance or a variable.

        Args:
            name: Its name. Tools of the type `context` set variables of the session.

        Raises:
            UsageError: There is no such name; the message has the nearest one.
            Absent: This computer has not kept the value.
        """
        context, state = self.cursor.context, self.state
        variables = {**context.toolbox.variables, **state.variables}
        return context.values.named(str(name), state, variables)

    def deps(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that an object was made from, nearest first.

        Args:
            name: The name of the object.
            all: Whether the objects that those were made from are listed too.

        Raises:
            UsageError: There is no such object; the message has the nearest name.
        """
        graph = lineage(self.state)
        return graph.deps(graph.checked_name(name), all=all)

    def users(self, name: str, *, all: bool = False) -> tuple[str, ...]:
        """Return the objects that were made from an object, nearest first.

        Args:
            name: The name of the object.
            all: Whether those that were made from these are listed too.

        Raises:
            UsageError: There is no such object; the message has the nearest name.
        """
        graph = lineage(self.state)
        return graph.users(graph.checked_name(name), all=all)

    def why(self, name: object) -> Explanation:
        """Return how an object, an output or a call came about, as text and as code.

        Args:
            name: The name of an object or an output, or a call or its id.

        Raises:
            UsageError: There is no such object, output or call; the message has the nearest name.
        """
        export = import_module("..export", __package__)
        branch = export.exported_session(self.cursor, self.name)
        explanation: Explanation = export.explain(branch, id_of(name))
        return explanation

    @property
    def tool_calls(self) -> tuple[CallRecord, ...]:
        """The calls of the last reply that have no result yet, in call order."""
        return calls_by_program.tool_calls(self.cursor)

    def outdated(self) -> outdated.Report:
        """Return the outdated calls and objects, each with the reason.

        A tool, or a helper that it calls, was changed since it ran, or an input has other
        content. `replay` runs these calls again, and no others.
        """
        self.cursor.refresh()
        return outdated.outdated_report(self.cursor.context, self.state)

    def came_out(self) -> Comparison:
        """Compare a replay, on the right, with the branch that it repeats, on the left."""
        entries = self.cursor.replay_queue.entries
        if not entries:
            raise UsageError(
                "this session is no replay; session.replay(fresh=True).run() runs every call again"
            )
        recorded = Cursor(self.cursor.context, entries[-1].id)
        return compare(recorded, self.cursor, ("recorded", "now"))

    def diff(self, other: Session | str | None = None) -> Comparison:
        """Compare this branch with another one, call by call and object by object.

        `other` is a session, or the name or head of a branch; None is the branch that this
        one left. The other branch is on the left. Raises UsageError where there is none.
        """
        journal, head, name = self.journal, self.head, self.branch
        if isinstance(other, Session):
            theirs = other.branch
            theirs = f"{theirs} (other)" if theirs == name and other.head != head else theirs
            return compare(other.cursor, self.cursor, (theirs, name))
        branch = forked_from(journal, head) if other is None else branch_named(journal, head, other)
        return compare(Cursor(self.cursor.context, branch.head), self.cursor, (branch.name, name))

    # -- files -----------------------------------------------------------------------

    @classmethod
    def load(
        cls,
        path: str | Path,
        toolbox: Toolbox,
        model: Model | str | None = None,
        *,
        scheme: str | Scheme | None = None,
        inputs: Mapping[str, object] | None = None,
        outputs: Mapping[str, object] | None = None,
        approve: Approve = "ask",
        breaks: str | Sequence[str] = (),
        max_turns: int | None = None,
        executor: AnyExecutor | None = None,
        jobs: int = 1,
        budget: Budget | None = None,
    ) -> Self:
        """Return the session in a file: at the branch that was chosen last, or its newest entry.

        A session that `Session(journal=path)` created continues in its file: new events are
        written there. A call that may have run before its process was killed waits for you.
        Missing values are computed again, by calls that may run twice.
        Any other file is only read, such as one that `save` wrote, or a copied or moved one; there
        `replay` computes missing values.

        Args:
            path: The file.
            toolbox: The tools; a file holds none.
            model: As for `Session`.
            scheme: A scheme of your own; None for the one that the file names.
            inputs: The values of the inputs, by name.
            outputs: The outputs with their types. The file has their names and texts alone: without
                a type an output is handed over as plain data.
            approve, breaks, max_turns, executor, jobs, budget: As for `Session`. A file has none of
                these: a call for which a limit of `Session` waited runs without it.

        Raises:
            BrokenJournal: The file does not fit its own digests.
            UsageError: The file has another scheme, or another process writes it.
        """
        cursor = load_session(
            checked_path(path),
            toolbox,
            model,
            scheme=scheme,
            inputs=inputs or {},
            outputs=outputs or {},
            approve=approve,
            breaks=breaks,
            max_turns=max_turns,
            executor=executor,
            jobs=jobs,
            budget=budget,
        )
        return cls.here(cursor, "")

    def shown(self) -> Self:
        """Return this session without its automatic display, since a panel shows it already."""
        session = self.at(self.cursor)
        vars(session)["_ipython_display_"] = lambda: vars(session).pop("_ipython_display_")
        return session

    def save(self, path: str | Path) -> None:
        """Write the journal as JSON Lines; expensive results go into the value store.

        Args:
            path: The file.
        """
        save_session(self.cursor, checked_path(path))

    def export(self, path: str | Path, to: str | None = None, *, force: bool = False) -> Path:
        """Write this branch to a file, and return its path.

        A file that exists is overwritten if an export wrote it and nobody changed it since.

        Args:
            path: The file.
            to: "py", "ipynb", "html", "dot", "svg", "json" or "messages"; None: by the file's
                ending.
            force: Whether any file is overwritten.

        Raises:
            UsageError: There is no such format, or the file may not be overwritten.
        """
        export = import_module("..export", __package__)
        branch = export.exported_session(self.cursor, self.name)
        written: Path = export.export(branch, path, to, force)
        return written

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> JsonDict:
        """Show the session as a notebook keeps it."""
        return mime_bundle(self.cursor, all_rows(self.cursor, self.name), None)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<Session{name}: {len(self.state.order)} calls, {len(self.state.names)} objects>"


def id_of(call: object) -> str:
    """Return the id of a call, given as its id or record. Raises UsageError for anything else."""
    call_id = call if isinstance(call, str) else getattr(call, "id", None)
    if not isinstance(call_id, str):
        raise UsageError(f"{call!r:.60} is no call; give one of session.calls, or its id")
    return call_id
