"""Arguments as code by their JSON Schema alone: objects by name, classes by their titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.call_record import CallRecord, objects_of
from ..core.events import Data, Made
from .callees import Callee
from .code import Code, Need, Unwritable, call, joined
from .script import Draft, Line, assigned, copied
from .value_code import quoted, written
from .wording import behind, edited

Named = Callable[[str], Code | None]
"""From the name of a class to the code that names it; None where it is not known."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def no_class(name: str) -> None:
    """No class is known."""


def by_schema(
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    objects: Mapping[str, str],
    lent: Callable[[str], Code],
    named: Named = no_class,
) -> dict[str, Code]:
    """Return arguments as code; `objects` are the places in them that name objects."""
    wording = _Wording(schema.get("$defs", {}), objects, lent, named)
    return wording.fields(schema, arguments, "")


@dataclass(frozen=True, slots=True)
class _Wording:
    """How the values of one call are written; a place is their way, such as `order.0.item`."""

    defs: Mapping[str, Any]
    objects: Mapping[str, str]
    lent: Callable[[str], Code]
    named: Named

    def fields(self, part: Any, value: Mapping[str, Any], at: str) -> dict[str, Code]:
        known, more = part.get("properties", {}), part.get("additionalProperties", {})
        return {key: self._code(known.get(key, more), v, at + key) for key, v in value.items()}

    def _code(self, part: Any, value: Any, place: str) -> Code:
        if place in self.objects:
            return self.lent(self.objects[place])
        part = part if isinstance(part, Mapping) else {}
        if name := _reference(part):
            return self._of_class(self.named(name), self.defs.get(name, {}), value, place)
        for branch in self._branches(part, value):
            return self._code(branch, value, place)
        return self._plain(part, value, place)

    def _of_class(self, cls: Code | None, part: Any, value: Any, place: str) -> Code:
        if cls is None or not isinstance(part, Mapping):
            return self._code(part, value, place)
        if "enum" in part or "const" in part:
            return call(cls, [written(value)])
        if isinstance(value, dict) and "properties" in part:
            return call(cls, named=self.fields(part, value, f"{place}."))
        return self._code(part, value, place)

    def _plain(self, part: Mapping[str, Any], value: Any, place: str) -> Code:
        match value:
            case list():
                kinds = zip(_kinds(part, len(value)), value, strict=False)
                items = (self._code(k, v, f"{place}.{n}") for n, (k, v) in enumerate(kinds))
                return joined("[", items, "]")
            case dict():
                fields = self.fields(part, value, f"{place}.").items()
                pairs = (Code(f"{quoted(key)}: {code.text}", code.needs) for key, code in fields)
                return joined("{", pairs, "}")
        return written(value)

    def _branches(self, part: Mapping[str, Any], value: Any) -> Iterator[Any]:
        for key in ("anyOf", "oneOf", "allOf"):
            yield from (branch for branch in part.get(key, ()) if self._takes(branch, value))

    def _takes(self, branch: Any, value: Any) -> bool:
        if not isinstance(branch, Mapping):
            return False
        whole = self.defs.get(_reference(branch), branch)
        if "enum" in whole:
            return value in whole["enum"]
        kind = whole.get("type")
        return kind is None or isinstance(value, _TYPES.get(kind, (object,)))


def _reference(part: Mapping[str, Any]) -> str:
    """Return the name of the definition that a part refers to, "" for none."""
    return str(part.get("$ref", "")).rpartition("/")[2]


def _kinds(part: Mapping[str, Any], count: int) -> list[Any]:
    """Return the schemas of a list's items, one an item."""
    first = list(part.get("prefixItems", ()))
    return [*first, *[part.get("items", {})] * max(0, count - len(first))]


def statement(draft: Draft, ran: CallRecord) -> Line:
    """Return the statement that a call is. Raises Unwritable, which says why there is none."""
    world, own = draft.world, ran.produced
    instance = ran.started.instance if ran.started else ""
    callee = world.callee(ran, Code(draft.instance(instance)) if instance else None)
    lent = _Lending(draft, Counter(_named(draft, ran)))
    arguments = world.arguments(ran, lent)
    subject = arguments.pop(world.receiver(ran), None)
    targets = _targets(draft, ran, own)
    if own and subject is not None and _may_change(draft, ran, callee):
        code = _changed(draft, targets[0], subject, callee, arguments)
    else:
        code = _awaited(draft, callee.called(arguments, subject), callee)
        # What an instance gives out may change with it later.
        code = copied(code) if instance and own else code
        code = assigned(targets, code, many=not isinstance(ran.outcome, (Made, Data)))
    draft.there |= {made.producer for made in own}
    lines = [*lent.before, code]
    return Line(joined("", lines, "", "\n"), edited(ran), behind(ran, own, draft.state))


def _targets(draft: Draft, ran: CallRecord, own: Collection[Made]) -> list[str]:
    match ran.outcome:
        case Data(None):
            return []
        case Data():
            return [draft.result(ran)]
        case Made():
            return [*map(draft.variable_of, own)]
    return [draft.variable_of(made) if made in own else "_" for made in objects_of(ran.outcome)]


def _may_change(draft: Draft, ran: CallRecord, callee: Callee) -> bool:
    """Return whether the new object may be the one that a method was called on, changed."""
    name = ran.arguments.get(draft.world.receiver(ran))
    made = draft.state.objects.get(name) if isinstance(name, str) else None
    if not isinstance(ran.outcome, Made) or made is None or callee.gives == "value":
        return False
    return made.kind == ran.outcome.kind and not draft.world.is_shared(made)


def _changed(
    draft: Draft, to: str, subject: Code, callee: Callee, arguments: dict[str, Code]
) -> Code:
    """A method that returned nothing changed the copy that it got: that is the new object."""
    copy = assigned([to], subject)
    done = _awaited(draft, callee.called(arguments, Code(to)), callee)
    if callee.gives == "nothing":
        return joined("", [copy, done], "", "\n")
    kept = Code(f"{to} = {to} if result is None else result")
    return joined("", [copy, assigned(["result"], done), kept], "", "\n")


def _awaited(draft: Draft, code: Code, callee: Callee) -> Code:
    if not callee.awaited:
        return code
    if draft.awaits:
        return Code(f"await {code.text}", code.needs)
    return call(Code("asyncio.run", frozenset({Need("asyncio")})), [code])


def _named(draft: Draft, ran: CallRecord) -> Iterator[str]:
    """Yield the objects that a call gets, as often as it gets each."""
    counted: list[str] = []

    def count(name: str) -> Code:
        counted.append(name)
        return Code("...")

    draft.world.arguments(ran, count)
    return iter(counted)


@dataclass
class _Lending:
    """Lends objects to one call: a copy of each, the same one wherever it stands."""

    draft: Draft
    often: Mapping[str, int]
    before: list[Code] = field(default_factory=list)
    known: dict[str, Code] = field(default_factory=dict)

    def __call__(self, name: str) -> Code:
        if name not in self.known:
            self.known[name] = self._lent(name)
        return self.known[name]

    def _lent(self, name: str) -> Code:
        made, draft = self.draft.state.objects.get(name), self.draft
        if made is None or made.producer not in draft.there:
            raise Unwritable(f"a call that needs {name}, which is not made here")
        bare = Code(draft.names[name])
        if draft.world.is_shared(made):
            return bare
        if self.often[name] < 2:
            return copied(bare)
        copy = f"{bare.text}_copy"
        self.before.append(assigned([copy], copied(bare)))
        return Code(copy)
