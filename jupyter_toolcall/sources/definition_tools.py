"""Tools from tool definitions, and back: `from_definition` and `to_definition`.

The format is Syllable's `ToolDefinition` (https://docs.syllable.ai): JSON with the keys `tool` (an
OpenAI function: name, description, parameters), `type` (`action`, `endpoint` or `context`),
`endpoint`, `defaults`, `static_parameters` and `result`.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import SecretBytes, SecretStr

from ..core.digests import digest, encode
from ..core.errors import DefinitionError
from ..core.interrupts import attempt
from ..core.json_data import mapped
from ..core.recorded_data import JsonDict, JsonObject
from ..core.secrets import hiding
from ..core.text import nearest, print_text
from ..tools.arguments import plain_arguments
from ..tools.tool import Changed, Check, Origin, Resolve, Tool, Validator
from ..tools.tool_version import Version, version_of
from ..tools.toolbox import Toolbox
from .definition_defaults import EMPTY, Default, Scope, Template, apply_defaults, unset_messages
from .definition_dialects import schema_for_models
from .definition_endpoint import call_endpoint
from .definition_file import VARIABLE_OF, Definition, read_definition
from .definition_forms import check_depth, definitions_in
from .definition_schema import ArgumentChecker, Ignored, is_open, property_names
from .http_client import RequestLimits
from .request_headers import SecretHeaders

_LOCAL_PORT = re.compile(r"(?<=//)(localhost|127\.0\.0\.1|\[::1\]):\d+")


def from_definition(
    definition: object,
    *,
    variables: Mapping[str, object] | None = None,
    allow_hosts: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    untrusted: bool = True,
    external: bool = True,
    action: Callable[..., object] | Tool | None = None,
) -> Tool:
    """Return the tool that a tool definition describes.

    Arguments:
        definition: a dict, JSON text, or the path of a .json file (`str` or `Path`): a
            ToolDefinition, a tool of OpenAI's, Anthropic's or MCP's, or a list with one of them.
        variables: the session's variables at the start, as JSON data by name. A secret is
            refused, since arguments are shown.
        allow_hosts: the hosts that an endpoint may reach, each `host` or `host:port`. Without
            them every request is refused.
        headers: of each request to an endpoint. `${NAME}` in a value is filled in from the
            environment when the request is sent.
        untrusted: whether others write what an endpoint answers, as in `@tool`.
        external: whether a request to an endpoint reaches others, as in `@tool`.
        action: the function, sync or async, or the tool that carries out an action. Without it
            the action is a request to the person, who answers or rejects it.

    Returns:
        A `Tool`; `parameters` are the model's, without arguments that are fixed or removed, and
        `notes` say what was read as what.

    Raises:
        DefinitionError: with the place of the mistake, such as `defaults.city: there is ...`.

    Example:
        >>> function = {"name": "greet", "parameters": {"name": {"type": "string"}}}
        >>> from_definition({"tool": {"function": function}}).parameters["required"]
        []
        >>> from_definition({"name": "wait", "input_schema": {"type": "dict"}}).notes
        ("Anthropic's form is read as an action", 'type dict is read as object')
    """
    definitions = definitions_in(definition)
    if len(definitions) > 1:
        raise DefinitionError(
            f"there are {len(definitions)} definitions; from_definitions(...) reads a list"
        )
    tool_of = _maker(variables, allow_hosts, headers, untrusted, external)
    return tool_of(read_definition(definitions[0]), action)


def from_definitions(
    definitions: object,
    *,
    variables: Mapping[str, object] | None = None,
    allow_hosts: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    untrusted: bool = True,
    external: bool = True,
    actions: Mapping[str, Callable[..., object] | Tool] | None = None,
) -> Toolbox:
    """Return the tools that a list of tool definitions describes, of any of their forms.

    Arguments:
        definitions: a list, JSON text, or the path of a .json file (`str` or `Path`). The list may
            be under `tools`, as in a request to a provider and in an MCP server's answer.
        variables: as in `from_definition`, like `allow_hosts`, `headers`, `untrusted` and
            `external`.
        actions: for the name of each action the function, or the tool, that carries it out.

    Raises:
        DefinitionError: with the number and the place of the mistake.

    Example:
        >>> weather = {"name": "weather", "input_schema": {"type": "object"}}
        >>> from_definitions([weather, {"type": "function", "function": {"name": "now"}}]).names
        ('weather', 'now')
    """
    tool_of = _maker(variables, allow_hosts, headers, untrusted, external)
    if not isinstance(actions, Mapping | None):
        raise DefinitionError(f'actions: {actions!r:.60} is no dict, such as {{"name": function}}')
    listed, by_name = definitions_in(definitions), dict(actions or {})
    tools: list[Tool] = []
    for number, definition in enumerate(listed, 1):
        try:
            read = read_definition(definition)
            tools.append(tool_of(read, by_name.pop(read.name, None)))
        except DefinitionError as error:
            raise DefinitionError(f"definition {number} of {len(listed)}: {error}") from None
    if by_name:
        names = [tool.name for tool in tools]
        unknown = next(iter(by_name))
        raise DefinitionError(
            f"actions: no definition is named {unknown!r:.80}.{nearest(unknown, names)}"
        )
    return Toolbox(tools)


def to_definition(tool: object) -> JsonDict:
    """Return a tool as a tool definition, the format that `from_definition` reads.

    Arguments:
        tool: a `Tool`, or what a `Toolbox` makes exactly one tool of, such as a function.

    Returns:
        A dict of plain JSON data. For a tool that came from a definition it is that
        definition, in one spelling; for any other it is one of type `action`.

    Raises:
        DefinitionError: for what is not one tool, such as a class with several methods.

    Example:
        >>> def add(a: int, b: int = 1) -> int:
        ...     return a + b
        >>> made = to_definition(add)
        >>> made["type"], made["tool"]["function"]["name"]
        ('action', 'add')
        >>> made["tool"]["function"]["parameters"]["required"]
        ['a']
    """
    if not isinstance(tool, Tool):
        tools = list(Toolbox(tool))
        if len(tools) != 1:
            first = tools[0].name if tools else "name"
            raise DefinitionError(
                f"{len(tools)} tools are not one definition; give them one by one, such as "
                f"to_definition(Toolbox(...)[{first!r}])"
            )
        tool = tools[0]
    function = tool.definition()
    data: JsonObject = {"type": "action", "tool": {"type": "function", "function": function}}
    if isinstance(tool.fill, _Filling):
        data = tool.fill.definition.data
    copy: JsonDict = json.loads(json.dumps(data, default=dict))
    return copy


# -- the parts of a tool ------------------------------------------------------------------


def _maker(
    variables: Any, allow_hosts: Any, headers: Any, untrusted: bool, external: bool
) -> Callable[[Definition, Any], Tool]:
    """Return what makes the tool of a definition and an action. Raises DefinitionError."""
    values, hosts = _read_variables(variables or {}), _read_hosts(allow_hosts)
    secrets = SecretHeaders({} if headers is None else headers)

    def tool_of(definition: Definition, action: object) -> Tool:
        tool = _tool(definition, values)
        if definition.endpoint is not None:
            send = functools.partial(call_endpoint, definition.endpoint, hosts, secrets)
            tool = replace(tool, function=send, untrusted=untrusted, external=external)
        return _running(definition, tool, action)

    return tool_of


def _running(definition: Definition, tool: Tool, action: Any) -> Tool:
    """Return a definition's tool with the function that runs. Raises DefinitionError."""
    if action is not None:
        if definition.kind != "action":
            raise DefinitionError(
                f"action: {definition.name} is of type {definition.kind}, and runs by itself"
            )
        tool = _done_by(action, definition, tool)
    elif definition.kind == "context":
        call = functools.partial(_set_variables, definition)
        tool = replace(tool, function=call, idempotent=True)
    elif definition.kind == "action":
        return replace(tool, for_person=True)
    return _printing_unset(definition, tool)


def _tool(definition: Definition, variables: Mapping[str, object]) -> Tool:
    return Tool(
        name=definition.name,
        description=definition.description,
        parameters=_shown_parameters(definition),
        check=_checking(definition),
        version=functools.cache(lambda: _version(definition)),
        fill=_filling(definition),
        reads=_variables_read(definition),
        variables=variables,
        notes=definition.notes,
    )


def _version(definition: Definition) -> str:
    """A server on this machine has another port each time; that makes no other tool."""
    data = dict(definition.data)
    if definition.endpoint is not None:
        url = _LOCAL_PORT.sub(r"\1", definition.endpoint.url)
        data["endpoint"] = {**data["endpoint"], "url": url}
    return digest("definition", data)


@dataclass(frozen=True)
class _Filling:
    """A tool's `fill`: from the arguments that the model gives to those that run."""

    definition: Definition
    checker: Callable[[], ArgumentChecker] = field(repr=False, compare=False)

    def __call__(
        self, arguments: Mapping[str, object], variables: Mapping[str, object]
    ) -> JsonDict:
        """Return the arguments that run. Raises CallError for what does not fit.

        The model's own arguments are checked first, but for what is missing or empty: a
        default may fill that in, or take it out.
        """
        defaults = self.definition.defaults
        filled_in = {default.key for default in defaults if default.action != "override"}
        empty = {k: v for k, v in arguments.items() if k in filled_in and v in EMPTY}
        checked = self.checker()({k: v for k, v in arguments.items() if k not in empty})
        params = {key: empty[key] if key in empty else checked[key] for key in arguments}
        scope: Scope = {"params": {**params, **self.definition.fixed}, "vars": variables}
        return plain_arguments(apply_defaults(defaults, scope))


def _filling(definition: Definition) -> _Filling:
    """Return the `fill` of a tool: nothing is required, since a default may fill it in."""
    touched = [default.key for default in definition.defaults] + _parameters_read(definition)
    names = (*touched, *map(_head, touched), *definition.fixed)
    return _Filling(definition, _checker(definition, names, lambda name, missing: missing))


def _checking(definition: Definition) -> Check:
    """Return the `check` of a tool, for all that runs, a person's own arguments too.

    What defaults write over, or inside, need not fit the schema that the model is shown.
    """
    defaults = definition.defaults
    written = {_head(d.key) for d in defaults if "." in d.key or d.action == "override"}
    free = written | set(definition.fixed)
    removed = {d.key for d in defaults if d.action == "remove"}
    names = (*definition.argument_names, *_parameters_read(definition))
    checker = _checker(
        definition, names, lambda name, missing: name in free or (missing and name in removed)
    )

    def check(arguments: JsonObject, resolve: Resolve) -> JsonDict:
        return {"arguments": checker()(arguments)}

    return check


def _checker(
    definition: Definition, also: Iterable[str], ignored: Ignored
) -> Callable[[], ArgumentChecker]:
    """Return what makes a checker when it is first needed."""
    parameters = definition.parameters
    return functools.cache(lambda: ArgumentChecker(definition.name, parameters, also, ignored))


def _shown_parameters(definition: Definition) -> JsonDict:
    """Return the parameters that the model is shown.

    An argument that is always removed or written over is left out, unless something else
    reads it; what has a default is not required.
    """
    always = [default for default in definition.defaults if default.when is None]
    settled = {default.key for default in always if _ignores_the_model(default)}
    filled_in = {default.key for default in always if default.action == "default"}
    read = set(map(_head, _parameters_read(definition)))
    hidden = (settled - read) | set(definition.fixed)
    spared = hidden | settled | filled_in
    shown = dict(schema_for_models(definition.parameters))
    if hidden & set(property_names(shown)):
        shown["properties"] = {k: v for k, v in shown["properties"].items() if k not in hidden}
    if spared & set(shown.get("required", ())):
        shown["required"] = [name for name in shown["required"] if name not in spared]
    return shown


def _ignores_the_model(default: Default) -> bool:
    return default.action != "default" and all(r.space == "vars" for r in default.references)


def _parameters_read(definition: Definition) -> list[str]:
    return [r.name for d in definition.defaults for r in d.references if r.space == "params"]


def _head(name: str) -> str:
    return name.partition(".")[0]


def _variables_read(definition: Definition) -> tuple[str, ...]:
    """Return the variables that a definition reads.

    A name with dots may be a name, or lead into a variable: both are read.
    """
    names: dict[str, None] = {}
    for _, reference in definition.references:
        if reference.space == "vars":
            steps = reference.name.split(".")
            names |= dict.fromkeys(".".join(steps[: n + 1]) for n in range(len(steps)))
    return tuple(names)


# -- what runs ----------------------------------------------------------------------------


def _printing_unset(definition: Definition, tool: Tool) -> Tool:
    """Return the tool, which first prints what could not be filled in: a person sees it."""
    function = tool.function

    def run(
        *subject: Any, arguments: Mapping[str, Any], variables: Mapping[str, Any] | None = None
    ) -> Any:
        scope: Scope = {"params": arguments, "vars": variables or {}}
        for line in unset_messages(definition.defaults, scope):
            print_text(line)
        return function(*subject, arguments=arguments, variables=variables or {})

    return replace(tool, function=run)


def _set_variables(
    definition: Definition, arguments: Mapping[str, object], variables: Mapping[str, object]
) -> Changed:
    """Return the result of a context tool; `say` counts more than `message`."""
    changed = {
        VARIABLE_OF[name]: arguments[name]
        for name in ("language", "message", "say")
        if arguments.get(name) is not None
    }
    if definition.result is None:
        return Changed({"ok": True, **changed}, changed)
    scope: Scope = {"params": arguments, "vars": {**variables, **changed}}

    def filled(text: Template) -> Any:
        # What is not set is null, or left out.
        values = [p if isinstance(p, str) else attempt(p.value, scope)[0] for p in text.parts]
        if text.typed:
            return values[0]
        return "".join(v if isinstance(v, str) else encode(v) for v in values if v is not None)

    return Changed(mapped(definition.result, Template, filled), changed)


def _done_by(action: Callable[..., object] | Tool, definition: Definition, tool: Tool) -> Tool:
    """Return a definition's tool that runs a function with what its own types take.

    Raises DefinitionError where the function takes other arguments than the definition has.
    """
    inner = action if isinstance(action, Tool) else _function_tool(definition, action)

    def check(arguments: JsonObject, resolve: Resolve) -> JsonDict:
        checked = tool.check(arguments, resolve)["arguments"]
        return {"arguments": inner.check(checked, resolve)}

    def run(*subject: Any, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
        return inner.function(*subject, **arguments)

    def version() -> str:
        return digest("action", tool.version(), inner.version())

    return replace(
        inner,
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        function=run,
        check=check,
        validator=inner.validator and functools.partial(_judged_by, inner.validator),
        fill=tool.fill,
        reads=tool.reads,
        variables=tool.variables,
        notes=tool.notes,
        version=Version(version, tool.version, inner.version),
    )


def _judged_by(validator: Validator, *, arguments: Mapping[str, object]) -> object:
    return validator(**arguments)


def _function_tool(definition: Definition, action: object) -> Tool:
    """Return a function's tool; one without types takes the arguments as they are."""
    if not callable(action) or attempt(inspect.signature, action)[1]:
        raise DefinitionError(f"action: {action!r:.60} is no function with parameters")
    removed = {d.key for d in definition.defaults if d.action == "remove" and d.when is None}
    names = [name for name in definition.argument_names if name not in removed]
    signature, takes_more = inspect.signature(action), is_open(definition.parameters)
    try:
        (signature.bind_partial if takes_more else signature.bind)(**dict.fromkeys(names))
    except TypeError as error:
        raise DefinitionError(
            f"action: the function takes {signature}, and the definition has "
            f"{', '.join(names) or 'no arguments'}: {error}"
        ) from None
    parameters = list(signature.parameters.values())
    if inspect.isroutine(action) and all(p.annotation is not p.empty for p in parameters):
        typed = next(iter(Toolbox(action)))
        is_any = takes_more and any(p.kind is p.VAR_KEYWORD for p in parameters)
        if set(names) <= set(property_names(typed.parameters)) and not is_any:
            return typed
    version = version_of(action)
    return Tool(name=definition.name, function=action, origin=Origin(action), version=version)


# -- variables and hosts ------------------------------------------------------------------


def _read_variables(variables: object) -> dict[str, Any]:
    """Return variables of the session by name, without `vars.`. Raises DefinitionError."""
    if not isinstance(variables, Mapping):
        raise DefinitionError(f'variables: {variables!r:.60} is no object, such as {{"a": 1}}')
    named = {str(key).removeprefix("vars."): value for key, value in variables.items()}
    if len(named) < len(variables):
        raise DefinitionError("variables: one name is there twice, with and without vars.")
    for name, value in named.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name):
            raise DefinitionError(f"variables: {name!r:.60} is no name: letters, digits, _ and .")
        named[name] = _plain_value(value, f"variables.{name}")
    return named


def _plain_value(value: object, where: str) -> object:
    """Return a variable as JSON data. Raises DefinitionError for a secret, too."""
    secret = DefinitionError(
        f"{where}: this is a secret, and a call's arguments are shown and saved; "
        "let the server that is called know it, or write a function that holds it"
    )

    def refuse(part: object) -> object:
        raise secret if isinstance(part, SecretStr | SecretBytes) else TypeError

    try:
        plain = json.loads(json.dumps(value, allow_nan=False, default=refuse))
    except RecursionError:
        raise DefinitionError(f"{where}: is nested deeper than 64 levels") from None
    except (TypeError, ValueError):
        raise DefinitionError(
            f"{where}: {value!r:.60} is no JSON; give text, numbers, lists"
        ) from None
    if hiding(os.environ)(plain) != plain:
        raise secret
    return check_depth(plain, where)


def _read_hosts(hosts: object) -> tuple[str, ...]:
    """Return the hosts that are allowed, one of them or many. Raises DefinitionError."""
    every: Any = (hosts,) if isinstance(hosts, str) else hosts
    if not isinstance(every, Iterable) or not all(isinstance(host, str) for host in every):
        raise DefinitionError(f'allow_hosts: {hosts!r:.60}; give ("api.example.org",)')
    return RequestLimits(tuple(every)).hosts
