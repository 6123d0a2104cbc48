"""`jupyter toolcall serve NOTEBOOK`: runs a notebook's cells in a kernel of its own and serves its
session; a person decides in the terminal.

The kernel does everything; the terminal asks it what waits, and sends what the person decides.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import Unfinished
from ..core.json_data import exact_data, unique_keys
from ..core.recorded_data import JsonDict, JsonObject
from ..core.text import indented, print_text, printable, progress_bar
from ..storage.notebook_files import NotExecuted, cell_sources, read_notebook

POLL = 0.3
"""Seconds between two requests to the kernel."""
INPUT = "a[n]swer with its fields as JSON, [r]eject? "
CHOICES = "[a]pprove, [e]dit as JSON, a[n]swer as JSON, [r]eject? "
_SERVE_MODULE = f"__import__('importlib').import_module({f'{__package__}.serve_command'!r})"


def print_now(text: object) -> None:
    """Print a text at once, also where a program reads what this one prints."""
    print_text(text)
    sys.stdout.flush()


def serve_notebook(path: Path, port: int, session: str, ask: Callable[[str], str] = input) -> None:
    """Serve a notebook's session until the person ends it by Ctrl-C.

    Arguments:
        path: the notebook.
        port: the port; 0 for any free one.
        session: the name of the session; "" for the one that ran last.
        ask: asks the person for a line; raises EOFError where nobody can answer.

    Raises:
        NotExecuted: where a cell fails, or the session cannot be served.
    """
    sources = [source for source in cell_sources(path) if source]
    with _kernel(path) as kernel:
        with progress_bar(len(sources), path.name, "cell") as progress:
            for source in sources:
                if printed := kernel.run_cell(source):
                    print_now(printed)
                progress.update()
        options = [*(["-n", session] if session else []), *(["--port", str(port)] if port else [])]
        kernel.run_cell(" ".join(["%toolchat", "serve", *options]))
        print_now(kernel.value(f"{_SERVE_MODULE}.terminal_lines()"))
        print_now("You decide here on the calls that wait. Ctrl-C ends the server and the kernel.")
        Terminal(kernel, ask).run()


@dataclass
class Kernel:
    """The kernel of the notebook."""

    path: Path
    client: Any

    def run_cell(self, source: str) -> str:
        """Run a cell; return what it prints. A session that waits for a person is no error.

        Raises NotExecuted.
        """
        printed: list[str] = []

        def note(message: JsonObject) -> None:
            if message["msg_type"] == "stream":
                printed.append(str(message["content"]["text"]))

        reply = self.client.execute_interactive(source, allow_stdin=False, output_hook=note)
        content = reply["content"]
        if content["status"] != "ok" and content.get("ename") != Unfinished.__name__:
            raise NotExecuted(self.path, str(content.get("evalue", content["status"]))[:300])
        return "".join(printed).rstrip()

    def value(self, expression: str) -> Any:
        """Return the value of an expression, a literal. Raises NotExecuted."""
        reply = self.client.execute_interactive(
            "", silent=True, user_expressions={"value": expression}, allow_stdin=False
        )
        value = reply["content"].get("user_expressions", {}).get("value", {})
        if value.get("status") != "ok":
            raise NotExecuted(self.path, str(value.get("evalue", "the kernel does not answer")))
        return ast.literal_eval(value["data"]["text/plain"])


@contextmanager
def _kernel(path: Path) -> Iterator[Kernel]:
    """Start the kernel that a notebook names, in its folder; it ends with the block."""
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import KernelManager

    name = read_notebook(path).metadata.get("kernelspec", {}).get("name", "python3")
    manager = KernelManager(kernel_name=name)
    # This makes the kernel's notebook, and so its journals, the same as in a Jupyter server.
    environment = {**os.environ, "JPY_SESSION_NAME": str(path.resolve())}
    try:
        # The log of the kernel process would be printed between the questions.
        folder, log = str(path.resolve().parent), subprocess.DEVNULL
        manager.start_kernel(cwd=folder, env=environment, stderr=log)
    except NoSuchKernel:
        raise NotExecuted(path, f"this computer has no kernel {name!r:.80}") from None
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(path, client)
    except RuntimeError as error:
        raise NotExecuted(path, str(error)) from None
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@dataclass
class Terminal:
    """Shows the calls that wait, and asks the person to decide."""

    kernel: Kernel
    ask: Callable[[str], str]
    shown: int = 0
    """The number of calls whose results were shown."""
    attended: bool = True
    """Whether somebody answers in the terminal."""

    def run(self) -> None:
        """Show calls and ask about them until the person interrupts. Raises KeyboardInterrupt."""
        while True:
            if not self.step():
                time.sleep(POLL)

    def step(self) -> bool:
        """Show new results, and ask about the first call that waits; return whether one waited."""
        update = json.loads(self.kernel.value(f"{_SERVE_MODULE}.terminal_update({self.shown})"))
        for line in (*update["refused"], *update["ended"]):
            print_now(printable(str(line)))
        self.shown += len(update["ended"])
        if not update["waiting"] or not self.attended:
            return False
        try:
            self._decide(update["waiting"][0])
        except EOFError:
            self.attended = False
            print_now("Nobody answers in this terminal: calls that need a person wait.")
        return True

    def _decide(self, call: JsonObject) -> None:
        arguments = json.dumps(call["arguments"], indent=2, ensure_ascii=False)
        # A client chooses its name, and a server its question: neither adds a line of ours.
        print_now("\n" + printable(f"{call['by']} asks for {call['tool']}") + f"\n{arguments}")
        for text in call["about"]:
            print_now(indented(text))
        choice = self.ask(INPUT if call["asks"] else CHOICES).strip().lower()[:1]
        command = self._command(choice, call["arguments"])
        if command is None:
            return
        command |= {"call": call["call"], "approval_digest": call["approval_digest"]}
        self.kernel.value(f"{_SERVE_MODULE}.terminal_decision({json.dumps(command)!r})")

    def _command(self, choice: str, arguments: Mapping[str, object]) -> JsonDict | None:
        """Return the command of a choice; for no valid one print the reason, and return None."""
        try:
            return self._decision(choice, arguments)
        except ValueError as error:
            print_now(str(error))
            return None

    def _decision(self, choice: str, arguments: Mapping[str, object]) -> JsonDict | None:
        match choice:
            case "a":
                return {"type": "approve"}
            case "r":
                return {"type": "reject", "reason": self.ask("Reason: ")}
            case "n":
                text = self.ask("Result as JSON: ")
                result = exact_data(_json(text, text))
                return {"type": "answer", "result": result, "reason": ""}
            case "e":
                changed = _json(self.ask("All arguments as JSON: "), None)
                if isinstance(changed, dict):
                    left_out = [name for name in arguments if name not in changed]
                    exact = {name: exact_data(value) for name, value in changed.items()}
                    return {"type": "edit", "arguments": exact, "left_out": left_out, "reason": ""}
                print_now('arguments are a JSON object, such as {"shape": "SLICES"}')
            case _:
                print_now("please answer a, e, n or r")
        return None


def _json(text: str, default: object) -> object:
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError:
        return default
