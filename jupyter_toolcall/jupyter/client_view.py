"""What a client of the served session reads: its tools and objects, the graph, and the session as
text.

Secrets are hidden in all of it. Of tables a client gets what a model would get: `--share` and
`--withhold` decide.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.events import Asked, Made, Replied
from ..core.recorded_data import JsonDict
from ..core.secrets import is_named_secret
from ..core.text import nearest, visible_text
from ..engine.decisions import waiting_calls
from ..engine.person_model import idle_phase
from ..schemes.listing import object_text
from ..schemes.save_tool import save_tools
from ..schemes.scheme import asked_by_client, result_data, result_text
from ..session.session import Session
from ..sources.table_sharing import Sharing
from ..tools.table_classes import has_cells
from ..tools.tool import Tool
from ..view.contract_rows import Preview
from ..view.previews import LARGE, preview

MOST_LISTED = 100
"""Tools, and objects, in one list."""
LINE = 200
"""Characters of a description in a list."""


@dataclass(frozen=True, slots=True)
class Content:
    """What an object, the graph or the session holds: a text, or an image in base64."""

    mime_type: str
    text: str = ""
    image: str = ""


def tools_of(session: Session) -> tuple[Tool, ...]:
    """Return the tools that a client may call: those of the session, and `save` where outputs are
    asked for. The scheme's own tools are only for the session's model."""
    return (*session.toolbox, *map(asked_by_client, save_tools(session.state, session.toolbox)))


# -- lists and descriptions ----------------------------------------------------------------------


def overview(session: Session, query: str = "") -> JsonDict:
    """Return the tools and objects of a session, the newest object first, and what waits.

    With a `query` only those whose name or description has that text.
    """
    state, toolbox = session.state, session.toolbox
    tools = (
        {"name": tool.name, "description": _first_line(tool), "read_only": tool.read_only}
        for tool in tools_of(session)
    )
    objects = (
        {"name": name, "description": object_text(name, state, toolbox)[:LINE]}
        for name in reversed(state.names)
    )
    data: JsonDict = {"session": session.name, "status": idle_phase(session.cursor)[1]}
    data |= _list_part("tools", tools, query) | _list_part("objects", objects, query)
    data["waiting"] = [
        {"call_id": call.id, "tool": call.tool, "asked_by": call.asked_call.by or "the model"}
        for call in waiting_calls(session.cursor)
    ]
    return _hide_secrets(session, data)


def _first_line(tool: Tool) -> str:
    return next(iter(tool.description.splitlines()), "")[:LINE]


def _list_part(name: str, rows: Iterable[JsonDict], query: str) -> JsonDict:
    """Return under `name` the first rows with the text `query`, and the number of further ones."""
    needle = query.lower()
    fitting = [row for row in rows if needle in f"{row['name']} {row['description']}".lower()]
    hidden = len(fitting) - MOST_LISTED
    return {name: fitting[:MOST_LISTED]} | ({f"more_{name}": hidden} if hidden > 0 else {})


def object_line(session: Session, name: str) -> str:
    """Return an object in a line: the call that made it, or its description."""
    text = object_text(name, session.state, session.toolbox)[:LINE]
    return str(session.cursor.context.secrets.hide(text))


def description(session: Session, name: str) -> JsonDict:
    """Return a tool with its schema, or an object with what it was made from, by name.

    Raises UsageError, which names the nearest, for any other name.
    """
    tools = {tool.name: tool for tool in tools_of(session)}
    if name in tools:
        tool = tools[name]
        marks = {"read_only": tool.read_only, "idempotent": tool.idempotent}
        marks |= {"destructive": tool.destructive, "asks_person": tool.for_person}
        return _hide_secrets(session, tool.definition() | marks | {"returns": tool.result})
    obj = object_named(session, name, tools)
    return _hide_secrets(
        session,
        {
            "name": name,
            "type": obj.kind,
            "description": object_text(name, session.state, session.toolbox),
            "made_from": list(session.deps(name)),
            "used_by": list(session.users(name)),
        },
    )


def object_named(session: Session, name: str, others: Iterable[str] = ()) -> Made:
    """Return an object. Raises UsageError, which names the nearest object or one of `others`."""
    obj = session.state.objects.get(name)
    if obj is None:
        names = [*session.state.names, *others]
        raise UsageError(
            f"there is nothing named {name!r:.80} in this session.{nearest(name, names)}"
        )
    return obj


def _hide_secrets(session: Session, data: JsonDict) -> JsonDict:
    shown: JsonDict = session.cursor.context.secrets.hide(data)
    return shown


# -- what an object holds ------------------------------------------------------------------------


def object_content(session: Session, name: str) -> Content:
    """Return what an object holds: the shared rows of a table, a picture, JSON data, or its text.

    Raises UsageError for an unknown name, Absent where its value is not in this kernel.
    """
    obj, context = object_named(session, name), session.cursor.context
    if obj.producer.input and is_named_secret(obj.producer.input):
        return Content("text/plain", f"not shown: {obj.producer.input} is the name of a secret")
    if obj.withheld:
        return Content("text/plain", f"a {obj.kind}, {obj.description}")
    value = context.values.value(obj)
    if has_cells(value):
        return Content("text/plain", context.content_text(value))
    if _limits_sharing(context.sharing) and not _is_data(value):
        return Content(
            "text/plain",
            f"a {type(value).__name__}; its content is not shown, since it may hold values of "
            "tables that this session does not share",
        )
    picture = preview(value, context.value_reprs, LARGE)
    head, _, image = picture.image.partition(";base64,")
    if image and head.startswith("data:image/"):
        return Content(head.removeprefix("data:"), image=image)
    return Content("text/plain", context.content_text(value))


def _limits_sharing(sharing: Sharing) -> bool:
    """Return whether parts of tables must not leave, which a picture or an array could show."""
    return sharing.share == "schema" or bool(sharing.withhold)


def _is_data(value: object) -> bool:
    """Return whether a value holds nothing but JSON data: no table, array or figure."""
    data = vars(value) if dataclasses.is_dataclass(value) and hasattr(value, "__dict__") else value
    try:
        json.dumps(data)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


# -- the graph and the session -------------------------------------------------------------------


def graph_picture(session: Session) -> Content:
    """Return the lineage of the objects as SVG, without previews where sharing is limited."""
    # The exporters are imported when the first client asks.
    export = import_module("..export", __package__)
    branch = export.exported_session(session.cursor, session.name)
    if _limits_sharing(session.cursor.context.sharing):
        objects = tuple(replace(row, preview=Preview()) for row in branch.rows.objects)
        branch = replace(branch, rows=replace(branch.rows, objects=objects))
    return Content("image/svg+xml", str(export.text(branch, "svg")))


def session_text(session: Session) -> Content:
    """Return the session as Markdown: prompts, replies, and the calls with their results."""
    lines = "\n\n".join(_session_parts(session))
    return Content("text/markdown", str(session.cursor.context.secrets.hide(lines)))


def _session_parts(session: Session) -> Iterator[str]:
    state = session.state
    yield f"# Session {session.name}".rstrip()
    yield idle_phase(session.cursor)[1]
    for entry in session.journal.path(session.head):
        match entry.event:
            case Asked(text):
                yield f"## {visible_text(text, LINE)}"
            case Replied() as reply:
                text = reply.text if reply.said is None else reply.said
                if text:
                    yield text
                calls = (state.calls[call.id] for call in reply.calls)
                if lines := [call_line(call) for call in calls]:
                    yield "\n".join(lines)
    saved = [f"- `{name}`: {value}" for name, value in state.outputs.items()]
    if saved:
        yield "\n".join(["Outputs:", *saved])


def call_line(call: CallRecord) -> str:
    """Return a call in a line: its step, its arguments, who asked for it, and its result."""
    arguments = ", ".join(f"{key}={readable_json(value)}" for key, value in call.arguments.items())
    who = f" (asked by {call.asked_call.by})" if call.asked_call.by_client else ""
    call_text = visible_text(f"{call.tool}({arguments})", 400).replace("`", "'")
    if call.outcome is None:
        return f"{call.step}. `{call_text}`{who}: {call.status}"
    result = visible_text(result_text(result_data(call)[0]), 400).replace("`", "'")
    return f"{call.step}. `{call_text}`{who} → `{result}`"
