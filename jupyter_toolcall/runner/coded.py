"""What the tool of a call was made of when it ran: kept once for each version, beside the events.

It is no part of what a call is bound to (that is the version alone), and no event: it only
lets a person be told what has changed since.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..journal.tree import Journal
from ..state.call import CallRecord
from ..state.shape import State
from ..tools import Tool

PYTHON = ".".join(map(str, sys.version_info[:2]))
"""Compiled code, and so the version of a tool, is another one in each of these."""


@dataclass(frozen=True, slots=True)
class Code:
    """A version of a tool, and the digests of its parts; "" is the tool's own function."""

    version: str
    python: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


def coded(tool: Tool, state: State, journal: Journal) -> dict[str, Any]:
    """Return what is noted beside a start: the tool's code, where it is not what it was last."""
    version = tool.version()
    last = journal.texts.get(state.code.get(tool.name) or "")
    if not version or (last is not None and last["version"] == version):
        return {}
    text = {"version": version, "python": PYTHON, "parts": dict(tool.parts())}
    return {"code": journal.remember(text)}


def code_of(call: CallRecord, journal: Journal) -> Code | None:
    """Return what the tool of a call was made of when it ran; None where nobody has noted it."""
    match journal.texts.get(call.code):
        case {"version": str(version), "python": str(python), "parts": Mapping() as parts}:
            return Code(version, python, parts)
    return None


def changed(tool: Tool, code: Code) -> str:
    """Say what of a tool is another than it was; "" where nothing is."""
    if tool.version() == code.version:
        return ""
    if code.python != PYTHON:
        return f"{tool.name} was compiled by Python {code.python}, and this is {PYTHON}"
    now = tool.parts()
    names = sorted(name for name in {*now, *code.parts} if now.get(name) != code.parts.get(name))
    if "" in names or not names:
        return f"{tool.name} was changed"
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{tool.name} uses what was changed: {', '.join(names[:4])}{more}"
