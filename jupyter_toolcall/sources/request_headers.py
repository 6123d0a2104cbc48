"""Headers of requests that may hold secrets: filled in when a request is sent, and never shown."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core.errors import CallError, DefinitionError, UsageError
from ..core.secrets import HIDDEN, LEAST
from ..core.text import printable
from .http_client import RequestLimits, Response, send

PLACEHOLDER = re.compile(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}|\$\{|\$([A-Z_][A-Z0-9_]*)")
"""What is replaced in a text: `${...}`, which may hold another one, or the bare `$NAME`."""
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?:(:?)-(.*))?", re.DOTALL)
"""A variable in a placeholder. As in a shell, `:-` gives a default for an empty one too."""
VARIABLE_NAMES = re.compile(r"\$(?:\{(?:env:)?|(?=[A-Z_]))([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class SecretHeaders:
    """Headers of requests; `${NAME}` and `${NAME:-default}` are filled in from the environment.

    Arguments:
        texts: the headers by name.
        password: a name and a password, as `name:password`.

    Raises DefinitionError for a header that is no text.
    """

    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.texts, Mapping):
            raise DefinitionError('headers: give an object, such as {"X-Key": "${NAME}"}')
        for key, value in self.texts.items():
            if not all(isinstance(part, str) for part in (key, value)):
                raise DefinitionError(f"headers: {key!r:.40} must be a text, and have a text")

    def send(
        self,
        limits: RequestLimits,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        shown: str,
    ) -> Response:
        """Return a response in which no secret of these headers stands. Raises CallError, too.

        Arguments:
            headers: the other headers, which these replace.
            shown: what a person reads of the URL.
        """
        sent = {**headers, **self._filled(shown)}
        try:
            response = send(limits, method, url, headers=sent, body=body)
        except CallError as error:
            raise CallError(self._hidden(str(error).encode(), sent).decode()) from None
        return replace(response, body=self._hidden(response.body, sent))

    def _filled(self, shown: str) -> dict[str, str]:
        encoded = base64.b64encode(self.password.encode()).decode()
        filled = {"authorization": f"Basic {encoded}"} if self.password else {}
        for key, text in self.texts.items():
            try:
                filled[key.lower()] = filled_text(text, os.environ, f"a header of {shown}")
            except UsageError as error:
                raise CallError(str(error)) from None
        return filled

    def _hidden(self, text: bytes, headers: Mapping[str, str]) -> bytes:
        """Return a text without the values of headers, and the secrets in them."""
        header_names = {key.lower() for key in self.texts} | {"authorization"}
        secrets = [value for key, value in headers.items() if key in header_names]
        secrets += [value.rpartition(" ")[2] for value in secrets]
        names = [name for value in self.texts.values() for name in VARIABLE_NAMES.findall(value)]
        secrets += [os.environ.get(name, "") for name in names]
        secrets += [self.password, self.password.partition(":")[2]]
        for secret in sorted({s for s in secrets if len(s) >= LEAST}, key=len, reverse=True):
            for written in (secret, json.dumps(secret)[1:-1]):
                text = text.replace(written.encode(), HIDDEN.encode())
        return text


def filled_text(text: str, values: Mapping[str, str], place: str, is_shell: bool = False) -> str:
    """Return a text with the values of variables in place of their names.

    Raises UsageError for a placeholder without a value, which is never sent as it stands; a shell
    gets it as it is.
    """

    def value(match: re.Match[str]) -> str:
        variable = _VARIABLE.fullmatch(match[1] or match[2] or "")
        name, colon, default = variable.groups() if variable else (match[0], "", None)
        found = values.get(name)
        if default is not None and (found is None or (colon and not found)):
            found = filled_text(default, values, place, is_shell)
        if found is None and not is_shell:
            raise UsageError(
                f"{place} needs {printable(name)[:80]}, which is not set; write ${{NAME}} for a "
                "variable of the environment, and set it"
            )
        return match[0] if found is None else found

    return PLACEHOLDER.sub(value, text)
