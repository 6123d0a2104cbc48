"""Where a cell needs a person, and no panel can be heard: who else is there, or nobody."""

from __future__ import annotations

from ..acts import places, replying
from ..errors import Unfinished
from ..options.line import Options
from ..panel.driving import Drive
from ..reruns import standing_in
from ..state.steps import AskModel
from . import lines


def as_recorded(drive: Drive) -> bool:
    """While a notebook is verified, say again what a person said; return whether it waited."""
    said = standing_in.words().of(drive.session.state.prompt)
    while (session := standing_in.said_again(drive.session, said)) is not None:
        drive.session = session
        drive.drive_now()
    return said.waits and not said.words


def needs_nobody(drive: Drive) -> None:
    """Raise Unfinished where a person is needed, and there is none."""
    waiting, cursor = drive.session.pending, drive.session.cursor
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


async def by_input(drive: Drive) -> None:
    """Ask on the cell's own input line, where no panel can be heard."""
    while True:
        await drive.drive(wait=False)
        session = drive.session
        if session.pending:
            lines.ask_by_input(session, session.pending[0], input)
        elif session.cursor.held_by is not None:
            lines.guess_by_input(session, input)
        elif replying.awaited(session.cursor):
            lines.reply_by_input(session, input)
        else:
            return needs_nobody(drive)


def check(drive: Drive, chosen: Options) -> None:
    """Fail the cell where what was asked for is not there."""
    state = drive.session.state
    missing = [name for name in state.opened.outputs if name not in state.outputs]
    if missing and chosen.wait and not drive.session.pending:
        said = (
            f" The model's last words: {drive.session.text[:120]!r}." if drive.session.text else ""
        )
        raise Unfinished(
            f"{', '.join(missing)} was never saved; nothing is lost, "
            f"%toolchat next asks the model again.{said}"
        )
