"""What `%load_ext` gives a shell: `%%toolchat`, `%toolchat`, their settings and completion.

It imports nothing heavy: what a cell needs is imported when the first one runs.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from traitlets import Bool, Dict, Int, List, TraitError, Unicode
from traitlets.config import Configurable

from ..core.errors import UsageError
from .extensions import FLAGS

_CELL = re.compile(r"^get_ipython\(\)\.run_cell_magic\('toolchat', (.*)\)\s*$", re.S)
_EMPTY = re.compile(r"^\s*%%toolchat\b(?!\?)([^\n]*)\n?\s*$")
RUN = "__toolchat__"
MAP = (f"{__package__.rpartition('.')[0]}.session.session_map", "SessionMap")
"""The class whose objects a cell shows as a table with panels."""
_running: list[bool] = []
"""Not empty while a cell runs: what is transformed then is inside another magic."""


def load(shell: Any) -> None:
    """Register the magics, the transformers and the completion with a shell."""
    unload(shell)
    shell.register_magic_function(_cell, "cell", "toolchat")
    shell.register_magic_function(_line, "line", "toolchat")
    shell.user_ns_hidden[RUN] = shell.user_ns[RUN] = _awaitable_cell
    settings_of(shell)
    _displays(shell).for_type_by_name(*MAP, _show_map)
    shell.events.register("pre_run_cell", _begin)
    shell.events.register("post_run_cell", _end)
    shell.input_transformers_cleanup.append(_bare_cell)
    shell.input_transformers_post.append(_as_await)
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        completer.custom_matchers.append(import_module(f"{__package__}.completion").matcher)
    if getattr(shell, "kernel", None) is not None:
        shell.kernel.do_inspect = _with_our_help(shell.kernel.do_inspect)


def unload(shell: Any) -> None:
    """Take them away; nothing happens where they were not there."""
    for event, callback in (("pre_run_cell", _begin), ("post_run_cell", _end)):
        if callback in shell.events.callbacks[event]:
            shell.events.unregister(event, callback)
    registered = [shell.input_transformers_cleanup, shell.input_transformers_post]
    if getattr(shell, "Completer", None) is not None:
        registered.append(shell.Completer.custom_matchers)
    ours = (__name__, f"{__package__}.completion")
    for functions in registered:
        functions[:] = [each for each in functions if getattr(each, "__module__", "") not in ours]
    # What stands there is ours: the kernel's own is its class's.
    if hasattr(shell, "kernel"):
        vars(shell.kernel).pop("do_inspect", None)
    shell.user_ns.pop(RUN, None)
    _displays(shell).pop(".".join(MAP), None)


def _displays(shell: Any) -> Any:
    """Return what displays values of some types by a function of ours."""
    return shell.display_formatter.ipython_display_formatter


def _show_map(sessions: Any) -> bool:
    import_module(".map_panel", __package__).show_map(sessions)
    return True


def _with_our_help(own: Callable[..., Any]) -> Callable[..., Any]:
    """Return what answers Shift-Tab: our help in our cells, the kernel's own elsewhere."""

    def do_inspect(code: str, cursor_pos: int, *more: Any, **named: Any) -> Any:
        if code.lstrip().startswith("%%toolchat"):
            help_data = import_module(f"{__package__}.completion").help_at(code, cursor_pos)
            return {"status": "ok", "found": bool(help_data), "data": help_data, "metadata": {}}
        return own(code, cursor_pos, *more, **named)

    return do_inspect


def runs_cell() -> bool:
    """Return whether the kernel executes a cell."""
    return bool(_running)


def _begin(info: Any) -> None:
    _running.append(True)


def _end(result: Any) -> None:
    _running.clear()
    # Before the first session there is nothing to bring up to date, and nothing is loaded.
    if f"{__package__}.notebook" in sys.modules:
        import_module(f"{__package__}.notebook").update_panels()


def _bare_cell(lines: list[str]) -> list[str]:
    """`%%toolchat --help` alone has no body, and IPython would refuse it."""
    empty = _EMPTY.match("".join(lines))
    return [f"%toolchat --cell{empty[1]}\n"] if empty else lines


def _as_await(lines: list[str]) -> list[str]:
    """The cell becomes a top-level await, so that clicks are heard while it waits.

    Only an outermost cell does: inside %%time and the like nobody could await it.
    """
    cell = None if _running else _CELL.match("".join(lines))
    shell = import_module("IPython").get_ipython()
    if not cell or not getattr(shell, "autoawait", False):
        return lines
    line, body = ast.literal_eval(f"({cell[1]})")
    return [f"await {RUN}({line!r}, {body!r})\n"]


_as_await.has_side_effects = False  # type: ignore[attr-defined]


def _awaitable_cell(line: str, body: str) -> Any:
    return _notebook().cell(line, body)


def _cell(line: str, cell: str) -> Any:
    """Run a prompt with tools: `%%toolchat --help` lists the options."""
    return _notebook().cell_now(line, cell)


def _line(line: str) -> Any:
    """Look at a session and continue it: `%toolchat help` lists the subcommands."""
    return _notebook().line(line)


# What `%%toolchat?` says.
_cell.getdoc = lambda: import_module(".options", __package__).help_text()  # type: ignore[attr-defined]
# IPython would read {...} as Python: here it is JSON.
_line._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]


def _notebook() -> Any:
    """Return the notebook of this kernel; the heavy half is imported here."""
    return import_module(f"{__package__}.notebook").current_notebook()


# -- settings: of `%config` and configuration files, and of a project ----------------------------


class ToolChat(Configurable):
    """What `%%toolchat` does where a cell does not say; extensions add settings."""

    model = Unicode("", help="The model, such as scripted:kitchen.").tag(config=True)
    scheme = Unicode("select", help="How tools are presented to the model.").tag(config=True)
    approve = Unicode("ask", help="Which calls wait for you.").tag(config=True)
    share = Unicode("sample", help="What a model is sent of a table.").tag(config=True)
    withhold = List(Unicode(), help="Columns whose values are never sent.").tag(config=True)
    mcp_servers = Dict(help="MCP servers by name, as in .mcp.json.").tag(config=True)
    language = Unicode("", help="The panel's language outside JupyterLab: de.").tag(config=True)
    max_turns = Int(50, help="How many replies a run may have.").tag(config=True)
    jobs = Int(1, help="Read-only calls of one reply that run together.").tag(config=True)

    def settings(self) -> dict[str, Any]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in self.trait_names(config=True)}


def settings_of(shell: Any) -> ToolChat:
    """Return the settings of a kernel, known to `%config` from now on."""
    for each in shell.configurables:
        if isinstance(each, ToolChat):
            return each
    flags = {name: Bool(False, help=f.setting).tag(config=True) for name, f in FLAGS.items()}
    # `%config` and configuration files know the settings by the name of the class.
    settings: ToolChat = type("ToolChat", (ToolChat,), flags)(parent=shell)
    shell.configurables.append(settings)
    return settings


def apply_project_settings(settings: ToolChat, table: Mapping[str, Any]) -> None:
    """Change the settings that the person has not set to what a project's table says.

    Raises UsageError for what is none.
    """
    known = settings.trait_names(config=True)
    if table.get("approve") == "all":
        raise UsageError(
            "[tool.jupyter-toolcall] approve = 'all' is not taken from a file, which would "
            "approve for whoever opens its notebooks; say it in a cell or by %config"
        )
    for name, value in table.items():
        # A person is asked before a server of the file is used (`sources/mcp_servers.py`).
        if name == "mcp":
            continue
        if name == "mcp_servers":
            raise UsageError(
                "[tool.jupyter-toolcall] mcp_servers is not taken from a file, which would start "
                "programs; write [tool.jupyter-toolcall.mcp.NAME], and you are asked before"
            )
        if name not in known:
            raise UsageError(
                f"[tool.jupyter-toolcall] has no setting {name!r}; there are {', '.join(known)}"
            )
        if getattr(settings, name) == settings.traits()[name].default():
            try:
                setattr(settings, name, value)
            except TraitError:
                wrong = f"[tool.jupyter-toolcall] {name} = {value!r} is of the wrong type"
                raise UsageError(wrong) from None


def project_settings(folder: Path) -> Mapping[str, Any]:
    """Return `[tool.jupyter-toolcall]` of the nearest pyproject.toml; {} where there is none."""
    for parent in (folder, *folder.parents):
        file = parent / "pyproject.toml"
        if file.is_file():
            try:
                data = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
                return {}
            table: Mapping[str, Any] = data.get("tool", {}).get("jupyter-toolcall", {})
            return table
    return {}
