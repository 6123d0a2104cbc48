"""A call that succeeded as the statement that makes the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..events import Data, Made
from ..state.call import CallRecord, objects_of
from .callees import Callee
from .code import Code, Need, Unwritable, call, joined
from .draft import Draft, assigned, copied
from .script import Line
from .wording import behind, edited


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
