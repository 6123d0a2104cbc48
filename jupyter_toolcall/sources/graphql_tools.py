"""Tools from a GraphQL schema (https://spec.graphql.org): `from_graphql`.

Object types become kinds of objects, their fields tools (`Type_field`), and the fields of
Query and Mutation plain tools. A field that returns one object sends nothing: its result is a
longer path. Any other sends one request. A mutation is sent at once, and what it returned is
never asked for again by sending it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from ..core.digests import digest_text
from ..core.errors import CallError, DefinitionError
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import nearest
from ..tools.arguments import LazySchema, resolve_receiver, wrong_arguments
from ..tools.tool import Resolve, Tool
from ..tools.toolbox import Toolbox
from . import graphql_schema as gql
from .definition_schema import ArgumentChecker
from .graphql_queries import Answer, ObjectPath, Sent, Server, Step, Value, graphql_endpoint
from .graphql_schema import Loader, Schema
from .graphql_values import ArgumentReader, argument_checker, check_result, offered, parameters


def from_graphql(
    source: str | Path | Mapping[str, object],
    *,
    endpoint: str | None = None,
    headers: Mapping[str, str] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    read_only: Iterable[str] = (),
    untrusted: bool = True,
    external: bool = True,
) -> Toolbox:
    """Return the tools of a GraphQL schema.

    Ids follow the conventions of Dagger (`FooID`, `@expectedType`) and Relay (`node(id:)`).

    Arguments:
        source: a URL, which is asked for its schema; SDL as text; the path of a .graphql,
            .graphqls, .gql or .json file; or an introspection result, as a dict or as JSON text.
        endpoint: the URL that requests go to, if `source` is no URL; without one, nothing can
            be sent. A name and a password in the URL become a header.
        headers: of each request. `${NAME}` in a value is filled in from the environment.
        include: globs over the names of tools; all by default. The full name adds a tool that
            is left out by default (deprecated, `id`, `node`, `loadFooFromID`).
        exclude: globs over the names of tools; none by default.
        read_only: globs over the fields, as `Type.field`, that change nothing on the server:
            `"Issue.title"`, `"*Connection.*"`. `"Query.*"` is every field that a query can reach:
            the root fields, and the fields of all types, since they are sent as one query.
            The policies `ask` and `read-only` run these fields without asking. A mutation is
            never read-only. By default only fields that return one object
            are read-only, since they send nothing: at some servers (Dagger's) a query for any
            other field runs what the path to it describes.
        untrusted: whether others write what the server answers, as in `@tool`.
        external: whether a request to the server reaches others, as in `@tool`.

    Returns:
        A `Toolbox` with a tool for each field, and a type of object for each object type.

    Raises:
        DefinitionError: for a source that cannot be read, an endpoint or a header that is not
            one, and a glob that fits no tool or no field.

    Example:
        >>> box = from_graphql("type Query { pot: Pot! } type Pot { size(unit: String): Int! }")
        >>> box.names
        ('pot', 'Pot_size')
        >>> [tool.name for tool in box if tool.read_only]
        ['pot']
    """
    gql.demand_graphql()
    schema, server, address = _connection(source, endpoint, headers or {})
    api = Api(_read_schema(schema), server, address)
    functions = list(_functions(api))
    chosen = _chosen(functions, _globs("include", include), _globs("exclude", exclude))
    reads = _read_only_fields(functions, _globs("read_only", read_only))
    marks = untrusted, external
    tools = (_tool(field, field.reads and field.path in reads, marks) for field in chosen)
    return Toolbox(*tools, types=api.classes.values())


# -- the schema -----------------------------------------------------------------------


def _connection(
    source: object, endpoint: str | None, headers: Mapping[str, str]
) -> tuple[Any, Server, str]:
    """Return the source of the schema, the server that gets the requests, and its address.

    The source is what a server answers, where `source` is its URL.
    """
    text = source.strip() if isinstance(source, str) else ""
    is_url = text.lower().startswith(("http://", "https://"))
    if endpoint is None and not is_url:
        return source, Server(), "graphql"
    to = graphql_endpoint(text if endpoint is None else endpoint, headers)
    if is_url:
        source = graphql_endpoint(text, headers).introspection()
    return source, Server(to.send), to.shown


def _read_schema(source: Any) -> Schema:
    if isinstance(source, Mapping):
        return gql.read_introspection(source)
    suffixes = (".graphql", ".graphqls", ".gql", ".json")
    is_name = isinstance(source, str) and "\n" not in source and source.endswith(suffixes)
    if is_name or isinstance(source, Path):
        try:
            return _parse_schema(Path(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise DefinitionError(f"{source} cannot be read: {error}") from None
        except DefinitionError as error:
            raise DefinitionError(f"{source}: {error}") from None
    if not isinstance(source, str) or not source.strip():
        raise DefinitionError(
            f"{source!r:.60} is no schema; give a URL, SDL, an introspection result, or the path "
            "of a .graphql, .graphqls or .json file"
        )
    return _parse_schema(source)


def _parse_schema(text: str) -> Schema:
    text = text.removeprefix("\ufeff")
    if not text.lstrip().startswith("{"):
        return gql.read_sdl(text)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise DefinitionError(f"the introspection result is no JSON: {error}") from None
    return gql.read_introspection(data)


# -- the fields that can be called ----------------------------------------------------


class Api:
    """A schema, the class of each kind of its objects, and the server that has them."""

    def __init__(self, schema: Schema, server: Server, address: str) -> None:
        self.schema, self.server, self.address = schema, server, address
        self.classes: dict[str, type[ObjectPath]] = {
            name: type(
                name,
                (ObjectPath,),
                # A kind of object is another one at another server.
                {"__slots__": (), "__doc__": of.description or None, "__module__": address},
            )
            for name, of in schema.objects.items()
        }
        self.kinds = {
            name: schema.kinds_of_id(name, "") if gql.is_leaf(type_) else schema.concrete(name)
            for name, type_ in schema.types.items()
        }
        """For each type the kinds of object that it stands for, or whose id it is."""
        self.checkers: dict[str, ArgumentChecker] = {}
        """What checks the arguments of each tool that was called, by its name."""


class Function(NamedTuple):
    """A field that can be called, of an object of type `kind`, or at a root ("").

    `makes` are the kinds of object that it may return. `leaf`: it is a scalar, and they are
    the kinds whose id it is.
    """

    api: Api
    name: str
    field_name: str
    field: Any
    kind: str
    operation: str
    leaf: bool
    makes: tuple[str, ...]

    @property
    def owner(self) -> str:
        """The type that has the field."""
        schema = self.api.schema
        return self.kind or (schema.mutation if self.operation == "mutation" else schema.query)

    @property
    def path(self) -> str:
        """The field as `Type.field`."""
        return f"{self.owner}.{self.field_name}"

    @property
    def receiver(self) -> str:
        """The argument that names the object: its type, unless another has that name."""
        name = self.kind
        while name in self.field.args:
            name += "_"
        return name

    @property
    def lazy(self) -> bool:
        """A field that returns one object of one type needs no request.

        Where that object turns out to be null, the first request for it says so.
        """
        is_one = len(self.makes) == 1 and not self.leaf and gql.item_type(self.field.type) is None
        return is_one and self.reads

    @property
    def reads(self) -> bool:
        """Whether it is no mutation, which is never read-only."""
        return self.operation == "query"

    @property
    def usual(self) -> bool:
        """Whether it is there without being included by name."""
        name = self.field_name
        if self.field.deprecation_reason is not None or name[0] == "_":
            return False
        if self.kind:
            is_id = self.leaf and (gql.name_of(self.field.type) == "ID" or bool(self.makes))
            return name != "id" and not (name == "sync" and is_id)
        loads = name == "node" or (name.startswith("load") and name.endswith("FromID"))
        return self.operation == "mutation" or not loads

    @property
    def loaders(self) -> dict[str, Loader | None]:
        """How the objects that it returns are found again; one object of a query by its path."""
        by_id = self.operation == "mutation" or gql.item_type(self.field.type) is not None
        return {kind: self.api.schema.loader(kind) if by_id else None for kind in self.makes}

    def parameters(self) -> JsonDict:
        """Return the JSON Schema of its arguments."""
        arguments = offered(self.field.args)
        return parameters(self.api.schema, arguments, self.receiver, self.kind)

    def version(self) -> str:
        """Return the digest of what runs: a field, as it is declared, of a server."""
        arguments = [f"{n}: {a.type} = {gql.default_of(a)}" for n, a in self.field.args.items()]
        declared = f"{self.kind}.{self.field_name}: {self.field.type}"
        return digest_text("graphql", self.api.address, self.operation, declared, *arguments)

    def check(self, arguments: JsonObject, resolve: Resolve) -> JsonDict:
        """Return the object and the arguments, as they stand in a query. Raises CallError."""
        values, receiver, classes = dict(arguments), None, self.api.classes
        if self.kind:
            name = values.pop(self.receiver, None)
            receiver = resolve_receiver(self.kind, name, (classes[self.kind],), resolve)

        def named(name: str, kinds: tuple[str, ...]) -> Value:
            return resolve(name, tuple(classes[kind] for kind in kinds if kind in classes))

        declared, reader = offered(self.field.args), ArgumentReader(self.api.schema, named)
        checkers = self.api.checkers
        if self.name not in checkers:
            checkers[self.name] = argument_checker(self.name, self.api.schema, declared)
        sent = reader.read(declared, checkers[self.name](values))
        if reader.errors:
            raise wrong_arguments(self.name, reader.errors)
        return {"of": receiver, "sent": sent}

    def call(self, of: ObjectPath | None, sent: Sent) -> Any:
        """Return the result of the field: plain data, an object, a list of them, or None."""
        step = Step(self.field_name, sent)
        if self.lazy:
            return self.api.classes[self.makes[0]](of, step)
        selection, loaders = "", self.loaders
        if not self.leaf and self.is_payload:
            selection = f"{{ {' '.join(self.payload) or '__typename'} }}"
        elif not self.leaf:
            ids = [f"... on {kind} {{ id_{kind}: id }}" for kind, by in loaders.items() if by]
            selection = f"{{ {' '.join(['__typename', *ids])} }}"
        answer = self.api.server.ask(self.operation, of, step, selection)
        try:
            result = self.result(answer, of, step)
            # What came is kept, and what the server says of the rest is told beside it.
            return {"data": result, "errors": [*answer.errors]} if answer.errors else result
        except CallError as error:
            parts = [str(error), *answer.errors]
            if not self.reads:
                parts.append("the mutation was sent, so look at what it did before you repeat it")
            raise CallError("; ".join(parts)) from None

    @property
    def is_payload(self) -> bool:
        """Whether it is a mutation whose result cannot be found again, so that it is data."""
        return self.operation == "mutation" and not self.leaf and not all(self.loaders.values())

    @property
    def payload(self) -> tuple[str, ...]:
        """The plain fields of what a mutation returns: they are its result."""
        types = self.api.schema.types
        return tuple(
            name
            for name, field in types[gql.name_of(self.field.type)].fields.items()
            if field.deprecation_reason is None
            and not any(map(gql.must_be_given, field.args.values()))
            and gql.is_leaf(types[gql.name_of(field.type)])
        )

    def result(self, answer: Answer, of: ObjectPath | None, step: Step) -> Any:
        """Return what a server's data is. Raises CallError where it is not what the schema says.

        Of a list of objects null is left out, but where an error tells of it.
        """
        schema, ref = self.api.schema, self.field.type
        data, nulls = answer.data, bool(answer.errors)
        names = self.payload if self.is_payload else ()
        check_result(schema, ref, data, self.path, nulls, names)
        if self.is_payload or (self.leaf and len(self.makes) != 1):
            return data
        objects = [item for item in self.objects_in(data, of, step) if nulls or item is not None]
        return objects if isinstance(data, list) else next(iter(objects), None)

    def object_by_id(self, kind: str, object_id: object) -> ObjectPath:
        """Return the object with an id. Raises CallError where the server finds none by id."""
        loader = self.api.schema.loader(kind)
        if loader is None:
            raise CallError(f"the server has no way to find a {kind} by its id")
        if type(object_id) not in (str, int):
            raise CallError(f"the server gave {object_id!r:.60} as the id of a {kind}")
        ref = self.api.schema.types[self.api.schema.query].fields[loader.field].args["id"].type
        step = Step(loader.field, (("id", ref, str(object_id)),), (), loader.on, True)
        found: ObjectPath = self.api.classes[kind](None, step)
        return found

    def objects_in(
        self, data: Any, of: ObjectPath | None, step: Step
    ) -> Iterator[ObjectPath | None]:
        """Yield the objects that a response describes, those of lists in lists too.

        One is found again by its id, or else by its path. A field that returns ids returns objects.
        """
        if isinstance(data, list):
            for index, item in enumerate(data):
                yield from self.objects_in(item, of, step._replace(item=(*step.item, index)))
        elif data is None:
            yield None
        elif self.leaf:
            yield self.object_by_id(self.makes[0], data)
        else:
            kind = data.get("__typename")
            if kind not in self.makes:
                raise CallError(
                    f"the server gave a {kind!s:.60}, which its schema does not name here"
                )
            if self.loaders[kind] is None:
                on = kind if len(self.makes) > 1 else ""
                yield self.api.classes[kind](of, step._replace(on=on))
            elif data.get(f"id_{kind}") is None:
                raise CallError(f"the server gave a {kind} without an id")
            else:
                yield self.object_by_id(kind, data[f"id_{kind}"])


def _functions(api: Api) -> Iterator[Function]:
    """Yield all that can be called, in the schema's order, what is left out by default too."""
    schema = api.schema
    query_fields = schema.types[schema.query].fields
    yield from _fields(api, schema.query, "", "query")
    for function in _fields(api, schema.mutation, "", "mutation") if schema.mutation else ():
        is_twice = function.name in query_fields
        yield function._replace(name=f"{schema.mutation}_{function.name}") if is_twice else function
    for name in schema.objects:
        yield from _fields(api, name, name, "query")


def _fields(api: Api, owner: str, kind: str, operation: str) -> Iterator[Function]:
    types, prefix = api.schema.types, f"{kind}_" if kind else ""
    for name, field in types[owner].fields.items():
        type_name = gql.name_of(field.type)
        leaf, makes = gql.is_leaf(types[type_name]), api.kinds[type_name]
        if leaf and (expected := gql.expected_type(field)):
            makes = api.schema.kinds_of_id(type_name, expected)
        if leaf or makes:
            yield Function(api, prefix + name, name, field, kind, operation, leaf, makes)


def _tool(function: Function, read_only: bool, marks: tuple[bool, bool]) -> Tool:
    """Return the tool of a field; its JSON Schema and its check are made when needed."""
    field, kind = function.field, function.kind
    makes = () if function.is_payload else function.makes
    # A path to an object sends nothing.
    untrusted, external = (False, False) if function.lazy else marks
    return Tool(
        name=function.name,
        description=f"{field.description or ''}\n\nReturns {field.type}".lstrip(),
        parameters=LazySchema(function.parameters),
        function=function.call,
        check=function.check,
        read_only=read_only or function.lazy,
        untrusted=untrusted,
        external=external,
        kind=kind,
        receiver=function.receiver if kind else "",
        returns=makes[0] if len(makes) == 1 and gql.item_type(field.type) is None else "",
        makes=makes,
        version=function.version,
        group=kind,
        about=(function.api.schema.types[kind].description or "") if kind else "",
    )


# -- globs ----------------------------------------------------------------------------


def _globs(option: str, globs: Iterable[str]) -> tuple[str, ...]:
    """Return the globs of an option. Raises DefinitionError for what is no text."""
    is_one = isinstance(globs, str) or not isinstance(globs, Iterable)
    texts: tuple[Any, ...] = (globs,) if is_one else tuple(globs)
    for glob in texts:
        if not isinstance(glob, str):
            raise DefinitionError(f"{option} takes globs, which are texts, not {glob!r:.60}")
    return texts


def _chosen(
    functions: Sequence[Function], include: tuple[str, ...], exclude: tuple[str, ...]
) -> list[Function]:
    """Return the functions that globs choose. Raises DefinitionError for one that fits none."""
    if not include and not exclude:
        return [field for field in functions if field.usual]
    names = [field.name for field in functions]
    for glob in (*include, *exclude):
        if not any(fnmatchcase(name, glob) for name in names):
            raise DefinitionError(f"no tool is named {glob!r}.{nearest(glob, names)}")
    return [
        field
        for field in functions
        if (field.name in include or (field.usual and _fits(field.name, include or ("*",))))
        and not _fits(field.name, exclude)
    ]


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _read_only_fields(functions: Sequence[Function], globs: tuple[str, ...]) -> frozenset[str]:
    """Return the fields, as `Type.field`, that globs fit. Raises DefinitionError for none."""
    fields: set[str] = set()
    for glob in globs:
        fitting = {field.path for field in functions if _is_marked(field, glob)}
        if not fitting:
            if any(fnmatchcase(field.path, glob) for field in functions):
                raise DefinitionError(
                    f"read_only: {glob!r} fits mutations, which are never read-only"
                )
            paths = [field.path for field in functions if field.reads]
            groups = dict.fromkeys(f"{field.owner}.*" for field in functions if field.reads)
            raise DefinitionError(
                f"read_only: no field fits {glob!r}.{nearest(glob, (*groups, *paths))}"
            )
        fields |= fitting
    return frozenset(fields)


def _is_marked(function: Function, glob: str) -> bool:
    """Return whether a glob marks a field as read-only.

    Each request for a field of an object begins at a field of Query, so `Query.*` is all of them.
    """
    is_any = glob == f"{function.api.schema.query}.*"
    return function.reads and (is_any or fnmatchcase(function.path, glob))
