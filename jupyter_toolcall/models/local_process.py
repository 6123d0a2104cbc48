"""The process that runs a local model, from the kernel's side: bodies in, pieces of text out.

One model is loaded at a time, for all sessions of this kernel, and it answers one request
at a time. Whoever stops reading stops it: an interrupt waits for nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Generator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Any

from ..core.errors import ModelError
from ..core.events import Usage
from .local_wire import End, Piece

Json = dict[str, Any]
_PROGRAM = Path(__file__).with_name("local_runtime.py")
_TURN = Lock()
_running: list[Process] = []


@dataclass(frozen=True, slots=True)
class Loading:
    """What is loaded, and how."""

    path: str
    context: int
    threads: int


def generate(loading: Loading, body: Json) -> Generator[Piece, None, None]:
    """Yield what the model writes for a body, one at a time. Raises ModelError, in one line."""
    with _TURN:
        # Another model makes room for this one.
        if _running and (_running[0].loading != loading or _running[0].gone):
            _running.pop().end()
        if not _running:
            _running.append(Process(loading))
        yield from _running[0].generate(body)


class Process:
    """A model in a process of its own, which ends with this object."""

    def __init__(self, loading: Loading) -> None:
        self.loading = loading
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # A session of its own, on Windows a group: an interrupt of the kernel is not for it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), json.dumps(asdict(loading))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.requests = 0
        self.end = weakref.finalize(self, _end, self.process, self.log)

    @property
    def gone(self) -> bool:
        """Whether the process is over: memory that ran short may have ended it."""
        return not self.end.alive or self.process.poll() is not None

    def generate(self, body: Json) -> Generator[Piece, None, None]:
        """Yield what the model writes for a body. Raises ModelError, in one line."""
        self.requests += 1
        number, over = self.requests, False
        self._send({"number": number, "body": body})
        ending: Json = {}
        try:
            for message in self._messages(number):
                over = "over" in message
                ending |= _ending(message)
                match message:
                    case {"choices": [{"delta": {"content": str(text)}} | {"text": str(text)}, *_]}:
                        yield text
        finally:
            if not over and self.end.alive:
                # If it is gone meanwhile, that is not what went wrong here.
                with suppress(ModelError):
                    self._send({"stop": number})
        if "reason" in ending:
            yield End(**ending)

    def _send(self, message: Json) -> None:
        """An interrupt in the middle of a line would leave half of it behind."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise self._ended() from None
        except BaseException:
            self.end()
            raise

    def _messages(self, number: int) -> Generator[Json, None, None]:
        """Yield the messages for this request; those for an earlier one are passed over."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                # The end of a line whose beginning an interrupt took.
                continue
            if isinstance(message, dict) and message.get("number") == number:
                yield message
                if "over" in message:
                    return
        raise self._ended()

    def _ended(self) -> ModelError:
        """Return why the process is gone, in the last words of its log."""
        code, name = self.process.wait(), Path(self.loading.path).name
        self.log.seek(0)
        log = self.log.read().decode(errors="replace")
        lines = [line.strip() for line in log.splitlines() if line.strip()]
        self.end()
        if code < 0:
            more = "; there may be too little memory for it" if code == -9 else ""
            return ModelError(f"{name}: its process was ended by signal {-code}{more}")
        loading = "error loading model: "
        last = ([line for line in lines if loading.strip() in line] or lines or [""])[-1]
        words = last.rpartition(loading)[2][:300]
        return ModelError(f"{name} could not be loaded or run: {words or f'exit code {code}'}")


def _ending(message: Json) -> Json:
    """Return what a message says of the end. Raises ModelError if the model failed."""
    ending: Json = {}
    match message:
        case {"error": {"type": "exceed_context_size_error"}}:
            ending["reason"] = "context"
        case {"error": {"message": str(text)}}:
            raise ModelError(f"the model could not be asked: {' '.join(text.split())[:300]}")
        case {"choices": [{"finish_reason": str(reason)}, *_]}:
            ending["reason"] = reason
    match message:
        case {"usage": {"prompt_tokens": int(input), "completion_tokens": int(output)} as usage}:
            details = usage.get("prompt_tokens_details") or {}
            ending["usage"] = Usage(input, output, details.get("cached_tokens", 0))
    return ending


def _end(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, log):
        if pipe is not None:
            pipe.close()
    process.wait()
