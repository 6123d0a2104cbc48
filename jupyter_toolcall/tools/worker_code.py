"""The code of a tool in a worker process: how it is sent there, and whether it is the kernel's.

A function of a module is sent by its name, so a worker may have another version of it. It is
refused there before it runs. A function of a cell is sent itself, if cloudpickle is installed.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import NotRun
from ..core.interrupts import attempt
from .tool_version import PYTHON, parts_of


# A search for a package that is not installed would take longer than a short call.
@functools.cache
def _pickler() -> Any:
    """Return cloudpickle if it is installed, else pickle.

    cloudpickle comes with Dask. It sends the functions and classes of cells themselves, and not
    by their names.
    """
    try:
        import cloudpickle
    except ImportError:
        return pickle
    return cloudpickle


def dumps(value: object) -> bytes:
    """Return the pickle of a value."""
    return bytes(_pickler().dumps(value, pickle.HIGHEST_PROTOCOL))


@dataclass(frozen=True, slots=True)
class SentCode:
    """The code of a tool as the kernel has it. A worker that has other code runs nothing."""

    function: Callable[..., Any]
    owner: type | None
    parts: Mapping[str, str]

    def difference(self) -> str:
        """Return what is another one in this process; "" where all is the same."""
        parts = parts_of(self.function, self.owner)
        # What is installed on one side only is followed there and not here.
        names = sorted(name for name, part in self.parts.items() if parts.get(name, part) != part)
        return ", ".join(name or "its function" for name in names[:4])


_SENT_CODE: dict[str, bytes] = {}
"""The pickled code of tools by version, as this kernel sent it."""
_CHECKED: set[str] = set()
"""The versions of tools that this worker has."""


def sent_code(
    function: Callable[..., object], owner: type | None, version: str
) -> tuple[str, bytes]:
    """Return the version of a tool, with its module, and its code."""
    names = (getattr(function, name, "") for name in ("__module__", "__qualname__"))
    key = ":".join((PYTHON, *names, version))
    if key not in _SENT_CODE:
        # Code without a pickle is not compared; the call itself says what cannot be sent.
        code = attempt(lambda: SentCode(function, owner, parts_of(function, owner)))[0]
        _SENT_CODE[key] = attempt(dumps, code)[0] or b""
    return key, _SENT_CODE[key]


def missing_package(error: BaseException) -> str:
    """Return what to do where a worker cannot import this package, so that nothing ran."""
    package, text = __name__.partition(".")[0], str(error)
    # An engine of ipyparallel sends its error as a text.
    is_import = isinstance(error, ImportError) or "ModuleNotFoundError" in text
    if package not in text or not is_import:
        return ""
    return (
        f"a worker cannot import jupyter-toolcall ({text.splitlines()[0]:.120}); install the "
        "version that the kernel has on all workers"
    )


def check_code(version: str, code: bytes) -> None:
    """Raise NotRun where this worker has another version of a tool than the kernel."""
    if not code or version in _CHECKED:
        return
    python = version.partition(":")[0]
    if python != PYTHON:
        raise NotRun(f"not run: the worker has Python {PYTHON}, and the kernel {python}")
    difference = pickle.loads(code).difference()
    if difference:
        raise NotRun(
            f"not run: the worker has another version of the tool than the kernel ({difference}); "
            "restart the workers, with the code that the kernel has"
        )
    _CHECKED.add(version)
