"""A reply's text where its calls say something else now: objects have other names there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...events import Call
from ...models.strict import arguments
from .reading import Spoken, nested, spoken
from .values import TEXT, same, says, written
from .writing import element, quoted

Change = tuple[int, int, str]
"""From here, to there, this."""


def retold(text: str, calls: Sequence[Call]) -> str:
    """Return a text as the model wrote it, but for the values that its calls no longer have."""
    said = spoken(text)[-len(calls) :]
    if len(said) != len(calls):
        return text
    parts, at = [], 0
    for one, call in zip(said, calls, strict=True):
        for start, end, new in _changes(text, one, call):
            parts += [text[at:start], new]
            at = end
    return "".join([*parts, text[at:]])


def _changes(text: str, said: Spoken, call: Call) -> Iterator[Change]:
    if said.whole is not None and not same(dict(said.whole), dict(call.arguments)):
        yield *said.json, _as_json(text[slice(*said.json)], call)
    for given in said.given:
        now = call.arguments.get(given.name, given.text)
        if not says(given.text, now):
            new = written(now, TEXT)
            yield given.start, given.end, _in_place(new, text[given.start - 1])


def _in_place(new: str, before: str) -> str:
    """Return a value as it is written where this stands before it."""
    if before in ("'", '"'):
        return quoted(new)[1:-1]
    return quoted(new) if before == "=" else element(new)


def _as_json(text: str, call: Call) -> str:
    data = arguments(text)
    key = nested(data)
    return written({**data, key: dict(call.arguments)} if key else dict(call.arguments))
