"""Models behind chat completions: OpenAI's own, and any server that speaks the same.

* wire      a Request as the body that such a server takes (pure)
* stream    the server's stream of chunks as a Reply (pure)
* calls     calls that come in pieces, put together by evidence (pure)
* failures  what went wrong, in one line, and whether it may pass (pure)
* server    where the server is, and the key that goes there (pure)
* client    the call itself; the only file that imports `openai`
"""

from .client import OpenAI

__all__ = ["OpenAI"]
