"""What a path of a condition leads to (`fries.food`, `Potato#2`, `rows[0]`), and comparing it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ..content.value import plain_data
from ..session import Session
from ..tools import nearest
from .conditions import Word
from .scene import Otherwise, Scene

ANSWER = "the answer"
"""The path that leads to the model's last words."""
SHOWN = 120
"""Characters of a value that are told."""
_STEP = re.compile(r"\.([A-Za-z]\w*)|\[([^\]]+)\]")


def value_of(path: str, scene: Scene) -> Any:
    """Return what a path leads to: an output, an object, or a variable, and on into it.

    Raises Otherwise where there is no such thing.
    """
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    found = _base(name, scene)
    for attribute, key in _STEP.findall(path[len(name) :]):
        found = _into(found, attribute, key, path)
    return found


def _base(name: str, scene: Scene) -> Any:
    session = scene.session
    outputs = session.state.outputs if session is not None else {}
    if session is not None and name in outputs:
        return session.outputs[name]
    if session is not None and name in session.state.objects:
        return session[name]
    if name in scene.variables:
        return scene.variables[name]
    known = [*outputs, *(each for each in scene.variables if not each.startswith("_"))]
    raise Otherwise(f"there is no `{name}` yet.{nearest(name, known)}")


def _into(value: Any, attribute: str, key: str, path: str) -> Any:
    """Return an attribute or an item. What is in the way is the learner's: it is told."""
    try:
        return getattr(value, attribute) if attribute else value[_key(key)]
    except Exception as error:
        said = code(f"{type(error).__name__}: {error}")
        raise Otherwise(f"`{path}` cannot be read: {said}") from None


def _key(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def object_named(name: str, session: Session) -> str:
    """Return an object's own name, by an output's, an input's, or that name. Raises CallError."""
    state = session.state
    inputs = state.inputs
    found = str(state.outputs.get(name) or inputs.get(name) or name)
    state.resolve(found)
    return found


def equal(found: Any, wanted: Any) -> bool:
    """Return whether a value is what a condition says: JSON, or a word as it is printed."""
    if isinstance(wanted, Word):
        return str(found).casefold() == wanted.text.casefold()
    return _alike(plain_data(found), wanted)


def _alike(found: Any, wanted: Any) -> bool:
    match found, wanted:
        case (bool(), _) | (_, bool()):
            return found is wanted
        case (int() | float(), int() | float()):
            return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)
        case list(), list():
            return len(found) == len(wanted) and all(map(_alike, found, wanted))
        case dict(), dict():
            same_keys = found.keys() == wanted.keys()
            return same_keys and all(_alike(found[key], wanted[key]) for key in found)
    return bool(found == wanted)


def shown(value: Any) -> str:
    """Return a value as code."""
    return code(json.dumps(plain_data(value), ensure_ascii=False))


def code(text: str) -> str:
    """Return a text as code; nothing in it can end that."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line if len(line) <= SHOWN else f'{line[:SHOWN]}…'}`"


def listed(names: Iterable[str]) -> str:
    """Return names as code, one after the other."""
    return ", ".join(map(code, names)) or "nothing"
