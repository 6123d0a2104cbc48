"""A turn of a long session on chat completions, beside the SDK's own call with the same body.

Both speak to a server in memory, so that what is measured is work, not the network. The
SDK's own call reads the stream as its documentation shows.
`python tests/benchmarks/bench_openai.py [TURNS]` prints a table, up to turn 1,000 without it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import httpx2
import openai

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.models.openai import OpenAI
from jupyter_toolcall.schemes.messages import Request

ROUNDS = 15
GOAL = 3.0
HEAD = {"object": "chat.completion.chunk", "id": "chatcmpl-1", "created": 1, "model": "m"}


@tool
def note(number: int) -> str:
    """Keep a number, and say so."""
    return f"kept {number}, and there are {number + 1} of them now"


def after(turns: int) -> Request:
    """Return the request of a session that has had so many turns, each with one call."""
    calls = [("note", {"number": number}) for number in range(turns)]
    session = Session(Toolbox(note), Scripted(calls), scheme="flat", approve="all")
    session.ask("Keep some numbers.")
    while len(session.calls) < turns or session.tool_calls:
        session.step()
    return session.cursor.request


def answer() -> bytes:
    """Return the stream of a reply with one call."""
    pieces = ['{"num', 'ber"', ": ", "1000", "}"]
    call: dict[str, Any] = {"index": 0, "id": "call_1", "type": "function"}
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": None},
        {"tool_calls": [{**call, "function": {"name": "note", "arguments": ""}}]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces),
    ]
    choices: list[Any] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices += [[{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], []]
    sent = b"".join(
        b"data: " + json.dumps({**HEAD, "choices": choice}).encode() + b"\n\n" for choice in choices
    )
    return sent + b"data: [DONE]\n\n"


def timed(work: Callable[[], object]) -> float:
    """Return the median of the seconds of CPU that some work takes."""
    work()
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


def main(most: int = 1_000) -> None:
    sent: list[int] = []
    stream = answer()
    numbers = count()

    def serve(request: httpx2.Request) -> httpx2.Response:
        sent.append(len(request.content))
        headers = {"content-type": "text/event-stream", "x-request-id": str(next(numbers))}
        return httpx2.Response(200, headers=headers, content=stream)

    transport = httpx2.Client(transport=httpx2.MockTransport(serve))
    client = openai.OpenAI(api_key="none", base_url="http://localhost/v1", http_client=transport)
    model = OpenAI("m", client=client)
    print("turns   ours ms   SDK ms   ratio   bytes sent")
    for turns in (most // 100, most // 10, most):
        request = after(turns)
        body = model.body(request)
        ours = timed(lambda request=request: model(request))  # type: ignore[misc]
        own = timed(lambda body=body: list(client.chat.completions.create(**body)))  # type: ignore[misc]
        print(
            f"{turns:5} {ours * 1000:9.2f} {own * 1000:8.2f} {ours / own:7.2f} {sent[-1]:12,}"
            f"   goal {GOAL}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
