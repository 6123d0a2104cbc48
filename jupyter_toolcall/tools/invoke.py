"""Calling a tool's function: a sync one here and now, an async one on one private loop.

The loop's thread is started when the first async tool runs. An interrupt reaches an
async tool as the cancellation of its task.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import wait
from typing import Any

TICK = 0.05
"""Seconds: how soon an interrupt of the main thread is seen while an async tool runs."""


def invoke(function: Callable[..., Any], first: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
    """Return what a function returns, awaited where it is async; raises what it raises."""
    result = function(*first, **values)
    return _await(result) if inspect.isawaitable(result) else result


def _await(task: Awaitable[Any]) -> Any:
    future = asyncio.run_coroutine_threadsafe(_settled(task), _loop())
    try:
        while not future.done():
            wait([future], TICK)
    except KeyboardInterrupt:
        future.cancel()
        raise
    result, error = future.result()
    if error is not None:
        raise error
    return result


async def _settled(task: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return what a task came to; what it raises must not end the loop's thread."""
    try:
        return await task, None
    except BaseException as error:
        return None, error


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="toolcall-async", daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):
    # The thread is not in a child: its first async tool starts one.
    os.register_at_fork(after_in_child=_loop.cache_clear)
