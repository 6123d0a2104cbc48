"""A stand-in for the runtime of local models: what it says is told by the name of the file.

It speaks as the runtime does (chunks of JSON to a callback, which stops it by returning
True), and has none of its weights.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def CommonParams() -> SimpleNamespace:
    part = SimpleNamespace
    return part(model=part(path=""), cpuparams=part(n_threads=0), cpuparams_batch=part(n_threads=0))


class Server:
    def __init__(self, params: Any) -> None:
        self.does = os.path.basename(params.model.path).partition(".")[0]
        self.params = params
        print("the runtime prints what it likes", flush=True)
        if self.does == "bad":
            print(
                "0.1 E llama_model_load: error loading model: unknown architecture", file=sys.stderr
            )
            raise RuntimeError("Failed to init server, please check the input params.")

    def handle_completions(self, body: str, heard: Callable[[str], object]) -> None:
        asked = json.loads(body)
        if asked["prompt"].count("again") and self.does != "killed":
            self.say(asked, heard, "text")
        elif self.does == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.does == "small":
            error = {"type": "exceed_context_size_error", "message": "too long"}
            heard(json.dumps({"error": error}))
        elif self.does == "refuses":
            heard(json.dumps({"error": {"type": "x", "message": "failed to\nparse grammar"}}))
        elif self.does == "unbound":
            print("0.32 E llg error: at 2(8): no such rule", file=sys.stderr, flush=True)
            self.say(asked, heard, "text")
        elif self.does == "cut":
            heard(chunk({"text": "half a"}))
        elif self.does == "silent":
            os.kill(os.getppid(), signal.SIGINT)
            while not heard(json.dumps({"prompt_progress": {"processed": 1}})):
                pass
        elif self.does == "endless":
            while not heard(chunk({"text": "and on "})):
                pass
        else:
            self.say(asked, heard, "text")

    def handle_chat_completions(self, body: str, heard: Callable[[str], object]) -> None:
        self.say(json.loads(body), heard, "delta")

    def say(self, asked: dict[str, Any], heard: Callable[[str], object], where: str) -> None:
        threads = self.params.cpuparams.n_threads
        for word in ("Here ", "I am, ", f"on {threads} of {self.params.n_ctx}."):
            heard(chunk({where: {"content": word} if where == "delta" else word}))
        heard(chunk({where: {} if where == "delta" else ""}, "stop"))
        usage = {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 2},
        }
        heard(json.dumps({"choices": [], "usage": usage}))


def chunk(said: dict[str, Any], finish: str | None = None) -> str:
    return json.dumps({"choices": [{**said, "index": 0, "finish_reason": finish}]})
