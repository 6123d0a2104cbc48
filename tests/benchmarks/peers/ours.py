"""This product: a scripted model asks for each call; objects are followed from call to call."""

from __future__ import annotations

from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.journal_file import open_journal
from jupyter_toolcall.storage.signatures import signer
from tests.benchmarks.peers.work import Do, Job, main, ran
from tests.benchmarks.workload import Number


def begin(number: int) -> Number:
    """Make a number of nothing."""
    return Number(ran(number, 0))


def follow(before: Number, number: int) -> Number:
    """Make a number of the one before."""
    return Number(ran(number, before.value))


def session_of(job: Job, journal: Journal | None = None) -> Session:
    script: list[Any] = []
    for call, before in enumerate(job.follows):
        named = {} if before is None else {"before": f"Number#{before + 1}"}
        script.append(("follow" if named else "begin", {**named, "number": call}))
    box = Toolbox(begin, follow)
    model = Scripted([*script, "done"])
    return Session(box, model, scheme="flat", approve="all", journal=journal).ask("go")


def values(session: Session) -> list[int]:
    return [session[f"Number#{n + 1}"].value for n in range(len(session.objects))]


def loop(job: Job) -> Do:
    session = session_of(job)
    return lambda: values(session.run())


def on_disk(job: Job) -> Session:
    journal = open_journal(job.folder / "journal.jsonl", signer(job.folder)).journal
    return session_of(job, journal)


def durable(job: Job) -> Do:
    session = on_disk(job)
    return lambda: values(session.run())


def edit(job: Job) -> Do:
    session = on_disk(job).run()
    call = session.calls[job.at]
    return lambda: values(session.edit(call, number=job.argument(job.at, changed=True)).run())


if __name__ == "__main__":
    main({"loop": loop, "durable": durable, "graph": edit, "chain": edit})
