"""Secrets of the environment: which variables hold them, and markers in place of their values."""

from __future__ import annotations

import html
import itertools
import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from .errors import Absent
from .events import Decided, Event, from_json, to_json
from .json_data import at_path, mapped, nested, replaced_at
from .recorded_data import JsonDict

LEAST = 8
"""The fewest characters of a known secret, such as a header's value: shorter ones are in words."""
SHORTEST = 12
"""The fewest characters of a value that counts as a secret by its variable's name."""

_WHOLE = frozenset(
    {
        *("KEY", "KEYS", "TOKEN", "SECRET", "SECRETS", "PASS", "PASSWORD", "PASSWORDS"),
        *("PASSPHRASE", "PASSWD", "PWD", "PAT", "DSN", "AUTH", "AUTHORIZATION", "JWT"),
        *("COOKIE", "COOKIES", "WEBHOOK", "CREDENTIAL", "CREDENTIALS", "APIKEY"),
    }
)
_ENDINGS = ("PASSWORD", "PASSPHRASE", "PASSWD", "SECRET", "TOKEN", "APIKEY", "CREDENTIALS")
"""Long words count at the end of a part too (PGPASSWORD); short ones would be in MONKEY."""
_NEVER = frozenset({"PWD", "OLDPWD", "GIT_AUTHOR_NAME"})
_PART = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*|\d+")


def is_named_secret(name: str) -> bool:
    """Return whether a variable's name says that it holds a secret: one of its whole parts does."""
    # API_KEY2 is a second key; Auth0 is a company.
    parts = [part.upper().rstrip("123456789") for part in _PART.findall(name)]
    if name in _NEVER or ("PUBLIC", "KEY") in itertools.pairwise(parts):
        return False
    plural = parts[-1:] == ["TOKENS"]
    return plural or any(part in _WHOLE or part.endswith(_ENDINGS) for part in parts)


# -- values ---------------------------------------------------------------------------------

_NUMBER = re.compile(r"[\d\s.,:_+/TZ-]+")
_EMAIL = re.compile(r"[^@\s:/]+@[\w-]+(\.[\w-]+)+")
_PATH = re.compile(
    r"(?:~[\w.-]*|\.\.?|[A-Za-z]:)[\\/]|\\\\"  # ~/x, ./x, C:\x, \\server\x
    r"|/[._]?[A-Za-z]?[a-z_-]*\d{0,2}(?:/|$)"  # /home/x: base64 has no such first part
)
_FILE = re.compile(
    r"[\w .@+-]+(?:[\\/][\w .@+-]+)*\."
    r"(?:json|pem|key|pub|crt|cer|p12|pfx|jks|txt|ya?ml|toml|ini|cfg|conf|env|sock|xml|db|log)"
)
_WORD = re.compile(r"(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20})+\d{0,2}|\d{1,4}")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{5}|^[b-df-hj-np-tv-xz]{4,}", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s.,:;_/=@|+-]+")


def is_secret_value(value: str) -> bool:
    """Return whether a value can be a secret: long, and no path, number, address or words."""
    if len(value) < SHORTEST:
        return False
    if any(form.fullmatch(value) for form in (_NUMBER, _EMAIL, _FILE)) or _PATH.match(value):
        return False
    return not all(map(_is_word, filter(None, _BETWEEN.split(value))))


def _is_word(part: str) -> bool:
    letters = part.rstrip("0123456789")
    return (
        len(letters) <= 24
        and _WORD.fullmatch(part) is not None
        and _CONSONANTS.search(letters) is None
    )


# -- the secret in a value ------------------------------------------------------------------

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_USER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:([^\s/?#:@]*)(?::([^\s/?#]*))?@)")
_PAIR = re.compile(r"(?:^|[?&;\s#])([\w.-]+)=(\"[^\"]*\"|'[^']*'|[^&;\s#]+)")
_SCHEME = re.compile(r"(?:[\w-]+:\s*)?(?:Bearer|Basic|Token|ApiKey)\s+(\S+)", re.IGNORECASE)


def secrets_of(name: str, value: str) -> tuple[str, ...]:
    """Return what a variable holds that would be a secret, if it is long enough and no word.

    Of a URL that is the password, or else the user, and what a query calls a secret; of a
    connection string the same. A webhook's URL is a secret as a whole.
    """
    value = value.strip()
    inside = tuple(dict.fromkeys(_inside(value)))
    if inside or not is_named_secret(name):
        return inside
    if _URL.fullmatch(value):
        return (value,) if "WEBHOOK" in name.upper() else ()
    header = _SCHEME.fullmatch(value)
    return (header[1] if header else value,)


def _inside(value: str) -> Iterator[str]:
    """Yield the secrets that a value names itself: of its URLs, and of pairs `name=value`."""
    for user, password in _USER.findall(value):
        # A token may stand in the user's place; the name of a user is words.
        secret = password or (user if is_secret_value(user) else "")
        if secret:
            yield secret
            yield unquote(secret)
    if "=" in value:
        for name, held in _PAIR.findall(value):
            if is_named_secret(name) or name.lower() in ("sig", "signature"):
                yield held.strip("\"'")
                yield unquote(held.strip("\"'"))


def recognised(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the secrets of an environment, each with its key: the variable's name, or NAME#2."""
    for name in sorted(environment):
        value = environment[name]
        if len(value) >= SHORTEST and (is_named_secret(name) or "=" in value or "://" in value):
            for key, secret in keyed(name, value):
                if is_secret_value(secret):
                    yield key, secret


def keyed(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what a variable holds that may be a secret, each with its key."""
    for number, secret in enumerate(secrets_of(name, value), 1):
        yield (name if number == 1 else f"{name}#{number}"), secret


HIDDEN = "[secret]"
"""In place of a secret that has no name."""
Hide = Callable[[Any], Any]
"""From JSON-ready data to the same without secrets."""
Keys = tuple[str, ...]
"""The keys of the markers that stand for values, sorted."""
_MARKER = re.compile(r"\{secret:([^\s{}:]{1,300})\}")
_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "json": lambda value: json.dumps(value)[1:-1],
    "html": html.escape,
    "url": lambda value: quote(value, safe=""),
    "repr": lambda value: repr(value)[1:-1],
}
"""How a value may be written inside another text, by the name that its marker has there."""


class MissingSecret(Absent):
    """A text holds a secret whose variable is not set; nothing is sent or run without it."""


class Secrets:
    """The secrets of an environment, as it is now: `refresh` reads it again."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._read: Mapping[Any, Any] = {}
        self._keys: Mapping[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        self.values: Keys = ()
        """All texts that are hidden, the longest first."""
        self.refresh()

    def refresh(self) -> None:
        """Read the environment again, if it has changed."""
        # `os.environ` decodes each variable at each look, and this runs at the end of each call.
        now = dict(getattr(self._environment, "_data", self._environment))
        if now == self._read:
            return
        self._read, key_by_value = now, dict[str, str]()
        for key, secret in recognised(dict(self._environment)):
            for spelled, text in _spelled(key, secret):
                key_by_value.setdefault(text, spelled)
        self._keys = key_by_value
        self.values = tuple(sorted(key_by_value, key=len, reverse=True))
        self._pattern = re.compile("|".join(map(re.escape, self.values))) if key_by_value else None

    # -- from values to markers --------------------------------------------------------------

    def occur(self, data: object) -> bool:
        """Return whether data, a record, or a dataclass with slots, holds a secret."""
        return bool(self.values) and _holds(data, self.values)

    def hide(self, data: object) -> Any:
        """Return JSON-ready data with markers, which nothing resolves, in place of secrets."""
        if not self.values or not self.occur(data):
            return data
        return self._replace(data, lambda key: key)

    def mark(self, data: object, keys: Collection[str] = ()) -> tuple[Any, Keys]:
        """Return data with markers in place of secrets, and the keys that stand for values.

        `keys` are keys of markers that stand for values in it already.
        """
        if not self.occur(data):
            return data, tuple(sorted(keys))
        texts = marker_keys(data) - {*keys}
        used = {*keys}

        def unlike_texts(key: str) -> str:
            while key in texts:
                key += "~"
            used.add(key)
            return key

        marked = self._replace(data, unlike_texts)
        return marked, tuple(sorted(used))

    def _replace(self, data: object, name: Callable[[str], str]) -> object:
        pattern, keys = self._pattern, self._keys
        assert pattern is not None

        def marker(match: re.Match[str]) -> str:
            return f"{{secret:{name(keys[match[0]])}}}"

        return mapped(data, str, lambda text: pattern.sub(marker, text), keys=True)

    def unfinished(self, text: str) -> str:
        """Return a growing text with secrets hidden, without an end that may begin a secret."""
        start = len(text)
        for value in self.values:
            # The longest end of the text that the value begins with, if it is not all of it.
            sizes = range(min(len(value) - 1, len(text)), 0, -1)
            size = next((n for n in sizes if text.endswith(value[:n])), 0)
            start = min(start, len(text) - size)
        return str(self.hide(text[:start]))

    # -- from markers to values --------------------------------------------------------------

    def reveal(self, data: object, keys: Collection[str]) -> Any:
        """Return data with values in place of the markers of these keys.

        Raises MissingSecret where a variable is not set.
        """
        if not keys:
            return data

        def value(match: re.Match[str]) -> str:
            return self._value(match[1]) if match[1] in keys else match[0]

        return mapped(data, str, lambda text: _MARKER.sub(value, text), keys=True)

    def variable(self, text: str, keys: Collection[str]) -> str:
        """Return the variable whose whole value a marker stands for; "" for any other text.

        So `{secret:NAME}` is `os.environ["NAME"]`, where that is no URL with a password in it.
        """
        match = _MARKER.fullmatch(text)
        name = match[1].rstrip("~") if match and match[1] in keys else ""
        value = self._environment.get(name, "")
        return name if dict(keyed(name, value)).get(name, "") == value != "" else ""

    def _value(self, key: str) -> str:
        """Return what a marker stands for now, also where that is no secret any more."""
        base, name = key.rstrip("~"), re.split("[#~]", key)[0]
        if name in self._environment:
            for value_key, secret in keyed(name, self._environment[name]):
                for spelled, text in _spelled(value_key, secret):
                    if spelled == base:
                        return text
        raise MissingSecret(
            f"The environment variable {name} is not set. Set it and run the cell again."
        )


def hiding(environment: Mapping[str, str]) -> Hide:
    """Return what replaces the secrets of an environment wherever they stand in a text."""
    return Secrets(environment).hide


def marker_keys(data: object) -> set[str]:
    """Return the keys of all that reads as a marker."""
    texts = (part for part in nested(data, keys=True) if isinstance(part, str))
    return {key for text in texts for key in _MARKER.findall(text)}


def _spelled(key: str, secret: str) -> Iterator[tuple[str, str]]:
    """Yield the spellings of a secret, each with its key; the plain one first."""
    yield key, secret
    for name, spell in _SPELLINGS.items():
        if (text := spell(secret)) != secret:
            yield f"{key}#{name}", text
    for before in range(3):
        data = bytes(before) + secret.encode(errors="surrogateescape")
        # Behind these bytes; the first and the last sign may hold bits of what stands beside it.
        begin, end = -(-before * 4 // 3), len(data) * 4 // 3
        yield f"{key}#base64.{before}", b64encode(data).decode()[begin:end]


def _holds(data: Any, values: Keys) -> bool:
    """Return whether data holds one of these values.

    It runs for everything that is recorded, so it creates no objects. Several searches for one
    text are much faster than one regular expression of all texts.
    """
    cls = type(data)
    if cls is str:
        return any(value in data for value in values)
    if cls is int or data is None or cls is bool or cls is float:
        return False
    if isinstance(data, Mapping):
        return any(_holds(key, values) or _holds(data[key], values) for key in data)
    if isinstance(data, (list, tuple)):
        return any(_holds(item, values) for item in data)
    if isinstance(data, str):
        return _holds(str(data), values)
    names = getattr(cls, "__struct_fields__", ()) or getattr(cls, "__slots__", ())
    return any(_holds(getattr(data, name), values) for name in names)


_MARKED: Mapping[str, tuple[str, ...]] = {
    "opened": ("system",),
    "asked": ("text",),
    "replied": ("text", "said", "ending", "thought", "raw", "calls"),
    "decided": ("arguments",),
    "finished": ("outcome.variables", "outcome.state"),
}
"""By the type of an event, the parts whose values are needed again: the event says which markers
in them stand for values. Anywhere else a secret is only hidden."""


def hide_event_secrets(event: Event, secrets: Secrets) -> Event:
    """Return an event with markers in place of secrets; one without secrets as it is."""
    if not secrets.occur(event):
        return event
    data: JsonDict = to_json(event)
    names = _MARKED.get(data["type"], ())
    if isinstance(event, Decided) and event.round:
        # The tool gets the values of a response.
        names = ("result.data",)
    paths = [tuple(name.split(".")) for name in names]
    # All parts are marked at once, so that a key is the same in each of them.
    parts, keys = secrets.mark([at_path(data, path) for path in paths], data.get("secrets", ()))
    data = secrets.hide(data)
    for path, part in zip(paths, parts, strict=True):
        data = replaced_at(data, path, part)
    return from_json({**data, **({"secrets": list(keys)} if keys else {})})
