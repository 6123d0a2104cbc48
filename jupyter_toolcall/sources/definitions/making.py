"""A definition as a `Tool`: what its function does, and what comes back."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...digest import digest, encode
from ...errors import DefinitionError
from ...printable import print_text
from ...tools import Changed, Tool
from .acting import Doer, done_by
from .agreeing import agreed
from .arguments import checking, filling, shown, variables_of
from .endpoint import Endpoint, called
from .format import NotSet, Reference, Scope, Text
from .given import hosts_of, read_variables, without_secrets
from .reading import CONTEXT, Definition, read
from .transforms import left_out

_LOCAL_PORT = re.compile(r"(?<=//)(localhost|127\.0\.0\.1|\[::1\]):\d+")
Do = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
"""From a call's arguments, and the session's variables, to its result."""


def from_definition(
    definition: Any,
    *,
    variables: Mapping[str, Any] | None = None,
    allow_hosts: Iterable[str] = (),
    action: Doer | None = None,
) -> Tool:
    """Return the tool that a definition describes: a dict, JSON text, or a .json file.

    `variables` are the session's at the start. `allow_hosts` are `host` or `host:port` that
    an endpoint may reach. An action is a request to a person, unless `action` is the
    function that does it. Raises DefinitionError, which names the place of what is wrong.
    """
    made, hosts = agreed(read(definition)), hosts_of(allow_hosts)
    without_secrets(made.said)
    tool = _tool(made, read_variables(variables or {}))
    if action is not None:
        if made.type != "action":
            raise DefinitionError(f"action: {made.name} is of type {made.type}, and runs by itself")
        return _noting(made, done_by(action, made, tool))
    if made.endpoint is not None:
        return _noting(made, replace(tool, function=_asking(made.endpoint, hosts)))
    if made.type == "context":
        setting = functools.partial(_set, made)
        return _noting(made, replace(tool, function=setting, idempotent=True))
    return replace(tool, for_person=True)


def _tool(made: Definition, variables: Mapping[str, Any]) -> Tool:
    return Tool(
        name=made.name,
        description=made.description,
        parameters=shown(made),
        check=checking(made),
        version=functools.cache(lambda: _version(made)),
        fill=filling(made),
        reads=variables_of(made),
        variables=variables,
    )


def _version(made: Definition) -> str:
    """A server on this machine has another port each time; that makes no other tool."""
    said = dict(made.said)
    if made.endpoint is not None:
        url = _LOCAL_PORT.sub(r"\1", made.endpoint.url)
        said["endpoint"] = {**said["endpoint"], "url": url}
    return digest("definition", said)


def _noting(made: Definition, tool: Tool) -> Tool:
    """Return the tool, which first prints what could not be filled in: a person sees it."""
    does = tool.function

    def run(
        *subject: Any, arguments: Mapping[str, Any], variables: Mapping[str, Any] | None = None
    ) -> Any:
        for line in left_out(made.defaults, arguments, variables or {}):
            print_text(line)
        return does(*subject, arguments=arguments, variables=variables or {})

    return replace(tool, function=run)


def _asking(endpoint: Endpoint, hosts: tuple[str, ...]) -> Do:
    def ask(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
        return called(endpoint, arguments, hosts)

    return ask


# -- context ------------------------------------------------------------------------------


def _set(made: Definition, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> Changed:
    """Return what a context tool sets, and says; `say` counts more than `message`."""
    changed = {
        CONTEXT[name]: arguments[name]
        for name in ("language", "message", "say")
        if arguments.get(name) is not None
    }
    if made.result is None:
        return Changed({"ok": True, **changed}, changed)
    return Changed(_said(made.result, Scope(arguments, {**variables, **changed})), changed)


def _said(result: Any, scope: Scope) -> Any:
    """Return a result with its texts filled in; what is not set is null, or left out."""
    match result:
        case Text(typed=True):
            return _filled(result, scope)
        case Text(parts):
            return "".join(_word(_part(part, scope)) for part in parts)
        case dict():
            return {key: _said(value, scope) for key, value in result.items()}
        case list():
            return [_said(value, scope) for value in result]
    return result


def _part(part: str | Reference, scope: Scope) -> Any:
    return part if isinstance(part, str) else _filled(Text((part,), typed=True), scope)


def _filled(text: Text, scope: Scope) -> Any:
    try:
        return text.fill(scope)
    except NotSet:
        return None


def _word(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
    return encode(value)
