"""Large results of read-only tools that stay on a Dask cluster, and how calls there take them.

The pickle of such a result stays on its worker. So each call that takes it unpickles a copy of
its own, as if the result had come home first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import uuid4

from ..core.errors import Lost
from ..core.interrupts import attempt
from .value_digests import content_digest
from .worker_code import dumps

Stay: TypeAlias = tuple[float, str]
"""The bytes from which a result stays, and the id of the client that it stays for."""


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A result whose pickle stays on a worker."""

    key: str
    pickled_class: bytes
    kind: str
    """The name of its type, where the session has none for its class."""
    content: str
    size: int


@dataclass
class RemoteValue:
    """A value that stays on the cluster, as the kernel has it: one that it fetches when needed."""

    key: str
    cls: type
    kind: str
    content: str
    """The digest of its content."""
    client: Any = field(repr=False)
    future: Any = field(repr=False)
    compute_again: Callable[[], Any] | None = field(default=None, repr=False)
    """Runs the call again that returned it. Raises Lost."""
    lost: str = ""
    """Why it is lost for good; "" while it is on the cluster, or its call may return it again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _passed_value, (self.key,)

    def is_usable_on(self, executor: Executor | None) -> bool:
        """Return whether calls on an executor can take the value where it is."""
        if getattr(executor, "client", None) is not self.client:
            return False
        holders = attempt(lambda: self.client.who_has([self.future]))[0] or {}
        return bool(holders.get(self.key))

    def fetch(self) -> object:
        """Return the value. Where its worker is lost, its call runs again. Raises Lost."""
        if not self.lost and (pickled := self._pickled()) is not None:
            return pickle.loads(pickled)
        try:
            if self.lost or self.compute_again is None:
                raise Lost(self.lost or f"a {self.kind} is lost with the worker that held it")
            return self.compute_again()
        except Lost as error:
            self.lost = str(error)
            raise

    def _pickled(self) -> bytes | None:
        pickled: bytes | None = attempt(self.future.result)[0]
        return pickled

    def apply(self, function: Callable[[Any], Any]) -> Any:
        """Return what a function returns of the value; it runs where the value is.

        No tool runs for it: raises Lost where the worker is lost.
        """

        def there() -> Any:
            return self.client.submit(_apply, dumps(function), self.future, pure=False).result()

        result, raised = attempt(there)
        if not raised:
            return result
        if (pickled := self._pickled()) is None:
            raise Lost(f"a {self.kind} is lost with the worker that held it")
        return function(pickle.loads(pickled))


class Unchanged:
    """Stands for an argument that is on the cluster, and that its call did not change."""


@dataclass
class _PassedValue:
    pickled: bytes
    content: str
    value: Any = None


_PASSED: ContextVar[Mapping[str, _PassedValue]] = ContextVar("passed")
"""The values that the call in this thread takes from the cluster, by key."""


def _apply(function: bytes, pickled: bytes) -> object:
    return pickle.loads(function)(pickle.loads(pickled))


def run_with_values(sent: bytes, contents: Mapping[str, str], *pickled: bytes) -> object:
    """Unpickle, and so run, a call that takes values from the cluster.

    Arguments:
        sent: the pickled call.
        contents: the content digests of the values, by their keys.
        pickled: the pickles of the values, in the same order.
    """
    passed = map(_PassedValue, pickled, contents.values())
    token = _PASSED.set(dict(zip(contents, passed, strict=True)))
    try:
        return pickle.loads(sent)
    finally:
        _PASSED.reset(token)


def _passed_value(key: str) -> object:
    passed = _PASSED.get()[key]
    passed.value = pickle.loads(passed.pickled)
    return passed.value


def without_unchanged_arguments(end: Any) -> Any:
    """Return an end without the arguments that came from the cluster and are as they were."""
    passed = {id(argument.value): argument.content for argument in _PASSED.get({}).values()}
    # A result that may hold an argument is told from a copy of it by identity, in the kernel.
    is_held = any(value is end.result for value in end.objects)
    if not passed or is_held or attempt(end.result_kind)[0] is None:
        return end
    objects = [
        Unchanged if id(value) in passed and content_digest(value) == passed[id(value)] else value
        for value in end.objects
    ]
    return replace(end, objects=objects)


def pickled_result(end: Any, least: float) -> tuple[KeptResult, bytes] | None:
    """Return a result that stays on this worker, with its pickle; None where it does not."""
    result, kind = end.result, attempt(end.result_kind)[0]
    if end.error or not kind or hasattr(result, "text_label"):
        return None
    if any(value is result for value in end.objects):
        return None
    pickled = attempt(dumps, result)[0]
    if pickled is None or len(pickled) < least:
        return None
    # The kernel would take the digest of what it unpickles.
    content = attempt(lambda: content_digest(pickle.loads(pickled)))[0]
    if not content:
        return None
    key = f"result-{uuid4().hex}"
    return KeptResult(key, dumps(type(result)), kind, content, len(pickled)), pickled
