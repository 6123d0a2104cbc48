"""Private copies of values: what pickle makes of the parts that their digests read."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from copy import deepcopy
from types import FunctionType, ModuleType
from typing import Any

from ..core.interrupts import attempt
from .value_digests import beside, deeply, is_frozen, is_local, pickled_by, reduced


def private(value: object, read_only: bool = False) -> tuple[Any, bool]:
    """Return a copy of a value that nobody else holds, and whether all of it could be copied.

    What cannot be pickled, such as a lock, is shared with the copy; so are classes, functions and
    modules. A value that is such a thing itself is returned as it is. A `read_only` copy of an
    array or a table shares its memory too, and who writes to that gets an error.
    """
    if is_frozen(value):
        return value, True
    if read_only and type(value).__module__.partition(".")[0] in _TABULAR:
        copied, raised = attempt(_copied, value, read_only=True)
        if not raised:
            return copied, True
    # Pickling calls methods of the value's class, which may raise anything.
    copied, raised = attempt(_copied, value)
    if raised == "RecursionError":
        copied, raised = attempt(deeply, _copied, value)
    if not raised:
        # A function, or pandas.NaT, is what its name leads to.
        named = issubclass(type(value), _SHARED) or type(attempt(reduced, value)[0]) is str
        return copied, copied is not value or named
    copied, raised = attempt(_copied, value, tolerant=True)
    return (value if raised else copied), False


_TABULAR = frozenset({"numpy", "pandas", "polars", "pyarrow"})
"""The libraries whose arrays and tables hold their data in memory that can be shared."""
_SHARED = (type, FunctionType, ModuleType)


def _copied(value: object, tolerant: bool = False, read_only: bool = False) -> object:
    copier = _Copier(tolerant)
    copier.dump(value)
    return _CopyReader(copier, read_only).load()


class _Copier(pickle.Pickler):
    """Pickles a value, except for what its copy shares with it.

    A `tolerant` one shares also what cannot be pickled. Of a class that is installed this is the
    whole value: a copy of an event loop over the same sockets would be neither of the two.
    """

    def __init__(self, tolerant: bool) -> None:
        self.data, self.shared = io.BytesIO(), list[Any]()
        self.buffers = list[pickle.PickleBuffer]()
        super().__init__(self.data, 5, buffer_callback=self.buffers.append)
        self.tolerant = tolerant

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is pickled that pickle does not know by itself."""
        if value is _shared_part:
            return NotImplemented
        cls: Any = type(value)
        if issubclass(cls, _SHARED):
            return self._share(value)
        flags = getattr(value, "flags", None) if cls.__module__ == "numpy" else None
        if not getattr(flags, "writeable", True):
            # A view of memory that was shared: what is recorded of it can be written to in copies.
            return value.copy().__reduce_ex__(5)
        is_own = is_local(cls.__module__)
        if is_own and _refuses_copies(value, cls):
            if self.tolerant:
                return self._share(value)
            raise TypeError(f"{cls.__name__} can't be copied")
        hook = pickled_by(cls)
        is_beside = (is_own or issubclass(cls, BaseException)) and hook is not object
        if is_beside and not is_local(hook.__module__):
            return _reduced_whole(value, cls, beside(value))
        if getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
            # Its slots of a base pickle itself could not set.
            return _reduced_whole(value, cls, {})
        if not self.tolerant:
            return _reduced_figure(value, cls)
        raised = attempt(*((reduced, value) if is_own else (_Copier(False).dump, value)))[1]
        return self._share(value) if raised else NotImplemented

    def _share(self, value: object) -> tuple[Callable[[int], object], tuple[int]]:
        self.shared.append(value)
        return _shared_part, (len(self.shared) - 1,)


def _shared_part(number: int) -> object:
    """Stand for a part that a value and its copy share; replaced while the copy is made."""
    raise RuntimeError(f"the shared part {number} is found only while a copy is made")


class _CopyReader(pickle.Unpickler):
    def __init__(self, copier: _Copier, read_only: bool) -> None:
        # Any other copy owns its memory: a tool may write to it.
        parts = (b.raw().toreadonly() if read_only else bytearray(b.raw()) for b in copier.buffers)
        super().__init__(io.BytesIO(copier.data.getvalue()), buffers=parts)
        self._shared = copier.shared

    def find_class(self, module: str, name: str) -> object:
        """Return what a pickle names; of a shared part the part itself."""
        if name == _shared_part.__name__ and module == __name__:
            return self._shared.__getitem__
        return super().find_class(module, name)


def _refuses_copies(value: Any, cls: Any) -> bool:
    """Return whether a class of the notebook says itself that there is only one of its value."""
    method = getattr(cls, "__deepcopy__", None)
    if is_local(getattr(method, "__module__", None) or "") and attempt(deepcopy, value)[1]:
        return True
    # A method of a registry would look for the value in a copy of that, which has it later.
    parts = cls.__reduce__ is not object.__reduce__ and attempt(reduced, value)[0]
    finder = getattr(parts[0], "__self__", None) if type(parts) is tuple else None
    return not isinstance(finder, (type, ModuleType, type(None)))


def _reduced_whole(value: object, cls: type, attributes: dict[str, Any]) -> object:
    """Reduce a value together with attributes that pickle would leave out, or could not set."""
    parts = reduced(value)
    if type(parts) is not tuple:
        return NotImplemented
    function, arguments, state, items, pairs = (*parts, *(None,) * 5)[:5]
    if pickled_by(cls).__module__ == "builtins" and issubclass(cls, BaseException):
        function, arguments = _new_error, (cls, arguments)
    return function, arguments, (state, attributes), items, pairs, _restore


def _new_error(cls: Any, arguments: tuple[Any, ...]) -> BaseException:
    """Make an error as its built-in base does: its own `__init__` may take other arguments."""
    error: BaseException = cls.__new__(cls, *arguments)
    base = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    base.__init__(error, *arguments)
    return error


def _restore(value: object, contents: tuple[object, dict[str, Any]]) -> None:
    """Give a copy its state, as pickle does, and its attributes."""
    state, attributes = contents
    if state is not None and hasattr(value, "__setstate__"):
        value.__setstate__(state)
        state = None
    for part in (*(state if type(state) is tuple else (state,)), attributes):
        for name, attribute in (part or {}).items():
            object.__setattr__(value, name, attribute)


def _reduced_figure(value: Any, cls: type) -> object:
    """Reduce a figure without its place in pyplot, which would show its copy beside it."""
    figures: Any = sys.modules.get("matplotlib.figure")
    if figures is None or not issubclass(cls, figures.Figure):
        return NotImplemented
    parts = value.__reduce_ex__(5)
    parts[2].pop("_restore_to_pylab", None)
    return parts
