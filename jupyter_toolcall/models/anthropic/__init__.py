"""Claude, through the SDK of Anthropic."""

from .client import Claude

__all__ = ["Claude"]
