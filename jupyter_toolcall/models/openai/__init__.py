"""Models behind chat completions: OpenAI's own, and any server that speaks the same.

* wire      a Request as the body that such a server takes (pure)
* stream    the server's stream of chunks as a Reply; calls put together by evidence (pure)
* failures  what went wrong, in one line, and whether it may pass (pure)
* client    where the server is, and the call itself; the only file that imports `openai`
"""

from .client import OpenAI

__all__ = ["OpenAI"]
