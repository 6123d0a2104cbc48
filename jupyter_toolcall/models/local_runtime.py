"""The program that runs a local model: lines of JSON in, lines of JSON out.

The only file that imports `xllamacpp`. It is run as a process of its own, so that what
the runtime does to its process (a signal, a crash, a log, gigabytes of memory) is not done
to the kernel. It knows nothing of ours, and ends when its input does.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TextIO

BATCH = 128
"""Tokens of a prompt that are read at once; between two batches it can be stopped."""


def main(settings: dict[str, Any]) -> None:
    """Load a model, then answer one line after the other."""
    # What the runtime prints must not come between the lines of ours.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    server = loaded(settings)
    asked: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        message = asked.get()
        if "body" in message:
            _generate(server, message, out, lambda: not asked.empty())


def loaded(settings: dict[str, Any]) -> Any:
    """Return the runtime with the weights in it; what is wrong with them is in its log."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.verbosity = 1
    params.warmup = params.ui = params.endpoint_slots = False
    # It opens a port of this machine, whether it is used or not: nobody has the key.
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [secrets.token_hex(16)]
    return xllamacpp.Server(params)


def _listen(asked: SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        asked.put(json.loads(line))
    os._exit(0)


def _generate(
    server: Any, message: dict[str, Any], out: TextIO, stopped: Callable[[], bool]
) -> None:
    number, body = message["number"], message["body"]
    logged = os.fstat(2).st_size

    def write(message: dict[str, Any]) -> None:
        print(json.dumps({"number": number, **message}), file=out)

    def on_part(part: str) -> bool:
        # What is raised in here is lost, so nothing may be.
        try:
            if refusal := _grammar_error(logged):
                write({"error": {"message": refusal}})
                return True
            write(json.loads(part))
        except Exception as error:
            write({"error": {"message": str(error)}})
            return True
        return stopped()

    run = server.handle_chat_completions if "messages" in body else server.handle_completions
    more = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
    run(json.dumps({**body, **more, "cache_prompt": True}), on_part)
    write({"over": True})


def _grammar_error(logged: int) -> str:
    """Return why the grammar was refused since so many bytes of the log, "" if it was not.

    llama.cpp writes this to its log alone, and would generate without the grammar.
    """
    if not hasattr(os, "pread"):
        return ""
    log = os.pread(2, os.fstat(2).st_size - logged, logged).decode(errors="replace")
    return " ".join(log.partition("llg error: ")[2].split())


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
