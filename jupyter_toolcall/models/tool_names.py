"""Names of tools as providers take them: at most 64 ASCII letters, digits, `_` and `-`.

OpenAI and Anthropic both document this limit. A longer name, or one with other characters, is sent
in a short form: its beginning and a digest of it. In replies the name replaces the short form, so
the session, its journal and the panel only have the names of the tools.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..core.digests import digest
from ..core.recorded_data import replace
from ..schemes.messages import Assistant, Message, Request, Results
from ..tools.tool import ToolDefinition

LONGEST = 64
"""Characters of a tool's name that every provider takes."""
DIGITS = 8
"""Characters of the digest at the end of a short form."""
_ACCEPTED = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST}}}")
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]+")
AnyTool = TypeVar("AnyTool", bound=ToolDefinition)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the short form of each name that cannot be sent as it is.

    The same names have the same forms in any order, and no two names have one form.
    """
    all_names = set(names)
    forms: dict[str, str] = {}
    refused = [name for name in all_names if not _ACCEPTED.fullmatch(name)]
    # A tool may already have the name that a form would be: a server chooses its fields' names.
    used_names = all_names.difference(refused)
    for name in sorted(refused):
        attempt = 0
        while (form := _short_form(name, attempt)) in used_names:
            attempt += 1
        used_names.add(form)
        forms[name] = form
    return forms


def _short_form(name: str, attempt: int) -> str:
    """Return the beginning of a name, as far as it is accepted, and a digest of the name."""
    letters = unicodedata.normalize("NFKD", name)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    beginning = _REFUSED.sub("_", plain)[: LONGEST - DIGITS - 1]
    return f"{beginning}_{digest('tool name', name, attempt)[:DIGITS]}"


def with_short_names(request: Request) -> tuple[Request, Mapping[str, str]]:
    """Return a request in which every tool has a name that can be sent, and the names by form.

    The description of a renamed tool begins with its name, since results and lists of tools have
    that name.
    """
    names = {tool.name for tool in (*request.tools, *request.deferred)}
    forms = short_names(names.union(sent.name for sent in request.first))
    if not forms:
        return request, {}
    tools = {"tools": request.tools, "deferred": request.deferred, "first": request.first}
    renamed = {key: tuple(_renamed(tool, forms) for tool in tools[key]) for key in tools}
    messages = tuple(_message(message, forms) for message in request.messages)
    names_by_form = {form: name for name, form in forms.items()}
    return replace(request, messages=messages, **renamed), names_by_form


def _renamed(tool: AnyTool, forms: Mapping[str, str]) -> AnyTool:
    if tool.name not in forms:
        return tool
    description = f"{tool.name}: {tool.description.lstrip()}"
    return replace(tool, name=forms[tool.name], description=description)


def _message(message: Message, forms: Mapping[str, str]) -> Message:
    match message:
        case Assistant(calls=calls) if any(call.tool in forms for call in calls):
            renamed = (replace(call, tool=forms.get(call.tool, call.tool)) for call in calls)
            return replace(message, calls=tuple(renamed))
        case Results(results=results) if any(result.selected for result in results):
            shown = (
                replace(result, selected=tuple(forms.get(name, name) for name in result.selected))
                for result in results
            )
            return replace(message, results=tuple(shown))
    return message
