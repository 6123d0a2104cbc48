"""The process that holds the weights, from this side: bodies go in, pieces of text come out.

One model is held at a time, for all sessions of this kernel, and it answers one request
at a time. Whoever stops listening stops it: an interrupt waits for nothing.
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
_now: list[Process] = []


def generate(held: Held, body: Json) -> Generator[Piece, None, None]:
    """Yield what the model writes for a body, in its turn. Raises ModelError, in one line."""
    with _TURN:
        yield from _process(held).generate(body)


def _process(held: Held) -> Process:
    """Return the process that holds a model: another one makes room for it."""
    if _now and (_now[0].held != held or _now[0].gone):
        _now.pop().end()
    if not _now:
        _now.append(Process(held))
    return _now[0]


@dataclass(frozen=True, slots=True)
class Held:
    """What is loaded, and how."""

    path: str
    context: int
    threads: int


class Process:
    """A model in a process of its own, which ends with this object."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        # A session of its own: an interrupt of the kernel's group is not for it.
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), json.dumps(asdict(held))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            start_new_session=True,
        )
        self.asked = 0
        self.end = weakref.finalize(self, _end, self.process, self.log)

    @property
    def gone(self) -> bool:
        """Whether the process is over: memory that ran short may have ended it."""
        return not self.end.alive or self.process.poll() is not None

    def generate(self, body: Json) -> Generator[Piece, None, None]:
        """Yield what the model writes for a body. Raises ModelError, in one line."""
        self.asked += 1
        number, over = self.asked, False
        self._send({"number": number, "body": body})
        last: Json = {}
        try:
            for message in self._messages(number):
                over, last = "over" in message, last | _known(message)
                if text := _text(message):
                    yield text
        finally:
            if not over and self.end.alive:
                # Where it is gone meanwhile, that is not what went wrong here.
                with suppress(ModelError):
                    self._send({"stop": number})
        if "reason" in last:
            yield End(last["reason"], last.get("usage"))

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
        """Yield what is said to this request; what is left of one before it is passed over."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            try:
                message = json.loads(line)
            # The rest of a line whose beginning an interrupt took.
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("number") == number:
                yield message
                if "over" in message:
                    return
        raise self._ended()

    def _ended(self) -> ModelError:
        """Return why the process is gone, in its own last words."""
        code = self.process.wait()
        words = self._last_words()
        self.end()
        name = Path(self.held.path).name
        if code < 0:
            more = "; there may be too little memory for it" if code == -9 else ""
            return ModelError(f"{name}: its process was ended by signal {-code}{more}")
        return ModelError(f"{name} could not be loaded or run: {words or f'exit code {code}'}")

    def _last_words(self) -> str:
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        told = [line for line in lines if "error loading model:" in line]
        return (told or lines or [""])[-1].rpartition("error loading model: ")[2][:300]


def _text(message: Json) -> str:
    match message:
        case {"choices": [{"delta": {"content": str(text)}} | {"text": str(text)}, *_]}:
            return text
    return ""


def _known(message: Json) -> Json:
    """Return what a message says of the end. Raises ModelError where it went wrong."""
    known: Json = {}
    match message:
        case {"error": {"type": "exceed_context_size_error"}}:
            known["reason"] = "context"
        case {"error": {"message": str(said)}}:
            raise ModelError(f"the model could not be asked: {' '.join(said.split())[:300]}")
        case {"choices": [{"finish_reason": str(reason)}, *_]}:
            known["reason"] = reason
    match message:
        case {"usage": {"prompt_tokens": int(asked), "completion_tokens": int(made)} as usage}:
            details = usage.get("prompt_tokens_details") or {}
            known["usage"] = Usage(asked, made, details.get("cached_tokens", 0))
    return known


def _end(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, log):
        if pipe is not None:
            pipe.close()
    process.wait()
