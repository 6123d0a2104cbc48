"""Journals on disk: one writer, whole lines in their order, and nothing lost that was promised."""

from __future__ import annotations

import errno
import inspect
import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from jupyter_toolcall.core.errors import NotKept, UnreadableJournal
from jupyter_toolcall.core.events import Asked, Data, Decided, Finished, Opened, Replied, Started
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import VERSION, line
from jupyter_toolcall.storage.file_system import DISK, Files, replace_file
from jupyter_toolcall.storage.journal_file import JournalHandle, journal_file, open_journal
from jupyter_toolcall.storage.signatures import signer
from tests.benchmarks.workload import Counting
from tests.faults.disks import Faulty

NO_LOCKS = [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def opened(path: Path, files: Files = DISK) -> JournalHandle:
    return open_journal(path, signer(path.parent), files)


def closed(kept: JournalHandle) -> Journal:
    kept.close()
    return kept.journal


def written(path: Path) -> None:
    journal = opened(path)
    head = journal.journal.append(None, Opened()).id
    journal.journal.append(head, Asked("grüße\u2028 you"), {"note": "ü\u0085"})
    closed(journal)


# -- what is damaged ------------------------------------------------------------------------


def test_a_journal_of_which_nothing_is_left_says_that_it_begins_again(path: Path) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(b"x" + whole[1:])
    kept = opened(path)
    assert "nothing of it can be read, so the session starts over" in kept.note
    assert len(closed(kept)) == 0
    assert path.with_suffix(".torn").read_bytes() == b"x" + whole[1:]


def test_a_second_tear_leaves_the_first_where_it_is(path: Path) -> None:
    written(path)
    for tear in ("first", "second"):
        with path.open("a") as file:
            file.write(tear)
        kept = opened(path)
        assert "its first 2 entries are whole" in kept.note
        assert str(path.with_suffix(".torn")) in kept.note
        closed(kept)
    assert path.with_suffix(".torn").read_text() == "first\nsecond\n"


@pytest.mark.parametrize("version", [0, VERSION - 1, VERSION + 1])
def test_another_format_is_told_as_such_and_left_as_it_is(path: Path, version: int) -> None:
    without_sums = json.dumps({"id": "a", "parent": None, "event": {"type": "opened"}})
    first = line({"journal": version}) if version else without_sums
    path.write_text(first + '\n{"what": "nobody knows"}\n')
    before = path.read_bytes()
    with pytest.raises(UnreadableJournal) as error:
        opened(path)
    assert f"the journal has format {version}" in str(error.value)
    assert "\n" not in str(error.value)
    assert (path.read_bytes(), sorted(os.listdir(path.parent))) == (
        before,
        ["a.jsonl", "a.jsonl.lock", "key"],
    )


def test_an_unreadable_journal_begins_no_session_unless_asked(path: Path, disk: Faulty) -> None:
    written(path)
    disk.raises(errno.EACCES, "read")
    with pytest.raises(UnreadableJournal, match="may not be read"):
        opened(path, disk)
    kept = open_journal(path, signer(path.parent), disk, fresh=True)
    assert (len(kept.journal), kept.note[:32]) == (0, "This session is not kept on disk")


# -- one writer -----------------------------------------------------------------------------


def test_what_another_kernel_writes_is_read_and_not_written(path: Path) -> None:
    written(path)
    mine = opened(path)
    path.write_bytes(path.read_bytes() + b"\xff")
    before = path.read_bytes()
    other = opened(path)
    other.journal.append(None, Opened(system="other"))
    assert other.note.startswith("Another kernel writes this session")
    assert len(other.journal) == 3
    assert path.read_bytes() == before
    assert len(closed(mine)) == 2


def test_what_another_kernel_may_act_on_allows_nothing_here(path: Path) -> None:
    mine = opened(path)
    head = mine.journal.append(None, Opened()).id
    assert all(entry.verified for entry in mine.journal)
    other = opened(path)
    assert [entry.verified for entry in other.journal] == [False]
    assert other.journal[head].event == Opened()
    closed(mine)


def test_the_next_kernel_takes_over_and_writes_what_happened_in_it(path: Path) -> None:
    mine = opened(path)
    root = mine.journal.append(None, Opened()).id
    other = opened(path)
    other.journal.remember("a text")
    theirs = other.journal.append(root, Asked("theirs")).id
    assert other.retry is not None
    still = other.retry()
    assert (still.note, still.journal is other.journal) == ("", True)
    ours = mine.journal.append(root, Asked("ours")).id
    closed(mine)
    assert still.retry is not None
    taken = still.retry()
    assert "on disk again" in taken.note
    assert taken.journal is other.journal
    assert set(taken.journal.children(root)) == {ours, theirs}
    last = taken.journal.append(theirs, Asked("more")).id
    closed(taken)
    loaded = closed(opened(path))
    assert {entry.id for entry in loaded} == {root, ours, theirs, last}
    assert all(entry.verified for entry in loaded)
    assert list(loaded.texts.values()) == ["a text"]


def in_a_child(work: Callable[[], object]) -> int:
    """Fork, do it in the child, and return its process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("locks", [True, False])
def test_the_lock_of_a_kernel_that_was_killed_is_nobodys(
    path: Path, locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    if not locks:
        monkeypatch.setattr(fcntl, "flock", no_locks(errno.ENOLCK))
    reads, writes = os.pipe()

    def hold() -> None:
        kept = opened(path)
        os.write(writes, b"x" if not kept.note else b"-")
        signal.pause()

    child = in_a_child(hold)
    assert os.read(reads, 1) == b"x"
    assert "Another kernel" in opened(path).note
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    kept = opened(path)
    assert kept.note == ""
    closed(kept)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_of_a_tool_does_not_hold_the_journal_of_a_killed_kernel(path: Path) -> None:
    reads, writes = os.pipe()

    def live_on() -> None:
        os.write(writes, os.getpid().to_bytes(4, "big"))
        signal.pause()

    def hold() -> None:
        kept = opened(path)
        assert kept.note == ""
        in_a_child(live_on)
        signal.pause()

    child = in_a_child(hold)
    orphan = int.from_bytes(os.read(reads, 4), "big")
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kept = opened(path)
        assert kept.note == ""
        closed(kept)
    finally:
        os.kill(orphan, signal.SIGKILL)


def no_locks(number: int) -> Callable[..., None]:
    def flock(*given: object) -> None:
        raise OSError(number, os.strerror(number))

    return flock


@pytest.mark.skipif(sys.platform == "win32", reason="no flock here")
@pytest.mark.parametrize("number", NO_LOCKS)
def test_a_file_system_without_locks_has_one_writer_too(
    path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(fcntl, "flock", no_locks(number))
    mine, other = opened(path), opened(path)
    assert (mine.note, other.note.partition(",")[0]) == ("", "Another kernel writes this session")
    closed(mine)
    assert other.retry is not None
    taken = other.retry()
    assert "on disk again" in taken.note
    closed(taken)


# -- a disk that takes nothing -----------------------------------------------------------------


@pytest.fixture
def disk() -> Faulty:
    return Faulty()


@pytest.fixture
def kept(path: Path, disk: Faulty) -> Iterator[JournalHandle]:
    kept = opened(path, disk)
    head = kept.journal.append(None, Opened()).id
    head = kept.journal.append(head, Asked("go")).id
    kept.journal.append(head, Replied("x"))
    yield kept
    kept.close()


def head(kept: JournalHandle) -> str:
    return kept.journal.leaves()[-1]


def on_disk(path: Path) -> list[str]:
    """Return the types of the events of a file, whatever its end is like."""
    journal, _ = Journal.salvage(path.read_text())
    return [type(entry.event).__name__ for entry in journal]


def test_what_may_wait_is_synced_at_rest_and_not_while_a_session_runs(path: Path) -> None:
    files = Counting()
    kept = opened(path, files)
    kept.journal.append(None, Opened())
    before = files.syncs
    assert (kept.write_waiting(False), files.syncs) == ("", before)
    assert (kept.write_waiting(True), files.syncs) == ("", before + 1)
    assert (kept.write_waiting(True), files.syncs) == ("", before + 1)
    kept.close()


@pytest.mark.parametrize("act", ["append", "sync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_before_a_tool_what_cannot_be_written_refuses_the_call(
    path: Path, kept: JournalHandle, disk: Faulty, act: str, number: int
) -> None:
    disk.raises(number, act)
    before = on_disk(path)
    for event in (Decided("c"), Started("c")):
        with pytest.raises(NotKept, match="the call did not run") as refused:
            kept.journal.append(head(kept), event)
        assert "\n" not in str(refused.value)
    assert on_disk(path) == before == [type(e.event).__name__ for e in kept.journal]
    assert kept.write_waiting(True) == ""
    disk.raises(0)
    kept.journal.append(head(kept), Decided("c"))
    assert on_disk(path) == [*before, "Decided"]


@pytest.mark.parametrize("act", ["append", "sync"])
def test_after_a_tool_its_result_stays_and_is_written_when_that_works_again(
    path: Path, kept: JournalHandle, disk: Faulty, act: str
) -> None:
    kept.journal.append(head(kept), Decided("c"))
    kept.journal.append(head(kept), Started("c"))
    before = on_disk(path)
    disk.raises(errno.ENOSPC, act)
    kept.journal.append(head(kept), Finished("c", Data(1)))
    kept.journal.append(head(kept), Replied("done"))
    assert kept.write_waiting(True).startswith("Not on disk since ")
    assert "the disk is full" in kept.write_waiting(True)
    assert "\n" not in kept.write_waiting(True)
    with pytest.raises(NotKept):
        kept.journal.append(head(kept), Decided("d"))
    disk.raises(0)
    kept.journal.append(head(kept), Asked("more"))
    assert on_disk(path) == [*before, "Finished", "Replied", "Asked"]
    assert kept.write_waiting(True) == ""


def test_to_ask_what_is_unsaved_writes_it(path: Path, kept: JournalHandle, disk: Faulty) -> None:
    disk.raises(errno.EIO, "append")
    kept.journal.append(head(kept), Replied("more"))
    assert "input/output error" in kept.write_waiting(True)
    disk.raises(0)
    assert kept.write_waiting(True) == ""
    assert on_disk(path)[-1] == "Replied"


def test_a_failed_sync_is_written_again(path: Path, kept: JournalHandle, disk: Faulty) -> None:
    """What a sync failed on may be gone from the cache: it is written again."""
    size = path.stat().st_size
    disk.raises(errno.EIO, "sync")
    kept.journal.append(head(kept), Replied("one"))
    lost = path.read_bytes()[size:]
    with path.open("rb+") as file:
        file.seek(size)
        file.write(b"\0" * len(lost))
    disk.raises(0)
    kept.journal.append(head(kept), Replied("two"))
    assert path.read_bytes()[size:].startswith(lost)
    assert len(closed(opened(path))) == len(kept.journal)


@pytest.mark.parametrize("act", ["open", "lock"])
def test_a_disk_that_fails_at_first_is_tried_again(path: Path, disk: Faulty, act: str) -> None:
    written(path)
    disk.raises(errno.EROFS, act)
    kept = opened(path, disk)
    assert kept.note == (
        "This session is not kept on disk: the disk is read-only; make it writable, and run a cell."
    )
    root = kept.journal.append(None, Opened()).id
    said = kept.journal.append(root, Asked("in between")).id
    assert kept.retry is not None
    kept = kept.retry()
    assert kept.note == ""
    disk.raises(0)
    assert kept.retry is not None
    kept = kept.retry()
    assert "on disk again" in kept.note
    assert said in closed(opened(path.with_name("other"))) or said in kept.journal
    closed(kept)
    assert said in closed(opened(path))


def test_a_damaged_journal_stays_while_it_cannot_be_set_aside(path: Path, disk: Faulty) -> None:
    written(path)
    path.write_bytes(path.read_bytes() + b"torn")
    before, disk.fills = path.read_bytes(), True
    kept = opened(path, disk)
    assert "the disk is full" in kept.note
    assert len(kept.journal) == 2
    assert path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_device_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.symlink_to("/dev/full")
    file = DISK.open(path)
    try:
        with pytest.raises(OSError, match="No space left"):
            file.append(b"x")
    finally:
        file.close()


def test_a_folder_that_may_not_be_written_is_read(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    written(path)
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        kept = opened(path)
        assert "its folder may not be written" in kept.note
        assert len(kept.journal) == 2
    finally:
        path.parent.chmod(stat.S_IRWXU)


def test_without_a_key_what_happens_is_history_later_and_that_is_said(path: Path) -> None:
    kept = open_journal(path, None)
    assert "key" in kept.note
    kept.journal.append(None, Opened())
    closed(kept)
    assert [entry.verified for entry in closed(opened(path))] == [False]


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    replace_file(path, "one\n")
    with pytest.raises(UnicodeEncodeError):
        replace_file(path, "two\n" * 10_000 + "\ud800")
    assert (path.read_text(), os.listdir(tmp_path)) == ("one\n", ["s.jsonl"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit here")
def test_a_limit_of_the_system_refuses_the_call_until_it_is_raised(path: Path) -> None:
    import resource

    def limited() -> None:
        kept = opened(path)
        kept.journal.append(None, Opened())
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 300, -1))
        kept.journal.append(head(kept), Replied("x" * 500))
        assert "as large as a file may be" in kept.write_waiting(True)
        with pytest.raises(NotKept, match="the call did not run"):
            kept.journal.append(head(kept), Decided("c"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        kept.journal.append(head(kept), Decided("c"))
        assert kept.write_waiting(True) == ""
        os._exit(7)

    child = in_a_child(limited)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert on_disk(path) == ["Opened", "Replied", "Decided"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_an_interrupt_at_any_function_call_leaves_whole_lines(path: Path) -> None:
    def lines(strike: int) -> bool:
        """Append with an interrupt at that call; return whether it came to it."""
        file = path.with_name(f"{strike}.jsonl")
        kept = opened(file)
        kept.journal.append(None, Opened())
        seen = [0]

        def note(frame: FrameType, event: str, arg: object) -> None:
            seen[0] += event == "call" and "jupyter_toolcall" in frame.f_code.co_filename
            if seen[0] == strike and not frame.f_code.co_flags & inspect.CO_GENERATOR:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

        sys.setprofile(note)
        try:
            for event in (Asked("a"), Replied("b"), Decided("c"), Started("c")):
                kept.journal.append(head(kept), event)
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        kept.journal.append(head(kept), Replied("after"))
        memory = {entry.id for entry in closed(kept)}
        assert memory <= {entry.id for entry in closed(opened(file))}
        assert not file.with_suffix(".torn").exists()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        return seen[0] >= strike

    assert lines(80)
    strike = 1
    while lines(strike):
        strike += 3


# -- who can read it --------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing here")
@pytest.mark.parametrize("could_be_read", [False, True])
def test_a_journal_and_its_folders_are_for_their_user_alone_once_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, could_be_read: bool
) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    path = journal_file("a.ipynb", "")
    folders = path.parent, path.parent.parent
    before = os.umask(0)
    try:
        if could_be_read:
            open_journal(path, signer(tmp_path / "data")).close()
            for place, mode in ((path, 0o644), *((folder, 0o755) for folder in folders)):
                place.chmod(mode)
        open_journal(path, signer(tmp_path / "data")).close()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [folder.stat().st_mode & 0o777 for folder in (*folders, tmp_path / "data")] == [
        0o700
    ] * 3


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing here")
def test_the_folder_of_a_file_that_is_in_no_data_directory_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_journal(tmp_path / "s.jsonl", None).close()
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_journal_that_is_closed_twice_closes_no_file_of_others(tmp_path: Path) -> None:
    kept = open_journal(tmp_path / "s.jsonl", None)
    kept.close()
    # It gets the number that the closed file had.
    others = [os.open(tmp_path / f"{number}", os.O_CREAT) for number in range(4)]
    kept.close()
    for descriptor in others:
        os.close(descriptor)
