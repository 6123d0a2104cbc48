"""Tool calling in a notebook, with nothing hidden.

`from jupyter_toolcall import Session, Toolbox, Tool, tool, Scripted`; in a notebook
`%load_ext jupyter_toolcall`. What is named here is imported when it is first used, so that
loading the extension costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models.scripted import Scripted as Scripted
    from .rules.approval_policy import Rule as Rule
    from .rules.budget import Budget as Budget
    from .session.session import Session as Session
    from .session.verify_files import verify as verify
    from .sources.definition_tools import from_definition as from_definition
    from .sources.definition_tools import from_definitions as from_definitions
    from .sources.definition_tools import to_definition as to_definition
    from .sources.graphql_tools import from_graphql as from_graphql
    from .sources.mcp_tools import from_mcp as from_mcp
    from .tools.tool import Tool as Tool
    from .tools.tool import tool as tool
    from .tools.toolbox import Toolbox as Toolbox

    __version__: str

_HOMES = {
    "Budget": ".rules.budget",
    "Rule": ".rules.approval_policy",
    "Scripted": ".models.scripted",
    "Session": ".session.session",
    "Tool": ".tools.tool",
    "Toolbox": ".tools.toolbox",
    "from_definition": ".sources.definition_tools",
    "from_definitions": ".sources.definition_tools",
    "from_graphql": ".sources.graphql_tools",
    "from_mcp": ".sources.mcp_tools",
    "to_definition": ".sources.definition_tools",
    "tool": ".tools.tool",
    "verify": ".session.verify_files",
}
__all__ = [*_HOMES, "load_ipython_extension"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("jupyter-toolcall")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Register `%%toolchat`, `%toolchat` and their completion: `%load_ext jupyter_toolcall`.

    Args:
        shell: The IPython shell that loads the extension.
    """
    import_module(".jupyter.serve_command", __name__).register_serving()
    import_module(".teaching", __name__).register_teaching()
    import_module(".jupyter.magics", __name__).load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take them away again."""
    import_module(".jupyter.magics", __name__).unload(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyter-toolcall"}]
