"""Tools spoken of and called in the text, as XML: for models without an interface for tools."""

from .scheme import Native

__all__ = ["Native"]
