"""Sign-in to an MCP server: the page to which the sign-in service redirects the browser.

A small HTTP server on this computer receives that one request; it runs only during a sign-in.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from ..core.errors import UsageError
from ..core.text import visible_text

PATH = "/signed-in"
SIGN_IN_SECONDS = 300.0
"""How long a person has to sign in."""
_PAGE = "<!doctype html><meta charset=utf-8><title>{0}</title><p style='font:1rem sans-serif'>{0}"

_SIGNED_IN = "Signed in. You can close this page.", "200 OK"
_MISSING = "There is no page at this address.", "404 Not Found"


class SignInPage:
    """The page to which the browser is redirected with a code.

    Its port is chosen at once, since the sign-in service must know the address beforehand.
    """

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def answer(self) -> Mapping[str, str]:
        """Wait for the browser, and return the parameters of its request: `code`, and others.

        Raises UsageError where nobody signs in in time, or the sign-in was refused.
        """
        loop = asyncio.get_running_loop()
        received: asyncio.Future[Mapping[str, str]] = loop.create_future()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                line = await asyncio.wait_for(reader.readline(), 10)
                parameters = _parameters(line.decode("latin-1"))
                text, status = _MISSING if parameters is None else _SIGNED_IN
                body = _PAGE.format(text).encode()
                head = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\nconnection: close\r\n"
                writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
                if parameters is not None and not received.done():
                    received.set_result(parameters)
            # Anything on this computer may connect; what is no request is not answered.
            except (OSError, ValueError, TimeoutError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", self.port)
        try:
            parameters = await asyncio.wait_for(received, SIGN_IN_SECONDS)
        except TimeoutError:
            raise UsageError(f"nobody signed in within {SIGN_IN_SECONDS / 60:g} minutes") from None
        finally:
            server.close()
        if "code" not in parameters:
            reason = parameters.get("error_description") or parameters.get(
                "error", "no code came back"
            )
            raise UsageError(f"the sign-in was refused: {visible_text(' '.join(reason.split()))}")
        return parameters


def _parameters(line: str) -> Mapping[str, str] | None:
    """Return the parameters of the request line that ends a sign-in; None for any other one."""
    words = line.split()
    if len(words) < 2 or words[0] != "GET":
        return None
    parts = urlsplit(words[1])
    if parts.path != PATH:
        return None
    return {name: values[0] for name, values in parse_qs(parts.query).items()}
