"""What holds whatever went wrong: checked after each case, from outside of every kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jupyter_toolcall.core.events import Replied
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.state_fold import state_at
from jupyter_toolcall.storage.journal_file import journals_folder
from jupyter_toolcall.storage.signatures import signer
from tests.faults.world import Story


@dataclass(frozen=True)
class Broken:
    """A law that did not hold, and how."""

    law: str
    how: str


def broken_by(laws: Callable[[], Iterable[Broken]]) -> list[Broken]:
    """Return the laws that did not hold; to raise is one of them."""
    try:
        return list(laws())
    except Exception as error:
        return [Broken("raised", f"{type(error).__name__}: {error}"[:600])]


def kept(text: str) -> Journal:
    """Return the journal that a file holds, all of it. Raises BrokenJournal."""
    return Journal.loads(text, signer(journals_folder()))


def outside(story: Story, notes: Sequence[str]) -> Iterator[Broken]:
    """Yield what is wrong with what happened outside: effects without a word, or twice."""
    approved = Counter(int(note.split()[1]) for note in notes if note.startswith("approve "))
    effects = [[*map(int, note.split()[1:])] for note in notes if note.startswith("effect ")]
    effects = [effect for effect in effects if effect[0] not in story.again]
    for number, (n, starts, allowed) in enumerate(effects if not story.remade else (), 1):
        if starts < number:
            yield Broken(
                "unstarted", f"effect {n} with {starts} starts on disk, it is no. {number}"
            )
        if allowed < number:
            yield Broken("unapproved", f"effect {n} with {allowed} approvals on disk, no. {number}")
    taken = [[*map(int, note.split()[1:])] for note in notes if note.startswith("taken ")]
    for number, (n, allowed) in enumerate(taken if not story.remade else (), 1):
        if allowed < number:
            yield Broken("lost word", f"{n} was approved, with {allowed} on disk, no. {number}")
    for n, times in Counter(n for n, *_ in effects).items():
        if times > approved[n] + (n in story.unasked):
            yield Broken("duplicate effect", f"{n}: {times} effects, {approved[n]} approvals")


def once(notes: Sequence[str]) -> Iterator[Broken]:
    """Yield calls with more than one effect, where no kernel died: no result was lost."""
    effects = Counter(note.split()[1] for note in notes if note.startswith("effect "))
    yield from (
        Broken("lost result", f"{n} ran {times} times") for n, times in effects.items() if times > 1
    )


def told(story: Story, notes: Sequence[str], journal: Journal, head: str) -> Iterator[Broken]:
    """Yield results that the model was told, and that are others now, or gone, or made again."""
    state = state_at(journal, head)
    said: dict[str, str] = {}
    over: dict[int, str] = {}
    for note in notes:
        word, _, rest = note.partition(" ")
        if word == "effect" and not story.remade and (call := over.get(int(rest.split()[0]))):
            yield Broken("lost result", f"{call} was {said[call]!r}, and runs again")
        if word != "told":
            continue
        call, _, content = rest.partition(" ")
        if said.setdefault(call, content) != content:
            yield Broken("lost result", f"{call} was {said[call]!r}, and {content!r} later")
        if call not in state.calls or state.calls[call].outcome is None:
            yield Broken("lost result", f"{call} was {content!r}, and is gone")
        else:
            over[state.calls[call].arguments["n"]] = call


def names(journal: Journal) -> Iterator[Broken]:
    """Yield ids of calls that were used twice on one branch, for something else."""
    for leaf in journal.leaves():
        calls = [
            call
            for entry in journal.path(leaf)
            if isinstance(entry.event, Replied)
            for call in entry.event.calls
        ]
        if len({call.id for call in calls}) < len(calls):
            yield Broken("id used twice", f"{[call.id for call in calls]}")


def same(memory: Journal, text: str, head: str) -> Iterator[Broken]:
    """Yield in what the file and the kernel's memory differ."""
    journal = kept(text)
    if {entry.id for entry in journal} != {entry.id for entry in memory}:
        yield Broken("file is not memory", f"{len(journal)} entries, and {len(memory)}")
    elif state_at(journal, head) != state_at(memory, head):
        yield Broken("file is not memory", "the states differ")
    # A kernel that cannot write the file repeats its replies as it reads them: not verified.
    if not all(entry.verified or "of" in entry.meta for entry in journal):
        yield Broken("file is not memory", "an entry is not this machine's own")


def prefix(text: str, whole: Sequence[str]) -> Iterator[Broken]:
    """Yield where what a first life left is not the beginning of an undisturbed one."""
    journal, _ = Journal.salvage(text)
    ids = [entry.id for entry in journal]
    if ids != list(whole[: len(ids)]):
        yield Broken("no prefix", f"{len(ids)} entries")


def finished(story: Story, journal: Journal, head: str) -> Iterator[Broken]:
    """Yield what a session that went on to its end lacks."""
    state = state_at(journal, head)
    if state.reply_text != "done" or state.open:
        yield Broken("did not go on", f"{story.name}: {state.reply_text!r}, open: {state.open}")
