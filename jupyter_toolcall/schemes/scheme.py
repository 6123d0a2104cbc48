"""What a tool-calling scheme is: five pure functions, and no state of its own.

What a model selected, uses, named or saved is in the calls that it made, so a scheme
reads it from there. Below are the parts that schemes share: the lines that tell a model of objects
and tools, and the results of calls; and `Flat`, the simplest scheme. A scheme is one small file
beside this one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from jsonschema_rs import is_valid

from ..core.call_record import CallRecord, is_bare_list
from ..core.digests import json_line, readable_json
from ..core.errors import CallError
from ..core.events import Data, Failed, Interrupted, Made, Many
from ..core.state import NAME, State
from ..core.text import nearest, shortened_text
from ..tools.object_references import kinds_of
from ..tools.object_types import receiver_types
from ..tools.tool import Resolve, Tool, parameters_schema
from ..tools.toolbox import Toolbox
from .messages import Message, Reply, Result
from .save_tool import READ, common_tools, reminder, result_limit

T = TypeVar("T")
SHOWN = 8
"""So many objects of one kind are listed, the newest; what is older stays usable."""
FEW = 12
"""So many functions of one type are named to a model that called another one."""
ALIKE = 0.85
"""From here on a name is a slip of the pen: the nearest is meant."""
ABOUT = 400
"""Characters of what a class says of itself: its first paragraph."""
GROUPS = "The first part of the name of a tool stands for:"
RECIPE = 160
"""Characters of how an object was made."""
PLAIN_DATA = (
    "Some names stand for data that you can read. Wherever a tool takes a text, a number or other "
    "data, you may give the value, or its exact name in place of it: the tool gets all of the "
    "value."
)
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

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
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
        lines = [object_line(name, state, toolbox) for name in state.inputs.values()]
        listed = section("Objects at the start:", lines)
        system = "\n".join([FLAT_SYSTEM, *listed, *plain_note(state)])
        about = "\n".join(_group_lines_of_all(toolbox))
        own = common_tools(state, toolbox)
        return Offer(own, tuple(toolbox), system, about, reminder=reminder(state))


def plain_note(state: State) -> tuple[str, ...]:
    """Return what a model is told of the names of plain data, if there are any."""
    return (PLAIN_DATA,) if state.plain else ()


def plain_text(made: Made) -> str:
    """Return plain data as a model is shown it, and what it is; "" for any other object."""
    if not made.shown:
        return ""
    about = " ".join(made.description.split()) or made.producer.input
    return f"{made.shown} ({about})" if about else made.shown


# -- calls ---------------------------------------------------------------------------------------


def with_receiver(call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
    """Return a call's arguments; a receiver that was left out is the newest of its type."""
    arguments = dict(call.asked)
    if tool.receiver and arguments.get(tool.receiver) is None:
        newest = newest_of(receivers(tool), state)
        if newest is not None:
            return with_first(tool.receiver, newest, arguments)
    return arguments


def with_first(name: str, value: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with one before the others, in place of its value among them."""
    return {name: value, **arguments} | {name: value}


def completed(scheme: Scheme, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
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
    schema: Mapping[str, Any],
    wrong: str,
    function: Callable[[Any], Any] = lambda value: value,
) -> Tool:
    """Return a tool of the scheme itself, by its name and description, that takes one argument.

    `wrong` is what the model is told of arguments that do not fit.
    """
    closed = {"properties": {key: schema}, "required": [key], "additionalProperties": False}
    parameters = {"type": "object", **closed}

    def check(arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        # An empty list names nothing. The schema does not say so, since recorded requests hold it.
        if not is_valid(parameters, dict(arguments)) or not arguments[key]:
            raise CallError(wrong)
        return dict(arguments)

    return Tool(*named, parameters, lambda **value: function(value[key]), check, read_only=True)


def own_tool(name: str, offer: Offer) -> Tool | None:
    """Return a tool of the scheme itself by name; None if it has none of that name."""
    return next((tool for tool in offer.own if tool.name == name), None)


def asked_by_client(tool: Tool) -> Tool:
    """Return a tool of the scheme itself as a client of the served session may ask for it.

    The session's model needs nobody's leave to select tools or to save. A client that does so
    changes what the model works with, or a variable of the notebook: it asks as for any effect.
    """
    return replace(tool, read_only=False)


def unknown_tool(name: str, toolbox: Toolbox, offer: Offer) -> CallError:
    """Return the error for a model that called a tool which does not exist."""
    text = no_tool(name, [tool.name for tool in (*offer.own, *toolbox)], toolbox)
    return CallError(f"{text[:1].lower()}{text[1:]}")


# -- results -------------------------------------------------------------------------------------


def result_data(call: CallRecord) -> tuple[dict[str, Any], bool]:
    """Return the result of a call as JSON-ready data, and whether that is an error."""
    error, note = _error(call), _note(call)
    data = _data(call) if error is None else {"error": error}
    return ({"note": note, **data} if note else data), error is not None


def _note(call: CallRecord) -> str:
    """Return what a person's decision says beside the result of a call, "" for nothing."""
    if call.decided is None:
        return ""
    if call.edited:
        ran = ", ".join(f"{key}={readable_json(value)}" for key, value in call.arguments.items())
        note = f"A person changed this call; what ran in its place: {call.tool}({ran})."
    elif call.status == "answered":
        unknown = _unknown(call) if call.unknown_reason else "the tool did not run"
        note = f"A person gave this result; {unknown}."
    else:
        return ""
    return _with_reason(note, call.decided.reason)


def _error(call: CallRecord) -> str | None:
    """Return why a call has no result, None where it has one."""
    match call.outcome:
        case Made() | Many() | Data():
            return None
        case Failed(message) if call.status == "rejected":
            text = "This call was rejected, so it did not run."
            if call.unknown_reason:
                text = f"{_unknown(call)}. It did not run again."
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


def _data(call: CallRecord) -> dict[str, Any]:
    """Return a result: data, or the names of objects, and what the tool changed besides."""
    more: dict[str, Any] = {}
    match call.outcome:
        case Many() as outcome:
            key, result = "objects" if is_bare_list(outcome) else "result", call.structure
            more = {"unnamed": dict(outcome.unnamed)}
            more |= {"changed": call.changed, "untracked": call.untracked}
        case Made() as made:
            key, result = "result", call.object
            more = {"about": made.description if made in call.produced else ""}
        case _:
            key, result = "result", call.data
    return {key: result, **{name: part for name, part in more.items() if part}}


def _with_reason(text: str, reason: str) -> str:
    return f"{text} Reason: {reason}" if reason else text


def sent_data(call: CallRecord, state: State, toolbox: Toolbox) -> tuple[dict[str, Any], bool]:
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


# -- objects and tools, as lines -----------------------------------------------------------------
# Nothing here depends on the order of a set or a map, so that the same state is always told
# in the same words: a prompt cache lives by that.


def once_for_a_toolbox(compute: Callable[[Toolbox], T]) -> Callable[[Toolbox], T]:
    """Return a function that computes what it returns once for each toolbox."""
    kept: WeakKeyDictionary[Toolbox, T] = WeakKeyDictionary()

    def read(toolbox: Toolbox) -> T:
        if (result := kept.get(toolbox)) is None:
            result = kept[toolbox] = compute(toolbox)
        return result

    return read


def functions_of(kind: str, toolbox: Toolbox) -> tuple[Tool, ...]:
    """Return the tools that objects of a type have, in toolbox order; "": those of none."""
    return _functions_by_kind(toolbox).get(kind, ())


@once_for_a_toolbox
def _functions_by_kind(toolbox: Toolbox) -> dict[str, tuple[Tool, ...]]:
    own: dict[str, tuple[Tool, ...]] = {}
    for tool in toolbox:
        kind = tool.kind if tool.receiver else ""
        own[kind] = (*own.get(kind, ()), tool)
    # A type that was not given itself has the functions of the classes that it is made from.
    inherited: dict[str, tuple[Tool, ...]] = {}
    for kind, tools in own.items():
        cls = toolbox.type_named(kind)
        for heir in receiver_types(cls, toolbox.kinds) if cls is not None else ():
            name = toolbox.kinds.get(heir, kind)
            inherited[name] = (*inherited.get(name, ()), *tools)
    return {**inherited, **own}


def class_texts(kinds: Iterable[str], toolbox: Toolbox) -> dict[str, str]:
    """Return what the classes of types say of themselves, by the first part of their tools' names.

    The type "" stands for all instances and toolsets whose tools take no object.
    """
    tools = (tool for kind in kinds for tool in functions_of(kind, toolbox) if tool.about)
    about = {tool.group: tool.about for tool in tools}
    first = ((group, text.partition("\n\n")[0]) for group, text in about.items())
    return {group: shortened_text(" ".join(text.split()), ABOUT) for group, text in first}


def group_lines(kinds: Iterable[str], toolbox: Toolbox) -> list[str]:
    """Return `class_texts` as lines, below a title."""
    texts = class_texts(kinds, toolbox).items()
    return section(GROUPS, [f"- {group}: {text}" for group, text in texts])


@once_for_a_toolbox
def _group_lines_of_all(toolbox: Toolbox) -> list[str]:
    return group_lines(("", *receiver_kinds(toolbox)), toolbox)


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Return lines below a title, none where there are no lines."""
    return [title, *lines] if lines else []


def no_tool(name: str, known: Iterable[str], toolbox: Toolbox) -> str:
    """Return what a model is told of a tool that does not exist: the nearest, or the type's."""
    names, group = list(known), name.partition("_")[0]
    text = f"There is no tool {name!r}.{nearest(name, names)}"
    functions = [tool.name for tool in toolbox if group and tool.group == group]
    if get_close_matches(name, names, 1, ALIKE) or not 0 < len(functions) <= FEW:
        return text
    return f"{text} {group} has: {', '.join(functions)}."


def newest_names(kind: str, state: State) -> list[str]:
    """Return the names of the newest objects of a type, the newest last; of data all names."""
    names = state.of_kind.get(kind) or ()
    # No result names an input that is plain data, so all of them are listed.
    return [*names] if names and names[0] in state.plain else [*names[-SHOWN:]]


def object_line(name: str, state: State, toolbox: Toolbox) -> str:
    """Return an object as one line: its name, and what is known of it."""
    return f"- {name}: {object_text(name, state, toolbox)}".rstrip(": ")


def object_text(name: str, state: State, toolbox: Toolbox) -> str:
    """Return what a person said of an object, or else the call that made it."""
    made = state.objects[name]
    if made.shown:
        return plain_text(made)
    call = state.calls.get(made.producer.call)
    if call is None:
        return " ".join(made.description.split())
    recipe = f"{_recipe(call, toolbox.get(call.tool))}{_result_path(made, call)}"
    return f"given by a person for {recipe}" if call.status == "answered" else recipe


def _result_path(made: Made, call: CallRecord) -> str:
    """Return where an object stands in the result of a call: `["others"][0]`."""
    if made.changed:
        return f", as it changed {made.changed}"
    outcome, index = call.outcome, made.producer.index
    if not isinstance(outcome, Many):
        return ""
    steps = outcome.paths[index] if index < len(outcome.paths) else ()
    if is_bare_list(outcome):
        steps = (index,)
    return "".join(f"[{readable_json(step)}]" for step in steps)


def _recipe(call: CallRecord, tool: Tool | None) -> str:
    """Return a call in one line: `Potato#1.slice(shape: "STICKS")`."""
    arguments, name = dict(call.arguments), call.tool
    if tool is not None and (receiver := arguments.pop(tool.receiver, "")):
        name = f"{receiver}.{name.removeprefix(f'{tool.kind}_')}"
    text = f"{name}({', '.join(f'{key}: {_value(value)}' for key, value in arguments.items())})"
    return text if len(text) <= RECIPE else f"{text[:RECIPE]}…"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) and NAME.fullmatch(value) else readable_json(value)
    return shortened_text(text, 40)


def new_kinds(call: CallRecord, state: State) -> list[str]:
    """Return the types whose first object a call made."""
    produced = call.produced
    first = (made.kind for made in produced if state.name_of(made) == state.oldest(made.kind))
    return list(dict.fromkeys(first))


def receiver_kinds(toolbox: Toolbox) -> tuple[str, ...]:
    """Return the types that a toolbox knows, in its order."""
    kinds = (tool.kind for tool in toolbox if tool.receiver)
    return tuple(dict.fromkeys((*kinds, *toolbox.kinds.values())))


def existing_kinds(state: State) -> list[str]:
    """Return the types that have an object, in the order in which they came to be."""
    first_steps = {kind: _producing_step(state.oldest(kind), state) for kind in state.of_kind}
    return sorted(first_steps, key=lambda kind: (first_steps[kind], kind))


def newest_of(kinds: tuple[str, ...], state: State) -> str | None:
    """Return the newest object that is of one of these types; None if there is none."""
    names = [state.newest[kind] for kind in kinds if kind in state.newest]
    return max(names, key=lambda name: _producing_step(name, state), default=None)


def _producing_step(name: str, state: State) -> int:
    """Return the step of the call that made an object; 0 for one from outside."""
    call = state.calls.get(state.objects[name].producer.call)
    return call.step if call is not None else 0
