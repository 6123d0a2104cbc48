"""What there is, and whether it still holds: where a session stands, its tools, its objects."""

from __future__ import annotations

from ...errors import Unfinished
from ...printable import print_text
from ...session import Session
from .asking import shown
from .words import Commands, Result


def _status(session: Session, words: list[str]) -> Result:
    print_text(session._repr_mimebundle_()["text/plain"])
    for call in session.pending:
        print_text(f"  waits: {shown(call)}")
    return None


def _tools(session: Session, words: list[str]) -> Result:
    for tool in session.toolbox:
        mark = "read-only  " if tool.read_only else "           "
        print_text(
            f"{mark}{tool.name}: {tool.description.splitlines()[0] if tool.description else ''}"
        )
    return None


def _objects(session: Session, words: list[str]) -> Result:
    for name in session.objects:
        made = ", ".join(session.deps(name))
        print_text(f"{name}" + (f"  from {made}" if made else ""))
    return None


def _outdated(session: Session, words: list[str]) -> Result:
    print_text(session.outdated())
    return None


def _verify(session: Session, words: list[str]) -> Result:
    found = session.verify()
    if not found:
        raise Unfinished(f"it comes out otherwise: {found}")
    print_text(found)
    return None


COMMANDS: Commands = {
    "status": _status,
    "tools": _tools,
    "objects": _objects,
    "outdated": _outdated,
    "verify": _verify,
}
HELP = """\
  status                     where the session stands, and what waits
  tools, objects, sessions   what there is
  outdated                   what would come out otherwise today, and why
  verify                     run all of it anew, on a copy: does it come out as recorded?
  values [--forget]          what is kept on this machine beyond a kernel; --forget removes it
  models                     who can answer here, and why others cannot
"""
