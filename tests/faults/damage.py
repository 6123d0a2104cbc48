"""Journals that were cut short or changed: every length, every bit, and whole bytes of junk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.storage.journal_file import journal_file, journals_folder, open_journal
from jupyter_toolcall.storage.signatures import signer
from tests.faults.laws import Broken, broken_by
from tests.faults.lives import Life, Setting
from tests.faults.places import data_directory
from tests.faults.platter import empty
from tests.faults.tally import Tally, cpu
from tests.faults.world import STORIES, Story

NOTEBOOK = "/damage.ipynb"
TOLD = ("unmarked", "idempotent", "stateful", "failing", "decided")
"""The stories whose journals are damaged."""


@dataclass(frozen=True)
class Whole:
    """A journal that is not damaged; where its lines end, and so many entries end there."""

    name: str
    data: bytes
    ends: tuple[tuple[int, int], ...]

    def left(self, data: bytes) -> tuple[int, int]:
        """Return how much of damaged data is whole lines of this, and how many entries."""
        ends = reversed(self.ends)
        return next((end for end in ends if data.startswith(self.data[: end[0]])), (0, 0))


def whole(setting: Setting, story: Story) -> Whole:
    """Return the journal of a story."""
    disk, path = empty(journals_folder()), journal_file(NOTEBOOK, "")
    setting.outside.proof = lambda: b""
    Life(story, setting, NOTEBOOK, disk).live()[1].close()
    data, at, ends = disk.now[path], 0, []
    for line in data.splitlines(keepends=True):
        at += len(line)
        ends.append((at, len(Journal.salvage(data[:at].decode())[0])))
    return Whole(story.name, data, tuple(ends))


def damaged(whole: Whole, step: int) -> Iterator[tuple[str, bytes]]:
    """Yield how it was damaged, and what the file is then.

    With a step of 1 each length and each bit is there, else one in so many.
    """
    data = whole.data
    for at in range(0, len(data), step):
        yield f"cut to {at}", data[:at]
    for bit in range(0, len(data) * 8, step * 8 + (step > 1)):
        at = bit // 8
        changed = bytes([data[at] ^ 1 << bit % 8])
        yield f"bit {bit % 8} of {at}", data[:at] + changed + data[at + 1 :]
    for at in range(0, len(data), 97 * step):
        for junk in (b"\0", b"\n", b"{}\n", b'"\xff'):
            yield f"{junk!r} at {at}", data[:at] + junk + data[at:]


def check(whole: Whole, data: bytes) -> Iterator[Broken]:
    """Yield what does not hold once a damaged file was opened, and opened again."""
    disk, path = empty(journals_folder()), journal_file("/x.ipynb", "")
    disk.folders |= {path.parent, *path.parents}
    disk.now[path] = disk.safe[path] = data
    size, entries = whole.left(data)
    seal = signer(journals_folder())
    kept = open_journal(path, seal, disk)
    kept.close()
    aside, rest = disk.certain(path.with_suffix(".torn")), data[size:]
    if len(kept.journal) != entries or not all(entry.verified for entry in kept.journal):
        yield Broken("no prefix", f"{len(kept.journal)} entries of {entries}")
    if not disk.now[path].startswith(data[:size]):
        yield Broken("no prefix", "the file is not what was whole")
    if aside.rstrip(b"\n") != rest.rstrip(b"\n"):
        yield Broken("not aside", f"{len(aside)} bytes of {len(rest)}")
    if (rest != b"") != ("damaged" in kept.note) or "\n" in kept.note:
        yield Broken("silent", repr(kept.note))
    again = open_journal(path, seal, disk)
    if again.note or len(again.journal) != entries:
        yield Broken("not mended", again.note)


def run(step: int, names: tuple[str, ...] = TOLD) -> Tally:
    """Return the outcomes of the damage, one in `step` of each kind."""
    tally, began, setting = Tally("damaged journals"), cpu(), Setting()
    with data_directory():
        for story in STORIES:
            if story.name in names:
                journal = whole(setting, story)
                for how, data in damaged(journal, step):
                    tally.add(f"{story.name}: {how}", broken_by(partial(check, journal, data)))
    tally.seconds = cpu() - began
    return tally
