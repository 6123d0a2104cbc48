"""The model's turn: it is asked, and what it replies is written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..conversation.replies import noted, replied
from ..conversation.telling import revealed
from ..errors import ModelError, UsageError
from ..interrupts import interruptible
from ..journal.tree import Entry
from ..request import Reply, Request
from ..runner.performing import milliseconds
from ..runner.tracing import span
from ..state.shape import State
from ..tools import Tool
from .place import Place


def hear(place: Place, request: Request) -> Reply | None:
    """Return what the model says to a request, as it came; nothing is written.

    Raises MissingSecret where the request holds one that is not set.
    """
    if place.desk.model is None:
        raise UsageError("this session has no model; give one, such as model=Scripted([...])")
    secrets = place.desk.secrets
    try:
        reply = interruptible(place.desk.model, revealed(request, secrets))
    except ModelError as error:
        # A provider may quote what it was sent.
        error.args = secrets.hide(error.args)
        raise
    if reply is not None and not isinstance(reply, Reply):
        raise ModelError(f"the model returned {reply!r:.60}; a model returns a Reply or None")
    return reply


def ask(place: Place) -> Entry | None:
    """Ask the model; None where it has had its turns, or has nothing to say by itself."""
    if place.spent:
        return None
    desk = place.desk
    request, began = place.request, desk.clock()
    reply = _traced(place, request)
    if reply is None:
        return None
    tried = [[attempt.said, attempt.waited] for attempt in reply.attempts]
    more = {"attempts": tried} if tried else {}
    return record(place, reply, request, at=began, ms=milliseconds(began, desk.clock()), **more)


def record(place: Place, reply: Reply, request: Request, **meta: Any) -> Entry:
    """Write down what was replied to the request of this turn."""
    state, desk = place.state, place.desk
    try:
        offered = _new(place, request, state)
        read = desk.scheme.read(reply, state, desk.toolbox)
        fact = replied(read, state, offered, request.news, desk.hide)
        entry = place.write(fact, **meta)
    except (TypeError, ValueError) as error:
        raise ModelError(f"the model's reply cannot be written down: {error}") from error
    place.heard = entry.id
    return entry


def _traced(place: Place, request: Request) -> Reply | None:
    name = str(getattr(place.desk.model, "name", ""))
    provider, _, model = name.rpartition(":")
    known = {"gen_ai.provider.name": provider or None, "gen_ai.request.model": model or None}
    with span("chat", model or "model", known) as note:
        reply = hear(place, request)
        note(noted(reply))
        return reply


def _new(place: Place, request: Request, state: State) -> Mapping[str, str]:
    """Keep what is sent for the first time, so that every request can be shown later."""
    remember, texts = place.desk.journal.remember, place.desk.journal.texts
    hide = place.desk.hide

    def known(tool: Tool) -> bool:
        # A tool that takes other arguments is another one, such as `save` with other outputs.
        sent = texts.get(state.sent.get(tool.name) or "")
        return sent is not None and bool(sent["parameters"] == hide(tool.parameters))

    new = {t.name: remember(t.definition()) for t in request.tools if not known(t)}
    same = texts.get(state.sent.get("") or "") == hide(request.system)
    return new if same else {**new, "": remember(request.system)}
