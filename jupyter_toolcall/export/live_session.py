"""One branch of a session for export: its rows, and its tools and values in this process."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.call_record import CallRecord
from ..core.errors import Absent, CallError
from ..core.events import Asked, Made
from ..core.secrets import Keys, MissingSecret
from ..core.text import visible_text
from ..engine.cursor import Cursor
from ..engine.outdated import changed_tool_parts, recorded_tool_code
from ..engine.prepare import named_data
from ..tools.object_references import fits_in, references
from ..tools.tool import Tool, parameters_schema
from ..tools.value_digests import is_frozen
from ..view.contract import Rows
from ..view.view_rows import all_rows
from .callees import Callee, callee_of
from .code import MAIN, Code, Unwritable, is_of_package, of_module, variables_of, written
from .module_text import Texts, live_text
from .script import ObjectCode, Script, Selection, SessionSource, by_schema
from .statements import script_of

COPIED = "can't be copied"


@dataclass(frozen=True)
class LiveSession:
    """A branch of a session of this process."""

    cursor: Cursor
    texts: Texts = field(default_factory=lambda: functools.cache(live_text))

    def callee(self, call: CallRecord, instance: Code | None) -> Callee:
        tool = self._tool(call)
        if tool.for_person:
            raise Unwritable("a request to a person")
        # A tool that no function of the person's own stands behind.
        is_own = inspect.isfunction(tool.function) and not is_of_package(tool.function.__module__)
        if tool.origin is None and not is_own:
            raise Unwritable("no Python function, but what a definition or a server does")
        return callee_of(tool, instance)

    def _tool(self, call: CallRecord) -> Tool:
        tool = self.cursor.context.toolbox.get(call.tool)
        if tool is None:
            raise Unwritable(f"a tool that is not here, {call.tool}")
        return tool

    def changed(self, call: CallRecord) -> str:
        code = recorded_tool_code(call, self.cursor.context.journal)
        return changed_tool_parts(self._tool(call), code) if code is not None else ""

    def arguments(self, call: CallRecord, object_code: ObjectCode) -> dict[str, Code]:
        tool = self._tool(call)
        state = self.cursor.state
        fits = fits_in(state.objects, state.plain)
        named = dict(references(parameters_schema(tool), call.arguments, fits))
        try:
            values, lent = self._checked(tool, call.arguments)
        except (CallError, Absent):
            return by_schema(parameters_schema(tool), call.arguments, named, object_code)

        keys: Keys = ()
        with contextlib.suppress(MissingSecret):
            keys = call.demand_keys()
        variable = self.cursor.context.secrets.variable

        def held(value: object) -> Code | None:
            if id(value) in lent:
                return object_code(lent[id(value)][0])
            if keys and isinstance(value, str) and (name := variable(value, keys)):
                return of_module("os", f'os.environ["{name}"]')
            return None

        def by_name(key: str, value: object) -> bool:
            name = named.get(key, "")
            if name not in state.plain:
                return name != ""
            # Data that the call took as something else, such as a date as a text, is written so.
            return type(value) is type(self._value_or_other(state.objects[name]))

        return {
            key: object_code(named[key]) if by_name(key, value) else written(value, held)
            for key, value in values.items()
        }

    def _checked(
        self, tool: Tool, arguments: Mapping[str, object]
    ) -> tuple[dict[str, Any], dict[int, tuple[str, Any]]]:
        """Return the values that reach the function, and by their `id` the objects in them.

        Of an object there are its name and itself, so that no other value gets its id.
        """
        lent = dict[int, tuple[str, Any]]()

        def lend(name: str, types: tuple[type, ...]) -> object:
            value = self._value_or_other(self.cursor.state.resolve(name))
            lent.setdefault(id(value), (name, value))
            return value

        data = named_data(tool, arguments, self.cursor.state, self.cursor.context.values)
        values = data.fitting(lambda form: tool.check(form.with_values(arguments), lend))
        if tool.origin is not None and set(values) == {"arguments"} != set(arguments):
            values = values["arguments"]
        return values, lent

    def _value_or_other(self, ref: Made) -> object:
        try:
            return self.cursor.context.values.value(ref)
        except Absent:
            # It takes the place of an object whose value is not at hand.
            return object()

    def saved(self, name: str) -> Code:
        return written(self.cursor.context.values.outputs(self.cursor.state)[name])

    def is_shared(self, ref: Made) -> bool:
        memory = self.cursor.context.values
        if COPIED in memory.notes.get(ref.digest, ""):
            return True
        return memory.has_value(ref.digest, ref.content) and is_frozen(memory.by_digest[ref.digest])

    def instance_variable(self, name: str) -> str:
        subject = next((t.subject for t in self.cursor.context.toolbox if t.instance == name), None)
        held = variables_of(subject) if subject is not None else ()
        return next((variable for module, variable in held if module == MAIN), "")


@dataclass(frozen=True)
class ExportedSession:
    """One branch of a session up to its head, as every format gets it."""

    cursor: Cursor
    source: SessionSource
    rows: Rows
    exact: bool = True
    """Requests are what the model got; else they are what a file still knows of them."""

    @property
    def title(self) -> str:
        """The first line that a person said."""
        path = self.cursor.context.journal.path(self.cursor.head)
        prompts = (e.event.text for e in path if isinstance(e.event, Asked))
        lines = next(prompts, "").strip().splitlines()
        return visible_text(lines[0], 80) if lines else self.name or "A tool-calling session"

    @property
    def name(self) -> str:
        return next((row.name for row in self.rows.session), "")

    def script(self, awaits: bool = False, only: Selection | None = None) -> Script:
        """Return the session as code; with `only`, this alone."""
        return script_of(self.cursor, self.source, self.title, only, awaits)


def exported_session(cursor: Cursor, name: str) -> ExportedSession:
    """Return a session of this process, whose tools are read as they are now."""
    cursor.refresh()
    return ExportedSession(cursor, LiveSession(cursor), all_rows(cursor, name))
