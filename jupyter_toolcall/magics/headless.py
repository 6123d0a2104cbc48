"""A cell that needs a person while no panel is connected: an input line, a recording, or nobody."""

from __future__ import annotations

from ..acts import places, replying
from ..errors import Unfinished
from ..panel.controller import PanelController
from ..reruns import standing_in
from ..state.steps import AskModel
from . import lines


def as_recorded(controller: PanelController) -> bool:
    """While a notebook is verified, say again what a person said; return whether it waited."""
    said = standing_in.words().of(controller.session.state.prompt)
    while (session := standing_in.said_again(controller.session, said)) is not None:
        controller.session = session
        controller.run_to_pause()
    return said.waits and not said.words


def needs_nobody(controller: PanelController) -> None:
    """Raise Unfinished where a person is needed, and there is none."""
    waiting, cursor = controller.session.pending, controller.session.cursor
    if waiting:
        call = waiting[0]
        if reason := places.why_it_may_have_run(cursor, call.id):
            raise Unfinished(
                f"{call.tool} ({call.id}) waits for a person, and this run has none. {reason} "
                "--fresh begins a new session"
            )
        raise Unfinished(
            f"{call.tool} ({call.id}) waits for a person, and this run has none: use "
            "--approve all, mark the tool read-only, or run the cell in a notebook"
        )
    if replying.awaited(cursor):
        raise Unfinished(
            "the model is a person (-m person), and this run has none: run the cell in a "
            "notebook, or reply with %toolchat say TEXT or %toolchat call TOOL NAME=VALUE"
        )
    if isinstance(cursor.due, AskModel):
        raise Unfinished("the model has no reply yet; %toolchat next asks it again")


async def by_input(controller: PanelController) -> None:
    """Ask on the cell's own input line, where no panel can be heard."""
    while True:
        await controller.run(wait=False)
        session = controller.session
        if session.pending:
            lines.ask_by_input(session, session.pending[0], input)
        elif session.cursor.held_by is not None:
            for extension in controller.extensions:
                extension.ask_by_input(session, input)
        elif replying.awaited(session.cursor):
            lines.reply_by_input(session, input)
        else:
            return needs_nobody(controller)
