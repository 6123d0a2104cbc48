"""Which modules are the person's own: the notebook, and files that no installer put there."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig

_OURS = __name__.partition(".")[0]


def is_local(module: str) -> bool:
    """Return whether a module is written here: the notebook itself, or a file beside it."""
    root = module.partition(".")[0]
    if root in ("__main__", _OURS) or root in sys.stdlib_module_names:
        return root == "__main__"
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and _is_local(file)


@functools.lru_cache(1_024)
def _is_local(file: str) -> bool:
    return not os.path.realpath(file).startswith(_installed())


@functools.cache
def _installed() -> tuple[str, ...]:
    """Return the folders of what is installed."""
    found = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    library = {os.path.join(os.path.realpath(each), "") for each in found if "lib" in each.lower()}
    return tuple(library)
