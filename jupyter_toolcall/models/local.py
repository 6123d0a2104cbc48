"""A model in a GGUF file, run on this machine: `Local`, and what the head of the file says."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import ModelError
from ..schemes.messages import Reply, Request
from .local_process import Loading, generate
from .local_wire import Piece, Settings, reply, turn_body
from .retrying import Patience, persistent

GGUF = "JUPYTER_TOOLCALL_GGUF"
"""The variable of the environment that names the file."""
THREADS = 1
"""More than one is slower wherever a core is shared with anything else."""
CONTEXT = 16_384
"""Tokens at most that are held, whatever the file was made for: each takes memory."""
NO_EXTRA = "xllamacpp is missing: pip install 'jupyter-toolcall[local]'"
NO_PATH = f"no model file is named: give -m local:PATH, or set {GGUF} to the path of a GGUF file"

Generate = Callable[[dict[str, Any]], Iterable[Piece]]
"""From the body of a turn to the pieces of text that a model writes, and an `End`."""


class Local:
    """A model in a GGUF file, run on this machine: call it with a `Request`.

    Args:
        path: The GGUF file. "": the file of the variable `JUPYTER_TOOLCALL_GGUF`.
        on_text: Called with each part of a reply's text. An error that it raises ends the turn.
        threads: How many threads compute.
        context: The most tokens of a request and its reply.
        max_tokens: The most tokens of a reply. A reply that was cut off may have twice as many.
        temperature: How random the choice of the next token is.
        calls: The most calls of one reply.
        force: Whether each reply is a call while one is valid; small models only talk without it.
        generate: A function that writes in place of the file.
        on_wait: Called with the reason when the model is asked again.
        patience: How often it is asked after a reply that was cut off.

    A call raises ModelError where there is no reply; an interrupt ends it at once.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = "",
        *,
        on_text: Callable[[str], object] | None = None,
        threads: int = THREADS,
        context: int = CONTEXT,
        max_tokens: int = 1_024,
        temperature: float = 0.3,
        calls: int = 4,
        force: bool = False,
        generate: Generate | None = None,
        on_wait: Callable[[str], object] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.name = f"local:{Path(self.path).name}" if self.path else "local"
        self.on_text = on_text or (lambda text: None)
        self.on_wait = on_wait or (lambda text: None)
        self.patience = patience or Patience()
        self.threads = threads
        self.context = context
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.calls = calls
        self.force = force
        self._generate = generate
        self._weights: Weights | None = Weights() if generate else None

    def __repr__(self) -> str:
        return f"Local({self.path!r})"

    def body(self, request: Request) -> dict[str, Any]:
        """Return the whole of what a turn is generated from, its grammar too."""
        # What was cut off is twice as long now; the file's context is the end in any case.
        longest = self.max_tokens << request.cut_off
        settings = Settings(
            self._head().template, longest, self.temperature, self.calls, self.force
        )
        return turn_body(request, settings)

    def __call__(self, request: Request) -> Reply:
        """Return the model's reply. Raises ModelError if there is no whole one."""
        return persistent(lambda: self._attempt(request), self.patience, self.on_wait)

    def _attempt(self, request: Request) -> Reply:
        with closing(self._pieces(self.body(request))) as pieces:
            return reply(pieces, request.turn, bool(request.tools), self.on_text)

    def _pieces(self, body: dict[str, Any]) -> Generator[Piece, None, None]:
        if self._generate is not None:
            yield from self._generate(body)
            return
        context = min(self.context, self._head().context or self.context)
        yield from generate(Loading(str(self._file()), context, self.threads), body)

    def _head(self) -> Weights:
        """Return what the file says of itself, read once."""
        if self._weights is None:
            path = self._file()
            if find_spec("xllamacpp") is None:
                raise ModelError(NO_EXTRA)
            self._weights = weights(path)
        return self._weights

    def _file(self) -> Path:
        """Return the path of the file. Raises ModelError if there is none that fits here."""
        path_text = self.path or os.environ.get(GGUF, "")
        if not path_text:
            raise ModelError(NO_PATH)
        path = Path(path_text).expanduser()
        if not path.is_file():
            raise ModelError(f"there is no file {path_text}; give the path of a GGUF file")
        size, memory = path.stat().st_size, _memory()
        if memory and size > memory:
            raise ModelError(
                f"{path.name} takes {size / 1e9:.1f} GB of memory, and this machine has "
                f"{memory / 1e9:.1f} GB; take a smaller one"
            )
        return path


def _memory() -> int:
    """Return the bytes of memory of this machine, 0 if it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


# -- the head of a GGUF file: its context, and whether it has a chat template ---------------------
# Nothing in it is taken on trust.

_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The number of a type of value, and how it is packed."""
_TEXT, _LIST = 8, 9
LONGEST = 10_000_000
"""Bytes of one text."""
MOST = 50_000_000
"""Entries, or values in a list."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What is known of a model before it is loaded."""

    context: int = 0
    """Tokens that the model was made for; 0 if the file does not say."""
    template: bool = False


def weights(path: Path) -> Weights:
    """Return what a file says. Raises ModelError for what is no GGUF file, or cut short."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelError(f"{path.name} is no GGUF file; give the path of one")
            version, _, entries = _unpacked(file, "<IQQ")
            if version not in (2, 3) or entries > MOST:
                raise ValueError("no head that is known")
            head = {_text(file): _value(file) for _ in range(entries)}
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read: {error.strerror or error}") from None
    except (struct.error, ValueError, UnicodeDecodeError):
        raise ModelError(
            f"{path.name} is broken, or was not downloaded to its end; get it again"
        ) from None
    context = head.get(f"{head.get('general.architecture')}.context_length")
    template = head.get("tokenizer.chat_template")
    return Weights(context if isinstance(context, int) else 0, bool(template))


def _value(file: BinaryIO, kind: int | None = None) -> Any:
    """Return a value, whose type comes before it if it is not known; None for a list."""
    if kind is None:
        (kind,) = _unpacked(file, "<I")
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        return _skip_list(file)
    if kind not in _FIXED:
        raise ValueError(f"a value of a type that is not known: {kind}")
    return _unpacked(file, f"<{_FIXED[kind]}")[0]


def _skip_list(file: BinaryIO) -> None:
    kind, count = _unpacked(file, "<IQ")
    if count > MOST:
        raise ValueError("a list that is too long")
    if kind in _FIXED:
        file.seek(struct.calcsize(f"<{_FIXED[kind]}") * count, 1)
        return
    for _ in range(count):
        _value(file, kind)


def _text(file: BinaryIO) -> str:
    (length,) = _unpacked(file, "<Q")
    if length > LONGEST:
        raise ValueError("a text that is too long")
    text: bytes = _unpacked(file, f"<{length}s")[0]
    return text.decode(errors="replace")


def _unpacked(file: BinaryIO, form: str) -> tuple[Any, ...]:
    """Return values. Raises struct.error if the file ends too soon."""
    return struct.unpack(form, file.read(struct.calcsize(form)))
