"""Recorded data are frozen, or copied: nothing that foreign code does to them is recorded."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from jupyter_toolcall import Scripted, Session, Tool, Toolbox
from jupyter_toolcall.core import call_record, events, journal_entries
from jupyter_toolcall.core.events import Outcome, to_json
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.recorded_data import FrozenDict, FrozenList, Record
from jupyter_toolcall.engine import session_values
from jupyter_toolcall.engine.cursor import SessionHooks
from jupyter_toolcall.engine.session_values import PreparedCall
from jupyter_toolcall.rules.approval_policy import Verdict
from jupyter_toolcall.schemes import messages
from jupyter_toolcall.schemes.messages import Reply, Request
from jupyter_toolcall.tools import tool as tools
from jupyter_toolcall.tools.tool import Changed

OURS = "jupyter_toolcall"
EVIL = "EVIL"
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3)
json_data = st.recursive(
    scalars,
    lambda data: st.lists(data, max_size=3) | st.dictionaries(st.text("xy", max_size=2), data),
    max_leaves=8,
)


def spoil(value: Any, seen: dict[int, Any] | None = None) -> None:
    """Change every dict and list that can be reached from a value by public names."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, (str, bytes, type)):
        return
    seen[id(value)] = value
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    elif type(value).__module__.startswith(OURS) and not callable(value):
        names = [name for name in dir(value) if not name.startswith("_")]
        parts = [part for name in names if not callable(part := getattr(value, name, None))]
    else:
        return
    for part in parts:
        spoil(part, seen)
    if isinstance(value, (FrozenDict, FrozenList)):
        with pytest.raises(TypeError, match="do not change"):
            value.clear()
    elif isinstance(value, MutableMapping):
        value.clear()
        value[EVIL] = [EVIL]
    elif isinstance(value, MutableSequence):
        value[:] = [EVIL]


SCHEMA = {"type": "object", "properties": {"text": {"type": "object", "default": {"a": [1]}}}}


class Foreign(SessionHooks):
    """All code that is not ours; at one border it changes whatever it has got."""

    def __init__(self, border: str, data: Any) -> None:
        self.border, self.data = border, data
        self.schema, self.edit = (
            json.loads(json.dumps(SCHEMA)),
            {"data": [json.loads(json.dumps(data))], "items": []},
        )
        self._kept: list[Any] = []

    def at(self, border: str, *values: Any) -> None:
        """Change values that are here now, and those that were here before."""
        if border == self.border:
            self._kept += values
            spoil(self._kept)
            self._kept.clear()

    def keep(self, border: str, value: Any) -> Any:
        """Return a value that is changed when this border is next reached."""
        if border == self.border:
            self._kept.append(value)
        return value

    def take(self, data: Any, items: list[Any], options: dict[str, Any] | None = None) -> Any:
        result = json.loads(json.dumps({"items": [items, data], "options": options}))
        self.at("tool", data, items, options)
        return self.keep("tool", result)

    def note(self, text: Any, variables: Any) -> Changed:
        result = Changed({"noted": [text]}, {"notes": [dict(variables), self.data]})
        result = json.loads(json.dumps(dataclasses.asdict(result)))
        self.at("tool", text, variables)
        return Changed(self.keep("tool", result["result"]), self.keep("tool", result["variables"]))

    def fill(self, arguments: Any, variables: Any) -> Any:
        filled = {"text": {"filled": arguments.get("text")}}
        self.at("tool", variables)
        return self.keep("tool", json.loads(json.dumps(filled)))

    def policy(self, tool: Tool, arguments: Any) -> tuple[Verdict, str]:
        verdict: Verdict = "ask" if arguments.get("options") == {"ask": True} else "approve"
        self.at("policy", tool, arguments)
        return verdict, ""

    def model(self, script: Scripted) -> Callable[[Request], Reply | None]:
        def reply(request: Request) -> Reply | None:
            answer = script(request)
            assert answer is not None
            answer = dataclasses.replace(answer, raw={"calls": [self.data]})
            self.at("model", request, answer.usage)
            kept: Reply = self.keep("model", answer)
            return kept

        return reply

    @contextmanager
    def around_request(self, model: str) -> Iterator[Callable[[Reply | None], None]]:
        yield lambda reply: self.at("hooks", reply)

    @contextmanager
    def around_execution(self, call: PreparedCall) -> Iterator[Callable[[Outcome], None]]:
        self.at("hooks", call)
        yield lambda outcome: self.at("hooks", outcome)

    def read(self, session: Session) -> None:
        names = ("calls", "pending", "requests", "state", "outputs", "tool_calls", "graph")
        self.at("reader", [*session.journal], session.journal.texts, session.journal.labels)
        self.at("reader", [*session.toolbox], *(getattr(session, name) for name in names))


def run(foreign: Foreign, toolbox: Toolbox) -> Session:
    """Return a session whose last call waited, and was edited."""
    data = json.loads(json.dumps(foreign.data))
    script: list[Any] = [
        ("take", {"data": data, "items": [data], "options": {"x": data}}),
        ("note", {"text": {"y": data}}),
        [("note", {}), ("take", {"data": data, "items": [], "options": {"ask": True}})],
        "Done.",
    ]
    model = foreign.model(Scripted(script))
    session = Session(toolbox, model, scheme="flat", approve=foreign.policy)
    session.cursor.context.hooks += (foreign,)
    foreign.read(session.tell("go"))
    [waiting] = session.pending
    session.decide(waiting, "edit", arguments=foreign.edit)
    foreign.at("caller", foreign.edit)
    foreign.read(session.run())
    foreign.read(session)
    return session


FOREIGN = ContextVar[Foreign]("FOREIGN")
"""Of which `take` is a method: as a tool, the method would get a copy, and count as its code."""


def take(data: Any, items: list[Any], options: dict[str, Any] | None = None) -> Any:
    return FOREIGN.get().take(data, items, options)


def toolbox(foreign: Foreign) -> Toolbox:
    FOREIGN.set(foreign)
    start = {"notes": [{"a": [1]}]}
    note = Tool(
        *("note", "Note it.", foreign.schema, foreign.note),
        reads=("notes",),
        variables=start,
        fill=foreign.fill,
    )
    box = Toolbox(take, note)
    foreign.at("caller", foreign.schema, start)
    return box


def record(session: Session) -> list[Any]:
    """Return what a session recorded, and the schemas of its tools."""
    entries = [(entry.id, to_json(entry.event)) for entry in session.journal]
    schemas = [tool.definition() for tool in session.toolbox]
    data = [entries, dict(session.journal.texts), dict(session.state.variables), schemas]
    plain: list[Any] = json.loads(json.dumps(data))
    return plain


BORDERS = ("tool", "policy", "model", "hooks", "reader", "caller")


@pytest.mark.parametrize("border", BORDERS)
@settings(max_examples=15)
@given(data=json_data)
def test_what_foreign_code_changes_is_in_no_record_and_no_schema(border: str, data: Any) -> None:
    innocent, foreign = Foreign("", data), Foreign(border, json.loads(json.dumps(data)))
    expected = record(run(innocent, toolbox(innocent)))
    box = toolbox(foreign)
    session = run(foreign, box)
    assert record(session) == expected
    Journal.loads(session.journal.dumps())
    later = Foreign("", data)
    assert EVIL not in json.dumps(record(run(later, box)))


RECORDS = (events, call_record, journal_entries, messages, session_values, tools)
LIVE = ("SessionValues",)
"""The session's own store of live values, which is no record."""
NO_DATA = {
    ("Changed", "result"): "what a tool returns, before it is recorded",
    ("Changed", "variables"): "what a tool returns, before it is recorded",
    ("Origin", "function"): "code",
    ("Tool", "function"): "code",
    ("Tool", "subject"): "a live object",
    **{("Origin", name): "methods of live classes" for name in ("marked", "overriding")},
}
"""Fields that may hold dicts or lists, and why they are no recorded data."""


@pytest.mark.parametrize("cls", [*events.Part.__subclasses__(), journal_entries.Entry])
def test_each_field_of_an_event_that_may_hold_data_freezes_it(cls: type[Record]) -> None:
    for field in structs.fields(cls):
        if field.type is Any or "Mapping[" in str(field.type):
            values = {f.name: "x" for f in structs.fields(cls) if f.required}
            record = cls(**{**values, field.name: {"a": [1]}})
            assert type(getattr(record, field.name)) is FrozenDict
            assert type(getattr(record, field.name)["a"]) is FrozenList
            with pytest.raises(AttributeError):
                setattr(record, field.name, {})


def test_each_field_of_a_record_that_may_hold_dicts_or_lists_is_frozen() -> None:
    shared = {
        (cls.__name__, field.name)
        for module in RECORDS
        for cls in vars(module).values()
        if dataclasses.is_dataclass(cls) and isinstance(cls, type)
        if cls.__module__ == module.__name__ and cls.__name__ not in LIVE
        for field in dataclasses.fields(cls)
        if not isinstance(getattr(cls, field.name, None), property)
        if "Mapping[" in str(field.type) or "Any" in str(field.type) or "dict[" in str(field.type)
    }
    assert shared == NO_DATA.keys()


@pytest.mark.parametrize("change", ["append", "clear", "insert", "pop", "sort", "__iadd__"])
def test_what_would_change_recorded_data_is_refused(change: str) -> None:
    for data in (FrozenDict(a=[1]), FrozenList([1])):
        for name in {change, "__setitem__", "__delitem__"} & {*dir(data)}:
            with pytest.raises(TypeError, match="do not change"):
                getattr(data, name)()
        assert type(copy.deepcopy(data)) in (dict, list)
        assert pickle.loads(pickle.dumps(data)) == json.loads(json.dumps(data)) == data
