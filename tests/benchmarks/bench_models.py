"""What a turn costs on Claude beside the SDK's own call with the same body, over real HTTP.

Both are measured in the same run, as CPU of the thread that asks: the server is another's.
`python tests/benchmarks/bench_models.py [TURNS]` prints a table, up to turn 1,000 without it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.models.anthropic import Claude

MODEL = "claude-opus-5-5"
TIMES = 7
USAGE = {"input_tokens": 1, "output_tokens": 1}
MESSAGE = {
    **{"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []},
    **{"stop_reason": None, "stop_sequence": None, "usage": USAGE},
}
EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
    {"type": "message_stop"},
)
STREAM = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in EVENTS).encode()


class Server(BaseHTTPRequestHandler):
    """Says the same, whatever it is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def step(x: int, note: str = "") -> str:
    """Add one."""
    return f"{x + 1}, and so on, as a result of some words would be"


def session_of(turns: int, scheme: str) -> Session:
    """Return a session that asks its model for the turn after so many."""
    script: list[Any] = [("selectTools", {"tools": ["step"]})] if scheme == "select" else []
    script += [[f"Now {n}.", ("step", {"x": n, "note": "a note"})] for n in range(turns)]
    session = Session(Toolbox(step), Scripted(script[:turns]), scheme=scheme, approve="all")
    return session.ask("Count.").run()


def spent(function: Callable[[], object]) -> float:
    """Return the least seconds of this thread's CPU that a function took."""
    costs = []
    for _ in range(TIMES):
        began = time.thread_time()
        function()
        costs.append(time.thread_time() - began)
    return min(costs)


def sdk_call(client: anthropic.Anthropic, body: dict[str, Any]) -> None:
    """Ask as a program of one's own would."""
    for _ in client.beta.messages.create(**body):
        pass


def measured(turns: int, scheme: str, client: anthropic.Anthropic) -> str:
    """Return a row of the table."""
    session = session_of(turns, scheme)
    model = Claude(MODEL, client=client)
    body = model.body(session.cursor.request)
    theirs = spent(lambda: sdk_call(client, body))
    ours = spent(lambda: model(session.cursor.request))
    made = spent(lambda: model.body(session.cursor.request))
    size, ratio = len(json.dumps(body)), ours / theirs
    return (
        f"{scheme:<7} turn {turns:>5,}  {size:>9,} B   ours {ours * 1e3:7.2f} ms   "
        f"SDK {theirs * 1e3:7.2f} ms   ratio {ratio:4.2f}   the body alone {made * 1e3:6.2f} ms"
    )


def main(most: int = 1_000) -> None:
    """Print the table."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with anthropic.Anthropic(api_key="a key", base_url=url, max_retries=0) as client:
        for scheme in ("flat", "select"):
            for turns in (most // 100, most // 10, most):
                print(measured(turns, scheme, client))
    server.shutdown()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
