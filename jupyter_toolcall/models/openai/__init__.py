"""Models behind a chat completions API."""

from .client import OpenAI

__all__ = ["OpenAI"]
