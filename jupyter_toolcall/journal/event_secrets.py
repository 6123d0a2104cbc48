"""Secrets out of an event before it is an entry: nothing that is written down holds one."""

from __future__ import annotations

from dataclasses import replace

from ..events import (
    Asked,
    Data,
    Decided,
    Event,
    Failed,
    Finished,
    Made,
    Many,
    Opened,
    Outcome,
    Replied,
    Started,
)
from ..secrets import Secrets


def concealed(event: Event, secrets: Secrets) -> Event:
    """Return an event with markers in place of secrets.

    Where a value is needed again (a prompt, a reply, arguments, variables), the event says
    which markers stand for values. An event without secrets is returned as it is.
    """
    if not secrets.occur(event):
        return event
    match event:
        case Opened(system=text):
            inputs = tuple((name, _made(made, secrets)) for name, made in event.inputs)
            outputs = {
                name: replace(out, description=secrets.hide(out.description))
                for name, out in event.outputs.items()
            }
            system, keys = secrets.mark(text, event.secrets)
            return replace(event, system=system, inputs=inputs, outputs=outputs, secrets=keys)
        case Asked(text):
            text, keys = secrets.mark(text, event.secrets)
            return replace(event, text=text, secrets=keys)
        case Replied():
            return _reply(event, secrets)
        case Decided(arguments=arguments, result=result, reason=reason):
            arguments, keys = secrets.mark(arguments, event.secrets)
            outcome = None if result is None else _outcome(result, secrets)
            reason = secrets.hide(reason)
            return replace(event, arguments=arguments, result=outcome, reason=reason, secrets=keys)
        case Started(arguments=arguments):
            return replace(event, arguments=secrets.hide(arguments))
        case Finished(outcome=Data(data, variables)):
            variables, keys = secrets.mark(variables, event.secrets)
            return replace(event, outcome=Data(secrets.hide(data), variables), secrets=keys)
        case Finished(outcome=came):
            return replace(event, outcome=_outcome(came, secrets))


def _reply(reply: Replied, secrets: Secrets) -> Replied:
    """All that the model wrote is marked at once, so that a key is the same in all of it."""
    calls = [(call.tool, call.arguments, call.broken) for call in reply.calls]
    wrote = (reply.text, reply.said, reply.ending, reply.thought, reply.raw, calls)
    (text, said, ending, thought, raw, calls), keys = secrets.mark(wrote, reply.secrets)
    return replace(
        reply,
        text=text,
        said=said,
        ending=ending,
        thought=thought,
        raw=raw,
        calls=tuple(
            replace(call, tool=tool, arguments=arguments, broken=broken)
            for call, (tool, arguments, broken) in zip(reply.calls, calls, strict=True)
        ),
        news=secrets.hide(reply.news),
        secrets=keys,
    )


def _outcome(outcome: Outcome, secrets: Secrets) -> Outcome:
    match outcome:
        case Data(data, variables):
            return Data(secrets.hide(data), secrets.hide(variables))
        case Failed(message):
            return Failed(secrets.hide(message))
        case Made():
            return _made(outcome, secrets)
        case Many(objects):
            return Many(tuple(_made(made, secrets) for made in objects))
    return outcome


def _made(made: Made, secrets: Secrets) -> Made:
    return replace(made, description=secrets.hide(made.description))
