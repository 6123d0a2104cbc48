"""The models that there are, as a table: what each is, and why it cannot be used here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from .named import PROVIDERS, Listed, listed, names

MOST = 12
"""So many recordings of a folder are listed, the newest first."""
_LINE = b'{"turn": '


def models(environment: Mapping[str, str], folder: Path) -> Iterator[Listed]:
    """Yield the models by name, and the recordings of a folder where others are."""
    found = recordings(folder)
    for model in listed(environment):
        if model.name.startswith("recorded:") and found:
            yield from (Listed(f"recorded:{name}", "", model.what) for name in found)
        elif model.name.startswith("recorded:"):
            yield Listed(model.name, "there is none in this folder", model.what)
        else:
            yield model


def table(rows: Iterator[Listed], chosen: str) -> str:
    """Return models as a table, a line each; `chosen` answers where nobody says who."""
    lines = [
        (_mark(row, chosen), f"no: {row.lacks}" if row.lacks else "yes", row.what) for row in rows
    ]
    wide = [max(len(line[column]) for line in lines) for column in (0, 1)]
    head = ("  model", "usable here", "what it is")
    return "\n".join(
        f"{name:{wide[0]}}  {usable:{wide[1]}}  {what}" for name, usable, what in (head, *lines)
    )


def _mark(row: Listed, chosen: str) -> str:
    return f"{'*' if row.name == chosen else ' '} {row.name}"


def completions(folder: Path) -> list[str]:
    """Return what may be completed behind `-m`."""
    known = [name for provider in PROVIDERS for name in names(provider)]
    open_ended = [f"{name}:" for name, provider in PROVIDERS.items() if provider.place]
    return [*known, *(f"recorded:{name}" for name in recordings(folder)), *open_ended]


def recordings(folder: Path) -> list[str]:
    """Return the names of the recordings in a folder, the newest first."""
    files = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [path.name for path in files[:MOST] if _is_recording(path)]


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_LINE)) == _LINE
    except OSError:
        return False
