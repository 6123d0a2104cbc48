"""Tools and models of maps, in a module that workers import; as a script it runs one map.

What tools and models do is in files of the folder `MAPPED`, which processes that are killed leave.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from jupyter_toolcall import Session, Toolbox, tool
from jupyter_toolcall.core.events import Call
from jupyter_toolcall.schemes.messages import Reply, Request, User

CALLS = 3
"""The calls that the model makes in each session, one a turn."""
PROMPTS = [f"Pay bill {number}." for number in range(6)]


def log(name: str, line: str) -> int:
    """Add a line to a file, and return how many it has."""
    path = Path(os.environ["MAPPED"]) / name
    with path.open("a") as file:
        file.write(f"{line}\n")
    return len(path.read_text().splitlines())


def lines(name: str) -> list[str]:
    path = Path(os.environ["MAPPED"]) / name
    return path.read_text().splitlines() if path.exists() else []


def kill_at(event: str, count: int) -> None:
    """Kill this process where the test says so: at an event, from some count on, once."""
    where = Path(os.environ["MAPPED"]) / "kill"
    with contextlib.suppress(FileNotFoundError):
        chosen, least = where.read_text().split()
        if chosen == event and count >= int(least):
            where.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


def pay(bill: str, part: int) -> str:
    """Pay a part of a bill."""
    kill_at("tool", log("effects", f"{bill} {part}"))
    return f"paid {part}"


@tool(read_only=True, idempotent=True)
def look(bill: str, part: int) -> str:
    """Look at a part of a bill."""
    kill_at("tool", log("looks", f"{bill} {part}"))
    return f"part {part}"


def pays() -> Toolbox:
    return Toolbox(pay)


def looks() -> Toolbox:
    return Toolbox(look)


def prompt_of(request: Request) -> str:
    return next(message.text for message in request.messages if isinstance(message, User))


class Payer:
    """Calls the only tool for each part of the bill in the prompt, one a turn."""

    name = identity = "payer"

    def __call__(self, request: Request) -> Reply:
        bill = prompt_of(request)
        kill_at("model", log("requests", f"{bill} {request.turn}"))
        if request.turn == CALLS:
            return Reply(f"{bill} is paid.")
        call = {"bill": bill, "part": request.turn}
        return Reply("", (Call(f"call_{request.turn}", request.tools[0].name, call),), "tools")


class Refuser(Payer):
    """Raises for two of the bills."""

    name = identity = "refuser"
    refusal: BaseException = ValueError("no such bill")

    def __call__(self, request: Request) -> Reply:
        if any(number in prompt_of(request) for number in ("1", "4")):
            raise self.refusal
        return super().__call__(request)


if __name__ == "__main__":
    made = Session.map(PROMPTS, pays, Payer, scheme="flat", approve="all", jobs=2, name="killed")
    print([each.status for each in made])
    sys.exit(0)
