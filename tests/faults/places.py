"""Where a part of the harness keeps its files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DATA = "JUPYTER_TOOLCALL_DATA"


@contextmanager
def data_directory() -> Iterator[Path]:
    """A data directory of its own, in memory where that can be: a kill loses no cache."""
    memory, before = Path("/dev/shm"), os.environ.get(DATA)
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    os.environ[DATA] = str(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if before is None:
            del os.environ[DATA]
        else:
            os.environ[DATA] = before
