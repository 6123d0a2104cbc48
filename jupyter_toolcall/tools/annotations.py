"""What the type hints of a function stand for: what it takes, and what it may make."""

from __future__ import annotations

import inspect
import types as python_types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import DefinitionError
from .kinds import Kinds, classes_in, has_schema, is_object_class, kind_name


def types_of(function: Callable[..., Any], title: str, kinds: Kinds) -> dict[str, Any]:
    """Return the types of a function's parameters, and its "return" where that is known."""
    bare, found = inspect.unwrap(function), {}
    for name in getattr(bare, "__annotations__", {}):
        try:
            found[name] = hint(bare, name, kinds)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            if name == "return":
                continue
            raise DefinitionError(
                f"{title}: the parameter {name!r} has a type that is not known here ({error}); "
                f"define or import it first, or write a type that is, such as `{name}: str`"
            ) from None
    return found


def hint(function: Any, name: str, classes: Iterable[type]) -> Any:
    """Return what one annotation of a function stands for. Raises NameError, and others."""
    local = {cls.__name__: cls for cls in classes}
    if inspect.isfunction(function):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        local |= {free: cell.cell_contents for free, cell in cells if _filled(cell)}
    one = python_types.SimpleNamespace(__annotations__={name: function.__annotations__[name]})
    known = getattr(function, "__globals__", {})
    return typing.get_type_hints(one, known, local, include_extras=True)[name]


def makes(types: Mapping[str, Any], kinds: Kinds) -> tuple[str, ...] | None:
    """Return the types of object that a function may make; None where it does not say."""
    if "return" not in types:
        return None
    parts = [part for part in classes_in(types["return"]) if isinstance(part, type)]
    if not parts or object in parts or Any in parts:
        return None
    return tuple(kinds.get(part) or kind_name(part) for part in parts)


def returned(types: Mapping[str, Any], kinds: Kinds) -> str:
    """Return the name of the object type that a function says to return, "" for none."""
    parts = [part for part in classes_in(types.get("return")) if part is not type(None)]
    cls = parts[0] if len(parts) == 1 else None
    if not isinstance(cls, type):
        return ""
    if cls in kinds:
        return kinds[cls]
    return kind_name(cls) if is_object_class(cls) and not has_schema(cls) else ""


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
