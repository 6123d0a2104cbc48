"""The store of values: what is put is found, all else is not, and it never grows too large."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import shutil
import signal
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_toolcall.core.digests import digest
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.storage.value_store import (
    MEGABYTE,
    MISSING,
    SETTING,
    StoreSize,
    ValueFolder,
    value_store,
)

ROOM = 64 * 4096


class Trap:
    """What runs where it is unpickled."""

    sprung: ClassVar[list[str]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return self.sprung.append, ("sprung",)


class Sour:
    """What can be written and not be read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("sour",)


def opened(folder: Path, room: int = ROOM) -> ValueFolder:
    seal = signer(folder)
    assert seal is not None
    return ValueFolder(folder / "values", seal, room)


@pytest.fixture
def store(tmp_path: Path) -> ValueFolder:
    return opened(tmp_path)


def name(n: int) -> str:
    return digest("name", n)


def files(store: ValueFolder, kind: str) -> list[Path]:
    return sorted((store.folder / kind).glob("*"))


CLEARED = -1


@given(st.lists(st.tuples(st.integers(CLEARED, 9), st.binary(max_size=200)), max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_last_value_of_a_name_is_found_and_equal_bytes_are_there_once(
    tmp_path: Path, acts: list[tuple[int, bytes]]
) -> None:
    shutil.rmtree(tmp_path / "values", ignore_errors=True)
    store, last, put = opened(tmp_path), dict[int, list[bytes]](), set[bytes]()
    for number, value in acts:
        if number == CLEARED:
            assert store.clear().values == len(last)
            last.clear()
            put.clear()
        else:
            assert store.put(name(number), [value]) == ""
            last[number] = [value]
            put.add(value)
        contents = files(store, "contents")
        assert len(contents) == len(put)
        assert store.held() == StoreSize(len(last), sum(path.stat().st_size for path in contents))
    # So does another kernel.
    for each in (store, opened(tmp_path)):
        found = {n: each.find(name(n)) for n in range(10)}
        assert {n: value for n, value in found.items() if value is not MISSING} == last


@pytest.mark.parametrize("kind", ["names", "contents"])
@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_byte_that_was_changed_is_not_found(store: ValueFolder, kind: str, at: int) -> None:
    store.put(name(1), b"value" * 50)
    path = files(store, kind)[0]
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert store.find(name(1)) is MISSING
    # And it can be put there again.
    assert store.put(name(1), b"value" * 50) == ""
    assert store.find(name(1)) == b"value" * 50


def test_a_pickle_of_somebody_else_is_never_read(store: ValueFolder, tmp_path: Path) -> None:
    store.put(name(1), "ours")
    trap = pickle.dumps(Trap())
    theirs = opened(tmp_path / "theirs")
    theirs.put(name(2), Trap())
    # Under their seal, under the digest of ours, under another name.
    shutil.copy(files(theirs, "names")[0], store.folder / "names")
    shutil.copy(files(theirs, "contents")[0], store.folder / "contents")
    shutil.copy(store.folder / "names" / name(1), store.folder / "names" / name(3))
    files(store, "contents")[0].write_bytes(trap)
    files(store, "contents")[1].write_bytes(trap)
    assert [store.find(name(n)) for n in (1, 2, 3)] == [MISSING] * 3
    assert Trap.sprung == []


@pytest.mark.parametrize("wrong", ["../key", "", "a" * 65, name(1).upper(), "/etc/passwd"])
def test_what_is_no_name_is_nowhere(store: ValueFolder, wrong: str) -> None:
    assert store.put(wrong, 1) != ""
    assert store.find(wrong) is MISSING


def test_what_cannot_be_written_or_read_is_not_there_and_says_why(store: ValueFolder) -> None:
    assert store.put(name(1), lambda: 1) == "it can't be pickled"
    assert "more than there is room for" in store.put(name(2), bytes(ROOM))
    assert store.put(name(3), Sour()) == ""
    assert [store.find(name(n)) for n in (1, 2, 3)] == [MISSING] * 3


def test_a_place_that_takes_nothing_is_no_error(tmp_path: Path) -> None:
    seal = signer(tmp_path)
    assert seal is not None
    (tmp_path / "file").write_text("")
    store = ValueFolder(tmp_path / "file" / "values", seal, ROOM)
    assert "can't be written (Not a directory)" in store.put(name(1), 1)
    assert store.find(name(1)) is MISSING
    assert (store.held(), store.clear()) == (StoreSize(0, 0), StoreSize(0, 0))


def fill(folder: str, said: Any) -> None:
    """Put a value where no file can grow beyond 10,000 bytes, as on a disk that is full."""
    resource = importlib.import_module("resource")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = opened(Path(folder))
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    said.put([store.put(name(1), bytes(50_000)), store.put(name(2), bytes(500))])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_value_that_fits_no_more_is_not_kept_and_leaves_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    said = context.SimpleQueue()
    process = context.Process(target=fill, args=(str(tmp_path), said))
    process.start()
    first, second = said.get()
    process.join(60)
    assert first.startswith("it can't be written")
    assert second == ""
    store = opened(tmp_path)
    assert [store.find(name(n)) for n in (1, 2)] == [MISSING, bytes(500)]
    assert len(files(store, "contents")) == 1


def test_no_more_is_kept_than_there_is_room_for_and_the_latest_stays(store: ValueFolder) -> None:
    for number in range(200):
        store.put(name(number), os.urandom(3_000 + 37 * number))
        sizes = [p.stat().st_size for kind in ("names", "contents") for p in files(store, kind)]
        assert sum(-(-size // 4096) * 4096 for size in sizes) <= ROOM
        assert store.find(name(number)) is not MISSING
    assert store.find(name(0)) is MISSING
    # What nothing leads to is gone with what it led to.
    assert len(files(store, "names")) == len(files(store, "contents"))


def test_what_is_used_stays_and_what_is_not_goes(store: ValueFolder) -> None:
    for number in range(8):
        store.put(name(number), os.urandom(20_000))
        past = time.time() - 1000 + number
        for path in files(store, "contents"):
            if path.stat().st_mtime > past + 500:
                os.utime(path, (past, past))
    assert store.find(name(0)) is not MISSING
    for number in range(8, 11):
        store.put(name(number), os.urandom(20_000))
    assert store.find(name(0)) is not MISSING
    assert store.find(name(1)) is MISSING


def test_what_a_kernel_left_half_done_goes_first(store: ValueFolder) -> None:
    store.put(name(0), os.urandom(20_000))
    for path in files(store, "contents"):
        os.utime(path, (time.time() - 9_000,) * 2)
    left = [store.folder / "contents" / ".left", store.folder / "contents" / ("f" * 64)]
    for path in left:
        path.write_bytes(bytes(60_000))
        os.utime(path, (time.time() - 8_000,) * 2)
    for number in range(1, 9):
        store.put(name(number), os.urandom(20_000))
    assert not any(path.exists() for path in left)
    assert all(store.find(name(n)) is not MISSING for n in range(9))


def crowd(folder: str, seed: int, failed: Any) -> None:
    """Put and find as one of several kernels that share a store."""
    store = opened(Path(folder))
    for number in range(60):
        value = bytes([number % 7]) * (1_000 + 500 * (number % 11))
        if store.put(name(number % 20), value) or store.find(name(seed + 1000)) is not MISSING:
            failed.set()
        found = store.find(name(number % 20))
        # Another may have put another value there meanwhile, but never half of one.
        if found is not MISSING and len(set(found)) != 1:
            failed.set()


def test_several_kernels_put_and_find_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    failed = context.Event()
    crew = [context.Process(target=crowd, args=(str(tmp_path), n, failed)) for n in range(3)]
    for each in crew:
        each.start()
    for each in crew:
        each.join(120)
    assert [each.exitcode for each in crew] == [0, 0, 0]
    assert not failed.is_set()
    store = opened(tmp_path)
    assert not [p for kind in ("names", "contents") for p in files(store, kind) if p.name[0] == "."]
    assert any(store.find(name(n)) is not MISSING for n in range(20))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path))
    return tmp_path


def test_the_store_of_a_user_is_in_the_data_directory_and_theirs_alone(home: Path) -> None:
    store = value_store({})
    assert store is not None
    assert store.room == 1024 * MEGABYTE
    store.put(name(1), 1)
    assert (home / "values").stat().st_mode & 0o077 == 0


def test_the_room_is_a_setting_and_none_keeps_nothing(home: Path) -> None:
    small = value_store({SETTING: "3"})
    assert small is not None
    assert small.room == 3 * MEGABYTE
    assert value_store({SETTING: "0"}) is None
    with pytest.raises(UsageError, match="JUPYTER_TOOLCALL_VALUES is 'much'; it takes a number"):
        value_store({SETTING: "much"})
