"""What was written so far of one branch: which objects have a variable, and which one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..events import Made, Producer
from ..state.call import CallRecord
from ..state.shape import State
from .code import Code, Need, call, is_name
from .script import Selection, World

COPY = Need("copy", "deepcopy")


@dataclass
class Draft:
    """One branch on its way into code."""

    world: World
    state: State
    names: Mapping[str, str]
    """For each object its variable."""
    taken: frozenset[str] = frozenset()
    """Names that no variable has."""
    only: Selection | None = None
    """What is written; None for all."""
    awaits: bool = False
    there: set[Producer] = field(default_factory=set)
    """The objects that are defined by now."""
    instances: dict[str, str] = field(default_factory=dict)
    """For each stateful instance its variable."""
    at: dict[str, str] = field(default_factory=dict)
    """For each of them the digest of what it was given as."""

    def wants_call(self, call_id: str) -> bool:
        """Return whether a call is written."""
        return self.only is None or call_id in self.only.calls

    def wants_object(self, made: Made) -> bool:
        """Return whether an object is written."""
        return self.only is None or made.producer in self.only.objects

    def wants_instance(self, name: str) -> bool:
        """Return whether a stateful instance is written."""
        return self.only is None or name in self.only.instances

    def instance(self, name: str) -> str:
        """Return the variable of a stateful instance."""
        return self.instances.setdefault(name, self._free(name))

    def _free(self, name: str) -> str:
        bare = re.sub(r"\W", "_", name).lower()
        made = bare if is_name(bare) else f"instance_{bare}"
        used = {*self.names.values(), *self.instances.values(), *self.taken}
        while made in used:
            made += "_"
        return made

    def result(self, call: CallRecord) -> str:
        """Return the variable of a call's plain result."""
        name = f"result_{call.step}"
        return name if name not in {*self.names.values(), *self.taken} else f"{name}_"

    def variable_of(self, made: Made) -> str:
        """Return the variable of an object."""
        return self.names[self.state.name_of(made)]


def copied(code: Code) -> Code:
    """Return the code of a copy."""
    return call(Code(COPY.name, frozenset({COPY})), [code])


def assigned(targets: list[str], code: Code, many: bool = False) -> Code:
    """Return an assignment; the code alone where there is nothing to assign to."""
    if not targets:
        return code
    to = f"[{targets[0]}]" if many and len(targets) == 1 else ", ".join(targets)
    return Code(f"{to} = {code.text}", code.needs)
