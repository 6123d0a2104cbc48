"""What a person gives beside a definition: variables of the session, and hosts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import SecretBytes, SecretStr

from ...errors import DefinitionError
from ...secrets import Hide, hiding
from ..doors import Door
from .keys import shallow, too_deep


def read_variables(found: Any) -> dict[str, Any]:
    """Return variables of the session by name, without `vars.`.

    Raises DefinitionError for what is no JSON, and for a secret: arguments are shown and kept.
    """
    if not isinstance(found, Mapping):
        raise DefinitionError(f'variables: {found!r:.60} is no object, such as {{"name": value}}')
    hide = hiding(os.environ)
    named = {str(key).removeprefix("vars."): value for key, value in found.items()}
    if len(named) < len(found):
        raise DefinitionError("variables: one name is there twice, with and without vars.")
    for name, value in named.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name):
            raise DefinitionError(f"variables: {name!r:.60} is no name: letters, digits, _ and .")
        named[name] = _not_secret(name, value, hide)
    return named


def _not_secret(name: str, value: Any, hide: Hide) -> Any:
    try:
        plain = None if _is_secret(value) else _plain(value, f"variables.{name}")
    except RecursionError:
        raise too_deep(f"variables.{name}") from None
    if plain is None is not value or hide(plain) != plain:
        raise DefinitionError(
            f"variables.{name}: this is a secret, and a call's arguments are shown and saved; "
            "let the server that is called know it, or write a function that holds it"
        )
    return plain


def without_secrets(said: Mapping[str, Any]) -> None:
    """Raise DefinitionError where a definition quotes a secret of the environment."""
    hide = hiding(os.environ)
    for key, value in said.items():
        if hide(value) != value:
            raise DefinitionError(f"{key}: holds a secret, and definitions are shown; take it out")


def _is_secret(value: Any) -> bool:
    match value:
        case SecretStr() | SecretBytes():
            return True
        case Mapping():
            return any(map(_is_secret, value.values()))
        case list() | tuple() | set():
            return any(map(_is_secret, value))
    return False


def _plain(value: Any, place: str) -> Any:
    try:
        found = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise DefinitionError(
            f"{place}: {value!r:.60} is no JSON; give text, numbers, lists"
        ) from None
    return shallow([found], place)[0]


def hosts_of(found: Any) -> tuple[str, ...]:
    """Return the hosts that are allowed, one of them or many. Raises DefinitionError."""
    every: Any = (found,) if isinstance(found, str) else found
    if not isinstance(every, Iterable) or not all(isinstance(host, str) for host in every):
        raise DefinitionError(f'allow_hosts: {found!r:.60}; give ("api.example.org",)')
    return Door(tuple(every)).hosts
