"""The schemes by name, and any of them in XML: its tools stand in the system text, calls and
results in the text.

What may be called, what is left unsaid and what a call came to is the inner scheme's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import UsageError
from ..core.events import Call
from ..core.recorded_data import replace
from ..core.state import State
from ..core.text import nearest
from ..tools.arguments import writable_call
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from . import xml_writer
from .current import Current
from .messages import Assistant, Message, Reply, Result, Results, User, call_id
from .scheme import Flat, Offer, Scheme
from .select import Select
from .xml_parser import WrittenCall, pair, prose, tool_name, written_calls

SCHEMES: Mapping[str, Scheme] = {"select": Select(), "current": Current(), "flat": Flat()}
_FUNCTIONS = ("offer", "read", "complete", "render", "speak")
UNREADABLE = "unreadable"
"""The name of a call that does not say which tool it is for."""
FORCED = 5
"""How often a model that has to call a tool is told so for one prompt."""


def scheme_named(scheme: str | Scheme, native: bool = False) -> Scheme:
    """Return a scheme by its name, or as it is; with `native`, its form in XML.

    `native(select)` is a scheme that is spoken in XML, `native` is `native(flat)`. Raises
    UsageError for what is no scheme.
    """
    if native:
        chosen = scheme_named(scheme)
        return chosen if isinstance(chosen, Native) else Native(chosen)
    if isinstance(scheme, str):
        if scheme in NAMED:
            return NAMED[scheme]
        names = ", ".join((*SCHEMES, "native(NAME)"))
        raise UsageError(f"no scheme {scheme!r}; there are {names}.{nearest(scheme, SCHEMES)}")
    if isinstance(scheme, type):
        raise UsageError(f"{scheme.__name__} is a class; its scheme is {scheme.__name__}()")
    if not is_scheme(scheme):
        raise UsageError(
            f"{scheme!r:.60} is no scheme: give a name ({', '.join(SCHEMES)}), or an instance of a "
            "class that is made from jupyter_toolcall.schemes.Scheme"
        )
    return scheme


def is_scheme(value: object) -> bool:
    """Return whether a value is a scheme, of ours or not."""
    return all(hasattr(type(value), function) for function in _FUNCTIONS)


@dataclass(frozen=True, slots=True, init=False)
class Native:
    """A scheme whose tools are called in the text. `force`: the model is told to call one, at most
    FORCED times for a prompt, until it does.

    `scheme` may be a scheme's name: `Native("flat")`. Raises UsageError for what is none.
    """

    scheme: Scheme
    force: bool

    def __init__(self, scheme: Scheme | str, force: bool = False) -> None:
        inner = scheme_named(scheme)
        if isinstance(inner, Native):
            raise UsageError(f"{inner.name} is XML already: give the scheme that is in it")
        object.__setattr__(self, "scheme", inner)
        object.__setattr__(self, "force", force)

    @property
    def name(self) -> str:
        return f"native({self.scheme.name}{', force' if self.force else ''})"

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        inner = self.scheme.offer(state, toolbox)
        tools = xml_writer.instructions(inner.own, inner.tools, toolbox)
        force = xml_writer.FORCE if self.force and not _has_called(state, toolbox) else ""
        return replace(
            inner,
            system="\n\n".join(filter(None, (inner.system, tools))),
            about="",
            spoken=True,
            reminder="\n".join(filter(None, (force, inner.reminder))),
            reminders=FORCED if force else inner.reminders,
        )

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        """A reply that calls by an interface (a script's) reads as if it had been written."""
        inner = self.scheme.offer(state, toolbox)
        tools = {tool.name: tool for tool in (*toolbox, *inner.tools, *inner.own)}
        # A reply that was read before has what a person reads of it.
        if reply.calls and reply.said is None:
            calls = tuple(map(writable_call, reply.calls))
            text = "\n\n".join(filter(None, (reply.text, xml_writer.calls_block(calls, tools.get))))
            # The provider's own content was another text.
            reply = replace(reply, text=text, calls=calls, said=reply.text, raw=None)
        elif written := written_calls(reply.text):
            calls = tuple(
                _call(call_id(state.turns, index, len(written)), call, tools)
                for index, call in enumerate(written)
            )
            stop = "tools" if reply.stop == "end" else reply.stop
            full_text = "\n\n".join(filter(None, (prose(reply.text, written), reply.ending)))
            reply = replace(reply, calls=calls, stop=stop, said=full_text)
        return self.scheme.read(reply, state, toolbox)

    def complete(self, call: CallRecord, tool: Tool, state: State) -> dict[str, Any]:
        return self.scheme.complete(call, tool, state)

    def render(self, call: CallRecord, state: State, toolbox: Toolbox) -> Result:
        result = self.scheme.render(call, state, toolbox)
        tool, name = toolbox.get(call.tool), call.tool.removeprefix(UNREADABLE)
        names = pair(tool) if tool else (name, "" if call.call.broken else name)
        return replace(result, content=xml_writer.result_element(*names, result))

    def speak(self, message: Message) -> Message:
        match self.scheme.speak(message):
            case Assistant(text, raw=raw):
                return Assistant(text, (), raw)
            case Results(results, news):
                return User(xml_writer.results_block(results, news))
            case other:
                return other


NAMED: Mapping[str, Scheme] = {
    "native": Native(SCHEMES["flat"]),
    **{
        scheme.name: scheme
        for inner in SCHEMES.values()
        for scheme in (inner, Native(inner), Native(inner, force=True))
    },
}
"""Every scheme of ours by the name that journals have, such as `native(select, force)`."""


def scheme_recorded(name: str) -> Scheme:
    """Return the scheme of a session that is only read; what another one offered is recorded."""
    return NAMED.get(name) or type(name, (Flat,), {"name": name})()


def _has_called(state: State, toolbox: Toolbox) -> bool:
    """Return whether a tool ran, or a person ruled on one, since a person spoke last."""
    calls = map(state.calls.__getitem__, state.order[state.calls_before :])
    return any(call.tool in toolbox and (call.started or call.decided) for call in calls)


def _call(call_id: str, call: WrittenCall, tools: Mapping[str, Tool]) -> Call:
    """Return a call that was written; one that cannot be read says why, and how to write it."""
    name = tool_name(call.tool, call.function, tools)
    wrong = call.wrong or ("" if name else "the call does not say which tool and which function")
    types = partial(xml_writer.parameter_types, tools.get(name))
    texts = {key: xml_writer.value(text, types(key)) for key, text in call.texts.items()}
    problem = f"{wrong}. {xml_writer.WRITE_SO}" if wrong else ""
    return Call(call_id, name or UNREADABLE, {**call.whole, **texts}, problem)
