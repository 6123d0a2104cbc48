"""What `%load_ext` gives a shell: `%%toolchat`, `%toolchat`, their settings and completion.

It imports nothing heavy: what a cell needs is imported when the first one runs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from traitlets import Bool, Dict, Int, List, TraitError, Unicode
from traitlets.config import Configurable

from ..core.errors import UsageError
from .extensions import FLAGS

# A word in place of options is a subcommand, which nobody waits for.
_CELL = re.compile(r"^get_ipython\(\)\.run_cell_magic\('toolchat', (?!['\"]\w)(.*)\)\s*$", re.S)
_EMPTY = re.compile(r"^\s*%%toolchat\b(?!\?)([^\n]*)\n?\s*$")
RUN = "__toolchat__"
MAP = (f"{__package__.rpartition('.')[0]}.maps.session_map", "SessionMap")
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
        functions[:] = [f for f in functions if getattr(f, "__module__", "") not in ours]
    # What stands there is ours: the kernel's own is its class's.
    if hasattr(shell, "kernel"):
        vars(shell.kernel).pop("do_inspect", None)
    shell.user_ns.pop(RUN, None)
    _displays(shell).pop(".".join(MAP), None)


def _displays(shell: Any) -> Any:
    """Return what displays values of some types by a function of ours."""
    return shell.display_formatter.ipython_display_formatter


def _show_map(sessions: object) -> bool:
    import_module(".map_panel", __package__).show_map(sessions)
    return True


def _with_our_help(kernel_help: Callable[..., object]) -> Callable[..., object]:
    """Return what answers Shift-Tab: our help in our cells, the kernel's own elsewhere."""

    def do_inspect(code: str, cursor_pos: int, *arguments: object, **named: object) -> Any:
        if code.lstrip().startswith("%%toolchat"):
            help_data = import_module(f"{__package__}.completion").help_at(code, cursor_pos)
            return {"status": "ok", "found": bool(help_data), "data": help_data, "metadata": {}}
        return kernel_help(code, cursor_pos, *arguments, **named)

    return do_inspect


def runs_cell() -> bool:
    """Return whether the kernel executes a cell."""
    return bool(_running)


def _begin(info: object) -> None:
    _running.append(True)


def _end(result: object) -> None:
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
    for configurable in shell.configurables:
        if isinstance(configurable, ToolChat):
            return configurable
    flags = {name: Bool(False, help=f.setting).tag(config=True) for name, f in FLAGS.items()}
    # `%config` and configuration files know the settings by the name of the class.
    settings: ToolChat = type("ToolChat", (ToolChat,), flags)(parent=shell)
    shell.configurables.append(settings)
    return settings


def _stricter(name: str, current: Any, other: Any) -> object:
    """Return the stricter of two values of a setting that a project's file can only tighten.

    These are the settings that decide what runs unasked, for how long, and what a model is sent.
    Raises UsageError for a value that is none.
    """
    if name == "approve":
        return import_module("..rules.approval_policy", __package__).stricter_preset(current, other)
    if name == "max_turns":
        return min(current, other)
    sharing = import_module("..sources.table_sharing", __package__)
    if name == "share":
        rules = [sharing.check_sharing(share) for share in (current, other)]
        return sharing.strictest(rules).share
    rules = [sharing.check_sharing("sample", columns) for columns in (current, other)]
    return [*sharing.strictest(rules).withhold]


TIGHTENED = ("approve", "max_turns", "share", "withhold")
"""The settings that a project's file can only tighten. The others share nothing and run nothing:
the model and the scheme that a person has not chosen, the language, calls that run together."""


def apply_project_settings(settings: ToolChat, table: Mapping[str, object]) -> str:
    """Change the settings to what a project's table says; return what is ignored of it, in a line.

    What the person has set stands. Of sharing and approval the stricter of both holds, since the
    file may come from somebody else. Raises UsageError for what is no setting.
    """
    of_file = _checked_settings(settings, table)
    ignored = list[str]()
    for name, value in of_file.items():
        current = getattr(settings, name)
        if name in TIGHTENED:
            setattr(settings, name, _stricter(name, current, value))
            if name != "withhold" and getattr(settings, name) != value:
                ignored.append(f"{name} = {value!r} (it stays {current!r})")
        elif current == settings.traits()[name].default():
            setattr(settings, name, value)
    if not ignored:
        return ""
    return (
        f"pyproject.toml: ignored {', '.join(ignored)}. A project file can only tighten what runs "
        "unasked and what is shared. Use an option of the cell, or %config"
    )


def _checked_settings(settings: ToolChat, table: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings of a project's table. Raises UsageError for what is none."""
    names, checked = settings.trait_names(config=True), type(settings)()
    # A person is asked before a server of the file is used (`sources/mcp_servers.py`).
    of_file = {name: value for name, value in table.items() if name != "mcp"}
    for name, value in of_file.items():
        if name == "mcp_servers":
            raise UsageError(
                "a project file may not set mcp_servers, since that would start programs. "
                "Write [tool.jupyter-toolcall.mcp.NAME]: then you are asked first"
            )
        if name not in names:
            names.remove("mcp_servers")
            raise UsageError(
                f"[tool.jupyter-toolcall] has no setting {name!r}; there are {', '.join(names)}"
            )
        try:
            setattr(checked, name, value)
        except TraitError:
            wrong = f"[tool.jupyter-toolcall] {name} = {value!r:.80} is of the wrong type"
            raise UsageError(wrong) from None
    return {name: getattr(checked, name) for name in of_file}


def project_settings(folder: Path) -> Mapping[str, object]:
    """Return `[tool.jupyter-toolcall]` of the nearest pyproject.toml; {} where there is none.

    A file in a folder above only tightens it, so that a file below takes nothing of that away.
    """
    found = map(_project_table, (folder, *folder.parents))
    tables = [table for table in found if table is not None]
    merged = dict(tables[0]) if tables else {}
    for table in tables[1:]:
        for name in TIGHTENED:
            if name in merged and name in table:
                # What is no value is an error where it is applied.
                with suppress(UsageError, TypeError):
                    merged[name] = _stricter(name, merged[name], table[name])
            elif name in table:
                merged[name] = table[name]
    return merged


def _project_table(folder: Path) -> Mapping[str, object] | None:
    """Return the table of a folder's pyproject.toml; None where there is no such file."""
    try:
        text = (folder / "pyproject.toml").read_text(encoding="utf-8-sig")
        data: dict[str, Any] = import_module("tomllib").loads(text)
    except (OSError, ValueError):
        return None
    for key in ("tool", "jupyter-toolcall"):
        data = data.get(key, {})
        if not isinstance(data, dict):
            return {}
    return data
