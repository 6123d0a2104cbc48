"""Tools from the fields of a schema: a function of an object type is `Type_field`.

A field that returns one object sends nothing: its result is a longer path. Any other
sends one request. A mutation is sent at once, and what it returned is never asked for again
by sending it again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...digest import digest_text
from ...errors import CallError
from ...tools import Tool
from ...tools.tool import Resolve, misfits
from .arguments import Lazy, Wrong, checked, offered, parameters
from .client import Server
from .paths import Path, Step, Value
from .schema import LEAVES, Field, Loader, Ref, Schema, Type, concrete, loader, meant


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class World:
    """A schema, the class of each kind of its objects, and the server that has them."""

    schema: Schema
    kinds: Mapping[str, type[Path]]
    server: Server
    place: str
    made: Mapping[str, tuple[str, ...]] = dataclasses.field(init=False)
    """For each type the kinds of object that it stands for; those whose id a scalar is."""

    def __post_init__(self) -> None:
        schema = self.schema
        made = {
            name: meant(schema, name, "") if known.kind in LEAVES else concrete(schema, name)
            for name, known in schema.types.items()
        }
        object.__setattr__(self, "made", made)


class Function(NamedTuple):
    """A field that can be called, of an object or at a root (`kind` is "").

    `made` are the kinds of object that it may come to, `leaf` says that it is a scalar: then
    they are those whose id it is.
    """

    world: World
    name: str
    field: Field
    kind: str
    operation: str
    leaf: bool
    made: tuple[str, ...]

    @property
    def receiver(self) -> str:
        """The argument that names the object: as its type, unless another has that name."""
        taken = [each.name for each in self.field.arguments]
        if self.kind not in taken:
            return self.kind
        return next(name for name in (f"{self.kind}_", f"{self.kind}__") if name not in taken)

    @property
    def lazy(self) -> bool:
        """A field that returns one object of one type needs no answer to go on from.

        Where that turns out to be null, it is said when something is asked of it.
        """
        sure = len(self.made) == 1 and not self.leaf
        return sure and self.field.type.item is None and self.operation == "query"

    def parameters(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments."""
        taken = offered(self.field.arguments)
        receiver = self.receiver if self.kind else ""
        found: dict[str, Any] = parameters(self.world.schema, taken, receiver, self.kind)
        return found

    def version(self) -> str:
        """Return the digest of what runs: a field, as it is declared, of a server."""
        taken = [f"{a.name}: {a.type} = {a.default}" for a in self.field.arguments]
        said = f"{self.kind}.{self.field.name}: {self.field.type}"
        return digest_text("graphql", self.world.place, self.operation, said, *taken)

    def check(self, arguments: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
        """Return the object and the arguments, as they stand in a query."""
        named = partial(_named, self.world, resolve)
        schema, rest, of = self.world.schema, dict(arguments), None
        wrong: dict[str, str] = {}
        if self.kind:
            of = _receiver(self, rest.pop(self.receiver, None), resolve)
        given: list[tuple[str, Value]] = []
        taken = offered(self.field.arguments)
        for each in taken:
            one = {each.name: rest.pop(each.name)} if each.name in rest else {}
            given += _noting(wrong, partial(checked, schema, (each,), one, named))
        for name in rest:
            _noting(wrong, partial(checked, schema, taken, {name: rest[name]}, named))
        if wrong:
            raise misfits(self.name, wrong)
        return {"of": of, "given": tuple(given)}

    def call(self, of: Path | None, given: tuple[tuple[str, Value], ...]) -> Any:
        """Return what a field comes to: plain data, an object, a list of them, or None."""
        world, field = self.world, self.field
        step, ask = Step(field.name, given), world.server.ask
        if self.leaf:
            found = _sure(self, ask(self.operation, of, step))
            return _by_ids(world, self.made[0], found) if len(self.made) == 1 else found
        if self.lazy:
            return world.kinds[self.made[0]](of, step)
        loaders = _loaders(self)
        if self.operation == "mutation" and not _by_loaders(self):
            payload = _scalars(world.schema, field.type)
            return _sure(self, ask("mutation", None, step, f"{{ {payload} }}"))
        selected = _selection(loaders)
        found = _sure(self, ask(self.operation, of, step, f"{{ {selected} }}"))
        place = partial(_object, world, of, step, loaders)
        return _each(found, place, ()) if isinstance(found, list) else place(found, ())


def functions(world: World) -> Iterator[Function]:
    """Yield all that can be called, in the schema's order, what is left out by default too."""
    schema = world.schema
    query = schema.types[schema.query].fields
    yield from _functions(world, schema.query, "", "query")
    for each in _functions(world, schema.mutation, "", "mutation") if schema.mutation else ():
        name = each.name
        yield each._replace(name=f"{schema.mutation}_{name}") if name in query else each
    for known in schema.objects():
        yield from _functions(world, known.name, known.name, "query")


def _functions(world: World, owner: str, kind: str, operation: str) -> Iterator[Function]:
    types, prefix = world.schema.types, f"{kind}_" if kind else ""
    for name, field in types[owner].fields.items():
        leaf = types[field.type.name].kind in LEAVES
        made = world.made[field.type.name]
        if leaf and field.expected:
            made = meant(world.schema, field.type.name, field.expected)
        if leaf or all(kind in world.kinds for kind in made):
            yield Function(world, prefix + name, field, kind, operation, leaf, made)


def is_usual(function: Function) -> bool:
    """Return whether a function is there without being named."""
    field = function.field
    name = field.name
    if field.deprecated or name[0] == "_":
        return False
    if function.kind:
        is_id = function.leaf and (field.type.name == "ID" or bool(function.made))
        return name != "id" and not (name == "sync" and is_id)
    loads = name.startswith("load") and name.endswith("FromID")
    return function.operation == "mutation" or not (loads or name == "node")


def tool_of(function: Function) -> Tool:
    """Return the tool that a function is; its schema and its checks are made when needed."""
    field, kind, made = function.field, function.kind, function.made
    if function.operation == "mutation" and not function.leaf:
        made = made if _by_loaders(function) else ()
    return Tool(
        name=function.name,
        description=f"{field.doc}\n\nReturns {field.type}".lstrip(),
        parameters=Lazy(function.parameters),
        function=function.call,
        check=function.check,
        read_only=function.lazy,
        kind=kind,
        receiver=function.receiver if kind else "",
        returns=made[0] if len(made) == 1 and field.type.item is None else "",
        makes=made,
        version=function.version,
        group=kind,
        about=function.world.schema.types[kind].doc if kind else "",
    )


# -- the parts of a call --------------------------------------------------------------

Pairs = tuple[tuple[str, Value], ...]


def _noting(wrong: dict[str, str], check: Callable[[], Pairs]) -> Pairs:
    try:
        return check()
    except Wrong as error:
        wrong.setdefault(error.place, error.said)
        return ()


def _receiver(function: Function, name: Any, resolve: Resolve) -> Any:
    kind = function.kind
    if name is None:
        raise CallError(f"{kind}: there is no {kind} yet; make one first")
    if not isinstance(name, str):
        raise CallError(f"{kind}: must be the name of an object, such as {kind}#1")
    return resolve(name, (function.world.kinds[kind],))


def _named(world: World, resolve: Resolve, name: str, kinds: tuple[str, ...]) -> Value:
    return resolve(name, tuple(world.kinds[kind] for kind in kinds if kind in world.kinds))


def _loaders(function: Function) -> dict[str, Loader | None]:
    """Return how what a field comes to is found again: one object of a query by its path."""
    by_id = function.operation == "mutation" or function.field.type.item is not None
    schema = function.world.schema
    return {kind: loader(schema, kind) if by_id else None for kind in function.made}


def _by_loaders(function: Function) -> bool:
    return all(_loaders(function).values())


def _sure(function: Function, found: Any) -> Any:
    """What is declared as non-null is no null: a server that says so is broken."""
    if found is None and function.field.type.required:
        raise CallError(f"the server gave null for {function.name}, which it declares non-null")
    return found


Place = Callable[[Any, tuple[int, ...]], Any]


def _each(found: list[Any], place: Place, index: tuple[int, ...]) -> list[Any]:
    """Return the objects of a list, those of lists within it too; what is null is left out."""
    objects: list[Any] = []
    for at, item in enumerate(found):
        here = (*index, at)
        objects += _each(item, place, here) if isinstance(item, list) else [place(item, here)]
    return [each for each in objects if each is not None]


def _object(
    world: World,
    of: Path | None,
    step: Step,
    loaders: Mapping[str, Loader | None],
    found: Any,
    index: tuple[int, ...],
) -> Path | None:
    """Return the object that an answer tells of: by its id, or by its place."""
    if found is None:
        return None
    kind = found.get("__typename") if isinstance(found, dict) else None
    if not isinstance(kind, str) or kind not in loaders:
        shown = kind if isinstance(kind, str) else f"{found!r:.60}"
        raise CallError(f"the server gave a {shown}, which its schema does not tell of here")
    if loaders[kind]:
        if found.get(_id_of(kind)) is None:
            raise CallError(f"the server gave a {kind} without an id")
        return _by_id(world, kind, found[_id_of(kind)])
    narrow = kind if len(loaders) > 1 else ""
    return world.kinds[kind](of, step._replace(item=index, on=narrow))


def _selection(loaders: Mapping[str, Loader | None]) -> str:
    """Return what is asked of an object: its type, and its id under a name of its own."""
    ids = [f"... on {kind} {{ {_id_of(kind)}: id }}" for kind, found in loaders.items() if found]
    return " ".join(["__typename", *ids])


def _id_of(kind: str) -> str:
    return f"id_{kind}"


def _by_id(world: World, kind: str, found: Any) -> Path:
    known = loader(world.schema, kind)
    if known is None:
        raise CallError(f"the server has no way to find a {kind} by its id")
    if type(found) not in (str, int):
        raise CallError(f"the server gave {found!r:.60} as the id of a {kind}")
    return world.kinds[kind](None, Step(known.field, (("id", str(found)),), (), known.on, True))


def _by_ids(world: World, kind: str, found: Any) -> Any:
    """A field that returns ids returns the objects."""
    if isinstance(found, list):
        return [_by_id(world, kind, each) for each in found if each is not None]
    return None if found is None else _by_id(world, kind, found)


def _scalars(schema: Schema, ref: Ref) -> str:
    """Return the plain fields of what a mutation returns: they are its result."""
    known: Type = schema.types[ref.name]
    plain = (f for f in known.fields.values() if not any(a.required for a in f.arguments))
    names = [f.name for f in plain if schema.types[f.type.name].kind in LEAVES and not f.deprecated]
    return " ".join(names) or "__typename"
