"""The requests of a session as the model got them, and what it replied, turn by turn."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..core.events import to_json
from ..core.progress import bar
from ..core.state_fold import state_at
from ..engine.cursor import Cursor
from ..view.message_rows import Exchange, exchanges, request_data
from .file_marks import MARK

FORMAT = "jupyter-toolcall/messages"


def messages(cursor: Cursor, exact: bool) -> str:
    """Return all turns as JSON.

    `request` is the body that went to the provider, or what a model that is a function is
    given. Headers, and so keys, are in neither. What a file alone knows of a request is not
    `exact`: definitions are as they were first sent.
    """
    turns = []
    with bar(cursor.state.turns, "messages", "turn") as moved:
        for each in exchanges(cursor):
            turns.append(_turn(each, _body(each) if exact else _recorded(cursor, each)))
            moved.update()
    whole = {"format": FORMAT, "version": 1, "made": MARK, "exact": exact, "turns": turns}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _turn(each: Exchange, request: Any) -> dict[str, Any]:
    reply = to_json(each.reply)
    return {
        "turn": each.turn,
        "model": each.model,
        "request": request,
        "reply": {key: item for key, item in reply.items() if key not in ("type", "offered")},
        "usage": None if each.usage is None else asdict(each.usage),
        "ms": each.ms,
    }


def _body(each: Exchange) -> Any:
    return request_data(each.request) if each.body is None else each.body


def _recorded(cursor: Cursor, each: Exchange) -> dict[str, Any]:
    """Return a request with the texts that the journal has of it."""
    journal = cursor.context.journal
    sent, texts = state_at(journal, each.entry).sent, journal.texts
    request = request_data(each.request)
    tools = (texts.get(sent.get(tool.name) or "") for tool in each.request.tools)
    system = texts.get(sent.get("") or "", request["system"])
    return {**request, "system": system, "tools": [tool for tool in tools if tool is not None]}
