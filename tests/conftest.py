"""What all tests share: data of their own, so that none reads the user's; a browser."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.examples import examples
from tests.forked_kernels import fork_kernels

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Machines are shared: how long a case takes says nothing of the law that it tries.
settings.register_profile("shared", deadline=None, max_examples=examples(40))
settings.load_profile("shared")
# Until all modules are imported.
gc.disable()
# Read where Dask is imported first.
if sys.platform == "linux":
    os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "forkserver"
# What a shell starts in the background ignores it, and would wait for the interrupts of tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    *("faults/test_faults.py", "session/test_verify_files.py", "teaching/test_answers.py"),
    *("jupyter/test_serve_in_kernel.py", "jupyter/test_trusted_notebooks.py"),
    *("models/test_claude_tools.py", "export/test_tutorials.py", "engine/test_remote_values.py"),
)
"""The files that take longest. They run first, so that no process waits for one at the end."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` starts: one more than cores, as many tests wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))
    for item in items:
        names = vars(getattr(item, "module", None) or object).keys()
        if {"examples", "FACTOR"} & names or hasattr(getattr(item, "obj", None), "hypothesis"):
            item.add_marker(pytest.mark.few)


def pytest_collection_finish() -> None:
    # No garbage collection looks at the modules again: that took a fifth of the tests' time.
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path_factory.mktemp("data")))
        fork_kernels(patch)
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run. What it needs is imported here, as most tests do without."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.rig import ARGUMENTS, chromium_path

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        yield browser
        browser.close()
