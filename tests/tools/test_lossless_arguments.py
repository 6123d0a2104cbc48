"""No key of an argument is lost: what a tool gets is what was shown, at every depth of a type."""

# mypy: disable-error-code="maybe-unrecognized-str-typeform, valid-type, call-overload"
# mypy: disable-error-code="operator, arg-type, misc, name-defined"

from __future__ import annotations

import copy
import functools
import inspect
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, make_dataclass, replace
from datetime import date, timedelta
from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

import jsonschema_rs
import pydantic.dataclasses
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    Json,
    RootModel,
    TypeAdapter,
    create_model,
)
from typing_extensions import TypedDict

from jupyter_toolcall import Toolbox
from jupyter_toolcall.core.errors import CallError, DefinitionError
from jupyter_toolcall.core.interrupts import attempt
from tests.tools.test_python_tools import resolve


@dataclass(frozen=True)
class Case:
    """A type, a value of it, and values with one fault, each with the words that name it."""

    hint: Any
    value: Any
    faults: tuple[tuple[Any, str], ...] = ()

    def inside(self, hint: Any, around: Callable[[Any], Any]) -> Case:
        """Return the case of a type that holds this one."""
        return Case(hint, around(self.value), tuple((around(v), text) for v, text in self.faults))

    def with_fault(self, value: Any, text: str) -> Case:
        return replace(self, faults=(*self.faults, (value, text)))


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    item: T
    size: int = 1


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class _OwnInit(BaseModel):
    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)


def _records(hint: Any) -> dict[str, Any]:
    defaults = {"item": (hint, ...), "size": (int, 1)}
    pairs: list[Any] = [("item", hint), ("size", int, 1)]
    fields = {"item": hint, "size": int}
    return {
        "model": create_model("Order", **defaults),
        "own init": create_model("Order", __base__=_OwnInit, **defaults),
        "ignoring": create_model("Order", __config__=ConfigDict(extra="ignore"), **defaults),
        "generic": Box[hint],
        "dataclass": make_dataclass("Order", pairs),
        "pydantic": pydantic.dataclasses.dataclass(make_dataclass("Order", pairs)),
        "typed dict": TypedDict("Order", fields, total=False),
    }


def _record(inner: Case, kind: str) -> Case:
    hint = _records(inner.hint)[kind]
    case = inner.inside(hint, lambda item: {"item": item})
    unknown = {**case.value, "dry_run": True}
    return case.with_fault(unknown, "dry_run: there is no such argument; there are item, size")


def _aliased(inner: Case, field: Any) -> Case:
    config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    hint = create_model("Order", __config__=config, item=(inner.hint, field))
    case = inner.inside(hint, lambda item: {"what": item})
    both = {**case.value, "item": inner.value}
    return case.with_fault(both, "item: this is the same argument as what; give one of them")


def _by_number(inner: Case, hint: Any) -> Case:
    case = inner.inside(hint, lambda item: {"1": item})
    both = {**case.value, "01": inner.value}
    return case.with_fault(both, "01: this becomes the same as '1'; give one of them")


def _as_text(inner: Case) -> Case:
    case = inner.inside(Json[dict[str, inner.hint]], lambda item: json.dumps({"a": item}))
    item = json.dumps(inner.value)
    return case.with_fault(f'{{"a": {item}, "a": {item}}}', "the key 'a' is twice")


def _holding(inner: Case) -> st.SearchStrategy[Case]:
    hint = inner.hint
    tagged = create_model("Dog", kind=(Literal["dog"], ...), item=(hint, ...))
    among = Annotated[Cat | tagged, Field(discriminator="kind")]
    in_list = inner.inside(list[hint], lambda item: [item])
    return st.one_of(
        st.sampled_from([*_records(int)]).map(lambda kind: _record(inner, kind)),
        st.sampled_from(
            [
                _aliased(inner, Field(alias="what")),
                _aliased(inner, Field(validation_alias=AliasChoices("what", "which"))),
                _by_number(inner, dict[int, hint]),
                _by_number(inner, OrderedDict[int, hint]),
                _by_number(inner, RootModel[dict[int, hint]]),
                _as_text(inner),
                in_list,
                replace(in_list, hint=Iterable[hint]),
                replace(in_list, hint=tuple[hint, ...]),
                inner.inside(dict[str, hint], lambda item: {"a": item}),
                replace(inner, hint=hint | None),
                replace(inner, hint=bool | Annotated[hint, Field(description="What.")]),
                inner.inside(among, lambda item: {"kind": "dog", "item": item}),
            ]
        ),
    )


LEAF = Case(int, 7)
CASES = st.recursive(st.just(LEAF), lambda inner: inner.flatmap(_holding), max_leaves=4)


@given(CASES)
def test_unknown_repeated_and_colliding_keys_are_refused_at_every_depth(case: Case) -> None:
    def take(order: Any) -> None:
        """Take it."""

    take.__annotations__["order"] = case.hint
    tool = Toolbox(take)["take"]
    tool.check({"order": case.value}, resolve)
    for value, text in case.faults:
        with pytest.raises(CallError) as error:
            tool.check({"order": value}, resolve)
        assert text in str(error.value)
        assert str(error.value).startswith("take: order")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    amount: int


def test_a_model_that_allows_extra_keys_gets_them() -> None:
    def pay(transfer: Open) -> Any:
        """Pay."""

    arguments = {"transfer": {"amount": 1, "dry_run": True}}
    transfer = Toolbox(pay)["pay"].check(arguments, resolve)["transfer"]
    assert transfer.model_dump() == arguments["transfer"]


def test_a_set_may_have_an_item_twice_and_no_items_that_become_one() -> None:
    def tag(numbers: set[int]) -> None:
        """Tag."""

    check = Toolbox(tag)["tag"].check
    assert check({"numbers": [1, 1]}, resolve) == {"numbers": {1}}
    with pytest.raises(CallError, match=r"numbers\.1: this becomes the same as 0"):
        check({"numbers": [1, "1"]}, resolve)


class Shape(Enum):
    """A choice whose values are a text, a number and a tuple."""

    STICKS = "sticks"
    TWO = 2
    PAIR = (1.5, ("a",))


Values = tuple[Any, st.SearchStrategy[Any]]
"""A type, and values of it."""
SCALARS: list[Values] = [
    *((hint, st.from_type(hint)) for hint in (bool, date, timedelta, UUID, Shape)),
    *((str, st.text("ab1")), (PurePosixPath, st.just(PurePosixPath("/tmp/a")))),
    (Literal[Shape.STICKS, Shape.TWO, "x"], st.sampled_from([Shape.STICKS, Shape.TWO, "x"])),
]


def _strict_holding(of: Values) -> st.SearchStrategy[Values]:
    hint, values = of
    strict = ConfigDict(strict=True)
    model = create_model("Strict", __config__=strict, item=(hint, ...), more=(list[hint], []))
    plain: Any = TypedDict("plain", {"item": hint})
    return st.sampled_from(
        [
            (model, values.map(lambda value: model(item=value, more=[value]))),
            (plain, values.map(lambda value: {"item": value})),
            (hint | None, st.none() | values),
            (Annotated[list[hint], Field(strict=True)], st.lists(values, max_size=2)),
            (Annotated[tuple[hint, int], Field(strict=True)], st.tuples(values, st.just(1))),
            (dict[int, hint], st.dictionaries(st.integers(0, 9), values, max_size=2)),
        ]
    )


STRICT = st.recursive(
    st.sampled_from(SCALARS), lambda inner: inner.flatmap(_strict_holding), max_leaves=3
)


@given(STRICT, st.data())
def test_what_the_schema_offers_is_accepted_and_reaches_the_tool(
    of: Values, data: st.DataObject
) -> None:
    def take(value: Any) -> None: ...

    take.__annotations__["value"], value = of[0], data.draw(of[1])
    (tool,), adapter = Toolbox(take), TypeAdapter(TypedDict("Take", {"value": of[0]}))
    sent = json.loads(adapter.dump_json({"value": value}))
    jsonschema_rs.validate(tool.parameters, sent)
    assert tool.check(sent, resolve) == {"value": value}


def test_a_strict_type_takes_no_more_than_in_json() -> None:
    def book(day: Annotated[date, Field(strict=True)], shape: Literal[Shape.STICKS]) -> None: ...

    with pytest.raises(CallError, match=r"day: input should be a text, .* should be 'sticks'"):
        Toolbox(book)["book"].check({"day": 0, "shape": "slices"}, resolve)


PLAIN = {int: st.integers(-3, 9), str: st.text("ab", max_size=4), list[int]: st.just([1, 2])}
OPTIONS = {
    "alias": st.sampled_from(["one", "two"]),
    "validation_alias": st.just(AliasChoices("three", "four")),
    "description": st.just("What."),
    "validate_default": st.booleans(),
}


@st.composite
def parameters(draw: st.DrawFn) -> inspect.Parameter:
    """Draw a parameter as people who know pydantic write it."""
    hint, values = draw(st.sampled_from([*PLAIN.items()]))
    limit = {"ge" if hint is int else "min_length": st.integers(0, 2)}
    factory = values.map(lambda value: functools.partial(copy.copy, value))
    defaults = st.sampled_from([{}, {"default": values}, {"default_factory": factory}])
    options = defaults.flatmap(
        lambda default: st.fixed_dictionaries(default, optional=OPTIONS | limit)
    )
    field = options.map(lambda chosen: Field(**chosen))
    annotation = draw(st.one_of(st.just(hint), field.map(lambda info: Annotated[hint, info])))
    default = draw(st.one_of(st.just(inspect.Parameter.empty), values, field))
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(
        draw(st.sampled_from("xyz")), kind, default=default, annotation=annotation
    )


@given(st.lists(parameters(), max_size=2, unique_by=lambda p: p.name), st.booleans(), st.data())
def test_a_signature_offers_and_takes_what_pydantic_makes_of_it(
    drawn: list[inspect.Parameter], as_method: bool, data: st.DataObject
) -> None:
    def take(*of: Any, **values: Any) -> Any:
        return values

    take.__annotations__ = {p.name: p.annotation for p in drawn}
    of = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)] if as_method else []
    take.__signature__ = inspect.Signature([*of, *drawn])  # type: ignore[attr-defined]
    source: Any = type("Shop", (), {"take": take}) if as_method else take
    fields: Any = {
        p.name: p.annotation if p.default is p.empty else (p.annotation, p.default) for p in drawn
    }
    config = ConfigDict(extra="forbid")
    model, refused = attempt(lambda: create_model("Take", __config__=config, **fields))
    if model is None:
        with pytest.raises(DefinitionError, match="take: the parameter"):
            Toolbox(source)
        return
    (tool,), schema = Toolbox(source), model.model_json_schema()
    properties = {k: v for k, v in tool.parameters.get("properties", {}).items() if k != "Shop"}
    for part in schema["properties"].values():
        part.pop("title", None)
    assert properties == schema["properties"]
    assert set(tool.parameters.get("required", ())) == set(schema.get("required", ()))
    names = st.sampled_from([*properties, "x", "four", "other"])
    arguments = data.draw(st.dictionaries(names, st.sampled_from([1, -9, "3", "b", "", [1]])))
    wanted, refused = attempt(lambda: dict(model(**arguments)))
    shop = {"Shop": "Shop#1"} if as_method else {}
    checked, problem = attempt(tool.check, {**arguments, **shop}, lambda name, types: source())
    assert bool(refused) == bool(problem), (refused, problem)
    if not refused:
        own = {p.name: p.default for p in drawn if type(p.default) in (*PLAIN, list)}
        assert {**own, **tool.function(**checked)} == wanted
