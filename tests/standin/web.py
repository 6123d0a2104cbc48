"""A web server on this machine that answers as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What is answered: the body in pieces, so that it can be endless."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Routes = Callable[[Asked], Answer]


class Served:
    """A server that runs for the time of a `with`."""

    server: ThreadingHTTPServer
    closing: threading.Event

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


class Web(Served):
    """The server, for a `with`: `url` is where it listens, `asked` what it was asked."""

    def __init__(self, routes: Routes | None = None) -> None:
        self.routes = routes or (lambda asked: Answer(b"hello"))
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                names = {key.lower(): value for key, value in self.headers.items()}
                asked = Asked(self.command, self.path, names, self.rfile.read(size))
                web.asked.append(asked)
                self.say(web.routes(asked))

            def say(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                parts = [answer.body] if isinstance(answer.body, bytes) else answer.body
                try:
                    for part in parts:
                        self.wfile.write(part)
                        self.wfile.flush()
                except OSError:
                    return

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"

    def interrupting(self) -> Iterable[bytes]:
        """Interrupt this process, and then yield as `until_closed`."""
        signal.raise_signal(signal.SIGINT)
        yield from self.until_closed()

    def until_closed(self) -> Iterable[bytes]:
        """Yield a byte now and then for as long as the server is up."""
        while not self.closing.wait(0.02):
            yield b"x"


def json_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a body; {} for any other body."""
    try:
        body = json.loads(data)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
