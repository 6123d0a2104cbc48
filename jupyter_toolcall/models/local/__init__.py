"""Models that run on this machine, from GGUF files."""

from .client import Local

__all__ = ["Local"]
