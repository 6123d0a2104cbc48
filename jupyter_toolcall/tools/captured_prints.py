"""What a call prints: captured by a context variable, wherever and beside whatever it runs.

While calls run, `sys.stdout` and `sys.stderr` are proxies. What prints in the context of a call is
recorded with that call; everything else goes on to the stream that was there before. The last
call that ends takes the proxies away.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from collections import deque
from contextvars import Context, ContextVar, copy_context
from functools import cached_property
from typing import Any
from weakref import WeakSet

from ..core.interrupts import attempt
from .plain_data import well_formed

PRINTS = 4_000
"""Characters of a tool's prints that are kept."""
STREAMS = ("stdout", "stderr")


class Prints(io.TextIOBase):
    """Keeps the beginning of what is printed. A tool may close it: what follows is kept too."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = PRINTS

    @cached_property
    def buffer(self) -> PrintedBytes:
        # Made when it is asked for: the two refer to one another, and would wait for a collection.
        return PrintedBytes(self)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        # Also of a class of its own, whose methods may raise, it becomes a plain text.
        text = str.__str__(text)
        if self._room > 0:
            self._parts.append(text if len(text) <= self._room else f"{text[: self._room]}…\n")
            self._room -= len(text)
        return len(text)

    def close(self) -> None:
        """Stay open, since the tool's own prints may follow."""

    def text(self) -> str:
        return well_formed("".join(self._parts))


class PrintedBytes(io.RawIOBase):
    """The `buffer` of Prints: bytes that are written to it are read as UTF-8."""

    def __init__(self, prints: Prints) -> None:
        self._prints = prints
        # A letter may come in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._prints.write(self._decoder.decode(bytes(data)))
        return len(data)

    def close(self) -> None:
        """Stay open, as the text above it."""


_PRINTS: ContextVar[Prints | None] = ContextVar("prints", default=None)
_lock = threading.RLock()


_running: WeakSet[stream_proxies] = WeakSet()
"""Weak references: a call whose end an interrupt skipped is collected with its frame."""


class StreamProxy:
    """Stands for a stream of the process while calls run.

    Everything but the prints of a call goes to the stream. A proxy that somebody saved meanwhile
    and put back later, as `redirect_stdout` does, goes away when it is first used.
    """

    def __init__(self, name: str, stream: Any) -> None:
        self._name, self._stream = name, stream

    def write(self, text: str) -> int:
        stream = _PRINTS.get() or self._elsewhere()
        return len(text) if stream is None else int(stream.write(text))

    def flush(self) -> None:
        """Flush the stream, unless a call prints: its prints are kept as they come."""
        if _PRINTS.get() is None and (stream := self._elsewhere()) is not None:
            stream.flush()

    def fileno(self) -> int:
        """Return the stream's own descriptor: what a program writes there is not captured."""
        return int(self._stream.fileno())

    def close(self) -> None:
        """Stay open, where a call closes it while others print."""
        if _PRINTS.get() is None and (stream := self._elsewhere()) is not None:
            stream.close()

    def __enter__(self) -> StreamProxy:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> object:
        # A copy or a pickle asks before there are fields.
        if name in ("_name", "_stream"):
            raise AttributeError(name)
        return getattr(_PRINTS.get() or self._elsewhere(), name)

    def _elsewhere(self) -> Any:
        """Return the stream of what no call prints."""
        with _lock:
            if not _running and vars(sys).get(self._name) is self:
                setattr(sys, self._name, self._stream)
        return self._stream


class stream_proxies:
    """Has proxies in the place of the process's streams; what a tool did to them is undone.

    Any number of threads may be inside. No interrupt comes between the last line of a tool and the
    end: it is held, or the thread is not the main one.
    """

    def __enter__(self) -> None:
        streams = vars(sys)
        with _lock:
            _running.add(self)
            self._proxies = [_proxy(name, streams.get(name)) for name in STREAMS]
            streams.update(zip(STREAMS, self._proxies, strict=True))

    def __exit__(self, *raised: object) -> None:
        with _lock:
            _running.discard(self)
            are_others_inside, streams = bool(_running), vars(sys)
            for name, proxy in zip(STREAMS, self._proxies, strict=True):
                stream = proxy._stream
                if streams.get(name) is not proxy:
                    stream = _stream(_stream_to_keep(name, stream))
                streams[name] = _proxy(name, stream) if are_others_inside else stream


def context_of(prints: Prints) -> Context:
    """Return a copy of this context, in which what is printed inside `stream_proxies` is kept.

    This context is left alone: an interrupt or a full stack, which skip what would put a variable
    back, would otherwise leave it to the notebook, and its later prints would be lost.
    """
    context = copy_context()
    context.run(_PRINTS.set, prints)
    return context


def _stream_to_keep(name: str, before: object) -> object:
    """Return what stays in the place of a stream: what is there, or what was there before.

    In the main thread only the call itself can have replaced it. While a call ran in another
    thread, other code may have done so on purpose, and only a stream that nobody can print to
    is put back.
    """
    current = vars(sys).get(name)
    if _stream(current) is before:
        return current
    is_main = threading.current_thread() is threading.main_thread()
    is_closed, raised = attempt(getattr, current, "closed", False)
    return before if is_main or name not in vars(sys) or is_closed or raised else current


_proxies: deque[StreamProxy] = deque(maxlen=16)
"""The latest proxies. `print` holds no reference to the stream that it writes to, so one that is
dropped while another thread prints would crash the process."""


def _proxy(name: str, stream: object) -> StreamProxy:
    if isinstance(stream, StreamProxy):
        return stream
    for proxy in _proxies:
        if proxy._name == name and proxy._stream is stream:
            return proxy
    _proxies.append(StreamProxy(name, stream))
    return _proxies[-1]


def _stream(stream: Any) -> object:
    """Return the stream behind a proxy, or the stream itself."""
    return stream._stream if isinstance(stream, StreamProxy) else stream


def _forget() -> None:
    """Put the streams back in a forked child: its prints belong to no call of its parent."""
    global _lock
    _lock = threading.RLock()
    _running.clear()
    _PRINTS.set(None)
    vars(sys).update({name: _stream(vars(sys).get(name)) for name in STREAMS})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
