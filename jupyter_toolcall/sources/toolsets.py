"""The toolsets: ready toolboxes for one purpose, exported by `jupyter_toolcall.toolsets`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError, checked_path
from ..core.text import nearest
from ..tools.object_references import receiver_schema
from ..tools.object_types import Kinds
from ..tools.python_tools import from_function
from ..tools.table_classes import ENGINES, AnyTable
from ..tools.tool import Tool
from ..tools.tool_version import Version
from ..tools.toolbox import Toolbox, ToolSource
from . import file_tools, table_looks, table_tools
from .table_duckdb import require_duckdb
from .table_sharing import Sharing, check_sharing, effect_of, guarded

TABLES_ABOUT = "Looks at, cleans, joins and draws tables of pandas, polars and pyarrow."
FILES_ABOUT = "Reads, lists and writes text files in one folder."
_LOOKS: dict[str, Callable[..., Any]] = {
    "schema": table_looks.schema,
    "head": table_looks.head,
    "sample": table_looks.sample,
    "describe": table_looks.describe,
    "value_counts": table_looks.value_counts,
    "missing": table_looks.missing,
}
_CHANGES: dict[str, Callable[..., Any]] = {
    "select": table_tools.select_columns,
    "filter": table_tools.filter_rows,
    "derive": table_tools.derive_column,
    "cast": table_tools.cast_column,
    "rename": table_tools.rename_columns,
    "fill": table_tools.fill_missing,
    "drop_duplicates": table_tools.drop_duplicates,
    "drop_nulls": table_tools.drop_nulls,
    "sort": table_tools.sort_rows,
    "aggregate": table_tools.aggregate,
    "join": table_tools.join_tables,
    "pivot": table_tools.pivot,
    "unpivot": table_tools.unpivot,
    "sql": table_tools.query_with_sql,
}
_PROMISES = ("idempotent", "pure", "keeps_arguments", "leaves_out_withheld")
"""What each tool of tables promises."""
_UNKNOWN: Kinds = {
    type(name, (), {"__module__": engine}): name
    for engine, name in ENGINES.items()
    if engine != "polars"
}
"""Substitutes for the classes of tables in a toolbox that has no such class."""


class TableTools(ToolSource):
    """The tools of the toolset `tables`, for the classes of tables that a toolbox knows."""

    def __init__(self, chosen: Sharing | None = None, untrusted: bool = False) -> None:
        self.chosen, self.untrusted = chosen, untrusted
        """What was chosen in Python; None if the setting of a cell decides."""
        self.sharing = chosen or Sharing()

    def tools(self, kinds: Kinds) -> Iterator[Tool]:
        """Yield the tools. Raises DefinitionError where DuckDB or pyarrow is missing."""
        require_duckdb()
        classes = {cls: name for cls, name in kinds.items() if issubclass(cls, AnyTable)}
        tables = classes or _UNKNOWN
        for name, function in _LOOKS.items():
            yield self._tool(name, function, tables, makes=())
        names = (*dict.fromkeys(tables.values()),)
        for name, function in _CHANGES.items():
            yield self._tool(name, function, tables, makes=names)
        yield self._tool("plot", table_looks.plot, tables, makes=("Figure",))

    def type_named(self, name: str) -> type | None:
        """Return the class of figures by its name; the classes of tables come with inputs."""
        return table_looks.figure_class() if name == "Figure" else None

    def _tool(
        self, name: str, function: Callable[..., object], tables: Kinds, makes: tuple[str, ...]
    ) -> Tool:
        tool = from_function(function, tables, name=f"tables_{name}")
        promises: dict[str, Any] = dict.fromkeys(_PROMISES, True)
        return dataclasses.replace(
            _with_table(tool, tuple(dict.fromkeys(tables.values()))),
            function=guarded(name, function, self.sharing),
            version=_version(tool, self.sharing),
            read_only=not makes,
            **promises,
            untrusted=self.untrusted,
            returns=makes[0] if len(makes) == 1 else "",
            result=makes[0] if len(makes) == 1 else "JSON" if not makes else "table",
            makes=makes,
            group="tables",
            about=TABLES_ABOUT,
            effect=effect_of(name, self.sharing),
        )


def _with_table(tool: Tool, names: Sequence[str]) -> Tool:
    """Return a tool whose table may be left out, where all tables are of one type."""
    if len(names) != 1 or "table" not in tool.parameters["properties"]:
        return tool
    properties = dict(tool.parameters["properties"])
    properties["table"] = receiver_schema(names[0], (*names,))
    required = [name for name in tool.parameters.get("required", ()) if name != "table"]
    parameters = {**tool.parameters, "properties": properties, "required": required}
    if not required:
        del parameters["required"]
    return dataclasses.replace(tool, parameters=parameters, kind=names[0], receiver="table")


def _version(tool: Tool, sharing: Sharing) -> Version:
    """Return the version of a tool, which includes what is shared: a call may send other cells."""
    if sharing == Sharing():
        return Version(tool.version, tool.version)
    shared = (sharing.share, [*sharing.withhold])
    return Version(lambda: digest("shared", tool.version(), *shared), tool.version)


class TableToolset(Toolbox):
    """The toolset `tables`: a Toolbox for tables of pandas, polars and pyarrow.

    Each tool returns a new table, or a figure, and changes none. `-t tables` uses it in a cell.

    Example:
        >>> from jupyter_toolcall.toolsets import tables
        >>> tables["tables_head"].read_only
        True
        >>> careful = tables.sharing("schema", withhold=["ssn"])
    """

    def __init__(self, sharing: Sharing | None = None, untrusted: bool = False) -> None:
        super().__init__(TableTools(sharing, untrusted))

    def sharing(
        self, share: str, withhold: object = (), *, untrusted: bool = False
    ) -> TableToolset:
        """Return the toolset with another rule for what a model is sent of tables.

        Arguments:
            share: `schema` (names, types and counts), `sample` (also at most 20 rows a call; the
                default) or `values` (any rows).
            withhold: names of columns whose values are never sent.
            untrusted: whether others wrote what is in the tables, as in `@tool`.

        Raises:
            UsageError: for another mode.
        """
        return TableToolset(check_sharing(share, withhold), untrusted)


class FileToolset(Toolbox):
    """The toolset `files`: reads, lists and writes text files in one folder.

    `files` is for the current folder, `files("data")` for another one; `-t files` in a cell is for
    the notebook's folder, `-t files:data` for one in it. What it reads is taken to be written by
    others, as in `@tool(untrusted=True)`; `files("data", untrusted=False)` says that it is not.
    """

    def __init__(self, folder: str | Path = ".", *, untrusted: bool = True) -> None:
        super().__init__(_file_tools(file_tools.Folder(checked_path(folder)), untrusted))

    def __call__(self, folder: str | Path, *, untrusted: bool = True) -> FileToolset:
        """Return the toolset for a folder."""
        return FileToolset(folder, untrusted=untrusted)


def _file_tools(folder: file_tools.Folder, untrusted: bool) -> list[Tool]:
    return [
        dataclasses.replace(
            from_function(function, {}, name=f"files_{name}"),
            read_only=name != "write",
            untrusted=untrusted and name != "write",
            group="files",
            about=FILES_ABOUT,
            effect=folder.effect_of_writing if name == "write" else None,
        )
        for name, function in _functions_of(folder).items()
    ]


def _functions_of(folder: file_tools.Folder) -> dict[str, Callable[..., Any]]:
    return {"list": folder.list_files, "read": folder.read, "write": folder.write}


# -- by name ------------------------------------------------------------------------------------

NAMES = ("tables", "files")


def is_toolset_name(name: str) -> bool:
    """Return whether a name is that of a toolset, such as `tables` or `files:data`."""
    return name in NAMES or name.startswith("files:")


def toolset_named(name: str, folder: Path, sharing: Sharing) -> Toolbox:
    """Return a toolset by its name in a cell; folders are named from the notebook's.

    Raises UsageError where there is no such folder.
    """
    if name == "tables":
        return TableToolset(sharing)
    below = name.partition(":")[2]
    chosen = folder / below
    if not chosen.is_dir():
        folders = [path.name for path in folder.iterdir() if path.is_dir()]
        raise UsageError(f"-t {name}: there is no folder {below!r}.{nearest(below, folders)}")
    return FileToolset(chosen)


def toolset_function(name: str, folder: Path) -> Callable[..., object] | None:
    """Return the function behind a tool of a toolset, by the tool's name; None for any other name.

    `folder` is that of the toolset `files`.
    """
    group, _, tool = name.partition("_")
    if group == "files":
        return _functions_of(file_tools.Folder(folder)).get(tool)
    if group == "tables":
        return {**_LOOKS, **_CHANGES, "plot": table_looks.plot}.get(tool)
    return None


def with_sharing(source: object, sharing: Sharing, written: bool) -> object:
    """Return a source of tools in which tables are shared as a cell says.

    A mode that is `written` in the cell replaces one that was chosen in Python; a setting of the
    configuration does not. The withheld columns of both are withheld.
    """
    match source:
        case Toolbox() if any(isinstance(part, TableTools) for part in source.sources):
            parts = [with_sharing(part, sharing, written) for part in source.sources]
            return Toolbox(*parts, types=source.types)
        case TableTools(chosen=before, untrusted=untrusted):
            share = sharing.share if written or before is None else before.share
            withhold = dict.fromkeys((*(before.withhold if before else ()), *sharing.withhold))
            return TableTools(Sharing(share, tuple(withhold)), untrusted)
    return source
