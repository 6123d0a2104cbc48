"""The widgets: the live panel of a session, which shows what the controller behind it sends, and
the table of a map's sessions above it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from ipywidgets import VBox

from ..core.errors import UsageError
from ..core.json_data import sendable_data
from ..core.recorded_data import JsonDict, JsonObject
from ..view.contract import VERSION, Notice
from .panel_controller import PanelController

LIVE = "application/vnd.jupyter-toolcall.live+json"
"""The MIME type by which an output names its live panel."""
STATIC = Path(__file__).parent.parent / "static"
LOCALE = Path(__file__).parent.parent / "locale"


@cache
def catalogue(language: str) -> JsonObject:
    """Return the texts of the interface in a language, such as `de` or `de_AT`; {} for English.

    Raises UsageError for a language that there is not.
    """
    name = language.replace("-", "_")
    names = sorted(path.name for path in LOCALE.iterdir() if path.is_dir())
    if name.partition("_")[0] in ("", "en"):
        return {}
    same = [n for n in names if n.partition("_")[0] == name.partition("_")[0]]
    if not same:
        raise UsageError(f"ToolChat.language is {language!r}; there are en, {', '.join(names)}")
    path = LOCALE / (name if name in same else same[0]) / "LC_MESSAGES" / "jupyter_toolcall.json"
    texts: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return texts


class Panel(anywidget.AnyWidget):
    """Sends notices to the page and takes its commands."""

    _esm = STATIC / "widget.js"
    _css = STATIC / "widget.css"
    texts = traitlets.Dict().tag(sync=True)
    """The catalogue of another language than English; JupyterLab has its own setting."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.controller: PanelController | None = None
        self.on_msg(self._receive)

    def show(self, notice: Notice) -> None:
        """Send a notice to every view of this panel."""
        data = sendable_data(notice)
        # What the engine keeps has no secrets; what else is shown may quote one.
        controller = self.controller
        self.send(
            data if controller is None else controller.session.cursor.context.secrets.hide(data)
        )

    def _receive(self, widget: object, content: object, buffers: object) -> None:
        if self.controller is not None:
            self.controller.receive(content)

    def bundle(self) -> JsonDict:
        """Return the output that shows this panel; other front ends show the saved session."""
        view = {"version_major": 2, "version_minor": 1, "model_id": self.model_id}
        return {
            "application/vnd.jupyter.widget-view+json": view,
            LIVE: {"model_id": self.model_id, "version": VERSION},
        }


class SessionTable(anywidget.AnyWidget):
    """The table of a map's sessions: sends what it is told, and passes on what is clicked."""

    _esm = STATIC / "session_table.js"
    _css = STATIC / "session_table.css"
    texts = traitlets.Dict().tag(sync=True)
    """As that of a panel."""

    def __init__(self, receive: Callable[[Any], object], **settings: object) -> None:
        super().__init__(**settings)
        self.box = VBox([self])
        """The table, and below it the panel of the session that is open."""
        self.on_msg(lambda widget, content, buffers: receive(content))

    def show_panel(self, panel: Panel | None) -> None:
        """Show a panel below the table, or none."""
        self.box.children = (self,) if panel is None else (self, panel)

    def bundle(self, saved: Mapping[str, object]) -> JsonDict:
        """Return the output that shows the table; other front ends show what is `saved`."""
        view = {"version_major": 2, "version_minor": 1, "model_id": self.box.model_id}
        return {**saved, "application/vnd.jupyter.widget-view+json": view}
