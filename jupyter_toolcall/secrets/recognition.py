"""Which variables of an environment hold secrets, and which part of a value is the secret (pure).

As detect-secrets' keyword detector does, a name is read before a value: entropy alone hides
nothing. A value that reads as a path, a number, an address or words is no secret, whatever
its name: it would be replaced in too many ordinary texts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

LEAST = 8
"""Characters of what is known to be a secret: what is shorter is in too many words."""
SHORTEST = 12
"""Characters of a value that is taken for a secret by its variable's name."""

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
        found = password or (user if is_secret_value(user) else "")
        if found:
            yield found
            yield unquote(found)
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


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets of an environment, the longest first."""
    return tuple(sorted({value for _, value in recognised(environment)}, key=len, reverse=True))
