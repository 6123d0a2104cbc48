"""What a tool-calling scheme is: five pure functions, and no state of its own.

What a model selected, uses, named or saved is in the calls that it made, so a scheme
reads it from there. Below are the parts that schemes share: the lines that tell a model of objects
and tools, and the results of calls; and `Flat`, the simplest scheme. A scheme is one small file
beside this one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from jsonschema_rs import is_valid

from ..core.call_record import CallRecord, is_bare_list
from ..core.digests import json_line, readable_json
from ..core.errors import CallError
from ..core.events import Data, Failed, Interrupted, Made, Many
from ..core.recorded_data import JsonDict
from ..core.state import State
from ..tools.object_references import kinds_of
from ..tools.tool import Resolve, Tool, parameters_schema
from ..tools.toolbox import Toolbox
from . import listing
from .messages import Message, Reply, Result
from .save_tool import READ, common_tools, reminder, result_limit

FLAT_SYSTEM = (
    "Objects have names such as Type#1 and never change: a tool that returns one makes a new name."
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a model is given for one turn: tools of the scheme itself, and others.

    `own` run without being asked about: they change nothing but the conversation.
    `deferred` are tools that a later turn may offer.
    """

    own: tuple[Tool, ...] = ()
    tools: tuple[Tool, ...] = ()
    system: str = ""
    about: str = ""
    """What the classes of tools say of themselves; a text that tells of each tool has it there."""
    deferred: tuple[Tool, ...] = ()
    spoken: bool = False
    """The system text tells of the tools: none goes by the model's own interface."""
    reminder: str = ""
    """What the model is told where it stops here, "" where it may."""
    reminders: int = 1
    """How often it is told so for one prompt."""
    listed: Mapping[str, str] = field(default_factory=dict)
    """The lines of its own tools' descriptions that list objects and tools: for each line the
    object whose result tells the model of it too, "" where the line tells nothing new."""


class Scheme(Protocol):
    """A tool-calling scheme: what a model is offered, and how its calls are understood.

    Only `offer` is every scheme's own; a class made from this one has the rest as most do.
    """

    @property
    def name(self) -> str:
        """What it is called in a journal: its class, in small letters."""
        return type(self).__name__.lower()

    @abstractmethod
    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        """Return what the model may call now.

        It may depend on how the session was opened, on prompts, and on the results of calls, and
        on nothing else, so that it holds until the next of these.

        Args:
            state: The session as it stands: its calls, objects and outputs.
            toolbox: The session's tools.
        """

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        """Return a reply with its calls: those that it writes as text are read here."""
        return reply

    def complete(self, call: CallRecord, tool: Tool, state: State) -> JsonDict:
        """Return a call's arguments with what the model left out.

        Args:
            call: The call as it was asked for.
            tool: Its tool: one of the scheme's own, or of the toolbox.
            state: The session as it stands.

        Raises:
            CallError: The scheme does not allow the call now; the message says what to do first.
        """
        return with_receiver(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        """Return the result of a call as the model is sent it."""
        data, error = sent_data(call, state, toolbox)
        return Result(call.id, result_text(data), error)

    def speak(self, message: Message) -> Message:
        """Return a message as it is sent by the model's own interface."""
        return message


@dataclass(frozen=True)
class Flat(Scheme):
    """Every tool, always. What most model APIs mean by tools."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        # Objects from outside are named here, since no tool's result ever names them.
        lines = [listing.object_line(name, state, toolbox) for name in state.inputs.values()]
        listed = listing.section("Objects at the start:", lines)
        system = "\n".join([FLAT_SYSTEM, *listed, *listing.plain_note(state)])
        about = "\n".join(listing.group_lines_of_all(toolbox))
        tools = common_tools(state, toolbox)
        return Offer(tools, tuple(toolbox), system, about, reminder=reminder(state))


# -- calls ---------------------------------------------------------------------------------------


def with_receiver(call: CallRecord, tool: Tool, state: State) -> JsonDict:
    """Return a call's arguments; a receiver that was left out is the newest of its type."""
    is_due = tool.receiver and call.asked.get(tool.receiver) is None
    newest = listing.newest_of(receivers(tool), state) if is_due else None
    return with_first(tool.receiver, newest, call.asked) if newest else dict(call.asked)


def with_first(name: str, value: str, arguments: Mapping[str, object]) -> JsonDict:
    """Return arguments with one before the others, in place of its value among them."""
    return {name: value, **arguments} | {name: value}


def completed(scheme: Scheme, call: CallRecord, tool: Tool, state: State) -> JsonDict:
    """Return a call's arguments with what was left out.

    A client of the served session was offered no scheme: it names its objects, and selects no
    tools. Raises CallError as `Scheme.complete` does.
    """
    by_client = call.asked_call.by_client
    return (with_receiver if by_client else scheme.complete)(call, tool, state)


def receivers(tool: Tool) -> tuple[str, ...]:
    """Return the types whose objects a tool is a function of, as its schema has them."""
    schema = parameters_schema(tool).get("properties", {}).get(tool.receiver, {})
    return kinds_of(schema) or (tool.kind,)


def tool_of_one(
    named: tuple[str, str],
    key: str,
    schema: Mapping[str, object],
    wrong: str,
    function: Callable[[Any], object] = lambda value: value,
) -> Tool:
    """Return a tool of the scheme itself, by its name and description, that takes one argument.

    `wrong` is what the model is told of arguments that do not fit.
    """
    closed = {"properties": {key: schema}, "required": [key], "additionalProperties": False}
    parameters = {"type": "object", **closed}

    def check(arguments: Mapping[str, object], resolve: Resolve) -> JsonDict:
        # An empty list names nothing. The schema does not say so, since recorded requests hold it.
        if not is_valid(parameters, dict(arguments)) or not arguments[key]:
            raise CallError(wrong)
        return dict(arguments)

    return Tool(*named, parameters, lambda **value: function(value[key]), check, read_only=True)


def asked_by_client(tool: Tool) -> Tool:
    """Return a tool of the scheme itself as a client of the served session may ask for it.

    The session's model needs nobody's leave to select tools or to save. A client that does so
    changes what the model works with, or a variable of the notebook: it asks as for any effect.
    """
    return replace(tool, read_only=False)


def unknown_tool(name: str, toolbox: Toolbox, offer: Offer) -> CallError:
    """Return the error for a model that called a tool which does not exist."""
    text = listing.no_tool(name, tool_names(toolbox, offer), toolbox)
    return CallError(f"{text[:1].lower()}{text[1:]}")


def tool_names(toolbox: Toolbox, offer: Offer) -> list[str]:
    """Return the names of all tools: those of the scheme itself, and of the toolbox."""
    return [tool.name for tool in (*offer.own, *toolbox)]


# -- results -------------------------------------------------------------------------------------


def result_data(call: CallRecord) -> tuple[JsonDict, bool]:
    """Return the result of a call as JSON-ready data, and whether that is an error."""
    error, note = _error(call), _note(call)
    data = _data(call) if error is None else {"error": error}
    return ({"note": note, **data} if note else data), error is not None


def _note(call: CallRecord) -> str:
    """Return what a person's decision says beside the result of a call, "" for nothing."""
    if call.edited:
        ran = ", ".join(f"{key}={readable_json(value)}" for key, value in call.arguments.items())
        note = f"A person changed this call; what ran in its place: {call.tool}({ran})."
    elif call.status == "answered":
        unknown = _unknown(call) if call.unknown_reason else "the tool did not run"
        note = f"A person gave this result; {unknown}."
    else:
        return ""
    return _with_reason(note, call.decided.reason if call.decided else "")


def _error(call: CallRecord) -> str | None:
    """Return why a call has no result, None where it has one."""
    match call.outcome:
        case Made() | Many() | Data():
            return None
        case Failed(message) if call.status == "rejected":
            text = "This call was rejected, so it did not run."
            text = f"{_unknown(call)}. It did not run again." if call.unknown_reason else text
            return _with_reason(text, message)
        case Failed(message):
            return message
        case Interrupted(ran=False):
            return "A person interrupted this call before it began: it did not run."
        case Interrupted():
            return "A person interrupted this call while it ran; what it had done is not known."
    return "This call has no result."


def _unknown(call: CallRecord) -> str:
    return f"it is not known whether the call took effect ({call.unknown_reason})"


def _data(call: CallRecord) -> JsonDict:
    """Return a result: data, or the names of objects, and what the tool changed besides."""
    fields: JsonDict = {}
    match call.outcome:
        case Many() as outcome:
            key, result = "objects" if is_bare_list(outcome) else "result", call.structure
            fields = {"unnamed": dict(outcome.unnamed)}
            fields |= {"changed": call.changed, "untracked": call.untracked}
        case Made() as ref:
            key, result = "result", call.object
            fields = {"about": ref.description if ref in call.produced else ""}
        case _:
            key, result = "result", call.data
    return {key: result, **{name: part for name, part in fields.items() if part}}


def _with_reason(text: str, reason: str) -> str:
    return f"{text} Reason: {reason}" if reason else text


def sent_data(call: CallRecord, state: State, toolbox: Toolbox) -> tuple[JsonDict, bool]:
    """Return `result_data` as a model is sent it: a long result ends with how to read on."""
    data, error = result_data(call)
    limit = result_limit(call.tool, state, toolbox)
    # The longest result of a tool is known: most results need not be written out to be measured.
    is_long = (state.sizes.get(call.tool) or 0) > limit and call.tool != READ
    if is_long and len(text := call.result_text) > limit:
        reads_on = "" if READ in toolbox else f'; read on with {READ}("{call.id}", start={limit})'
        key = "result" if "result" in data else "objects"
        data[key] = f"{text[:limit]}… ({len(text):,} characters in all{reads_on})"
    return data, error


result_text = json_line(ensure_ascii=False, space=" ", allow_nan=True)
"""Returns a result as the text that a model is sent: JSON."""
