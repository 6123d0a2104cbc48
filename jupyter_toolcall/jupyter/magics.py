"""The doors of the notebook: `%%toolchat`, `%toolchat` and their completion.

`%load_ext` imports nothing heavy: what a cell needs is imported when the first one runs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_CELL = re.compile(r"^get_ipython\(\)\.run_cell_magic\('toolchat', (.*)\)\s*$", re.S)
_EMPTY = re.compile(r"^\s*%%toolchat\b(?!\?)([^\n]*)\n?\s*$")
RUN = "__toolchat__"
_running: list[bool] = []
"""Not empty while a cell runs: what is transformed then is inside another magic."""


def load(shell: Any) -> None:
    """Register the magics, the transformers and the completion with a shell."""
    unload(shell)
    shell.register_magic_function(_cell, "cell", "toolchat")
    shell.register_magic_function(_line, "line", "toolchat")
    shell.user_ns_hidden[RUN] = shell.user_ns[RUN] = _awaited
    import_module(".configuration", __package__).configured(shell)
    shell.events.register("pre_run_cell", _begin)
    shell.events.register("post_run_cell", _end)
    shell.input_transformers_cleanup.append(_bare_cell)
    shell.input_transformers_post.append(_as_await)
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        completer.custom_matchers.append(_matcher())
    if getattr(shell, "kernel", None) is not None:
        shell.kernel.do_inspect = _inspecting(shell.kernel)


def unload(shell: Any) -> None:
    """Take them away; nothing happens where they were not there."""
    for event, callback in (("pre_run_cell", _begin), ("post_run_cell", _end)):
        if callback in shell.events.callbacks[event]:
            shell.events.unregister(event, callback)
    for transformers in (shell.input_transformers_cleanup, shell.input_transformers_post):
        transformers[:] = [t for t in transformers if getattr(t, "__module__", "") != __name__]
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        matchers = completer.custom_matchers
        matchers[:] = [
            m for m in matchers if getattr(m, "__module__", "") != f"{__package__}.completion"
        ]
    # What stands there is ours: the kernel's own is its class's.
    if hasattr(shell, "kernel"):
        vars(shell.kernel).pop("do_inspect", None)
    shell.user_ns.pop(RUN, None)


def _inspecting(kernel: Any) -> Callable[..., Any]:
    """Return what answers Shift-Tab: our help in our cells, the kernel's own elsewhere."""
    own = kernel.do_inspect

    def do_inspect(code: str, cursor_pos: int, *more: Any, **named: Any) -> Any:
        if code.lstrip().startswith("%%toolchat"):
            found = import_module(f"{__package__}.completion").help_at(code, cursor_pos)
            return {"status": "ok", "found": bool(found), "data": found, "metadata": {}}
        return own(code, cursor_pos, *more, **named)

    return do_inspect


def _begin(info: Any) -> None:
    _running.append(True)


def _end(result: Any) -> None:
    _running.clear()
    # Before the first session there is nothing to bring up to date, and nothing is loaded.
    if f"{__package__}.notebook" in sys.modules:
        import_module(f"{__package__}.notebook").update_panels()


def _bare_cell(lines: list[str]) -> list[str]:
    """`%%toolchat --help` alone has no body, and IPython would refuse it."""
    found = _EMPTY.match("".join(lines))
    return [f"%toolchat --cell{found[1]}\n"] if found else lines


def _as_await(lines: list[str]) -> list[str]:
    """The cell becomes a top-level await, so that clicks are heard while it waits.

    Only an outermost cell does: inside %%time and the like nobody could await it.
    """
    found = None if _running else _CELL.match("".join(lines))
    shell = import_module("IPython").get_ipython()
    if not found or not getattr(shell, "autoawait", False):
        return lines
    line, body = ast.literal_eval(f"({found[1]})")
    return [f"await {RUN}({line!r}, {body!r})\n"]


_as_await.has_side_effects = False  # type: ignore[attr-defined]


async def _awaited(line: str, body: str) -> Any:
    return await _notebook().cell(line, body)


def _cell(line: str, cell: str) -> Any:
    """Run a prompt with tools: `%%toolchat --help` lists the options."""
    return _notebook().cell_now(line, cell)


def _line(line: str) -> Any:
    """Look at a session and go on with it: `%toolchat help` lists the subcommands."""
    return _notebook().line(line)


# What `%%toolchat?` says.
_cell.getdoc = lambda: import_module(".options", __package__).help_text()  # type: ignore[attr-defined]
# IPython would read {...} as Python: here it is JSON.
_line._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]


def _notebook() -> Any:
    """Return the notebook of this kernel; the heavy half is imported here."""
    return import_module(f"{__package__}.notebook").current_notebook()


def _matcher() -> Any:
    return import_module(f"{__package__}.completion").matcher
