"""Toolsets: ready toolboxes for one purpose, usable as `-t tables` or in `Toolbox(tables, mine)`.

Importing this module imports nothing heavy; a toolset is made when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .sources.toolsets import FileToolset, TableToolset

    tables: TableToolset
    files: FileToolset

_CLASSES = {"tables": "TableToolset", "files": "FileToolset"}
__all__ = ["files", "tables"]


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    toolset = getattr(import_module(".sources.toolsets", __package__), _CLASSES[name])()
    globals()[name] = toolset
    return toolset


def __dir__() -> list[str]:
    return sorted([*globals(), *_CLASSES])
