"""What a kernel loads for `%load_ext` and for its first cell: nothing that takes long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("anthropic", "openai", "graphql", "jsonschema", "nbclient", "nbformat", "pandas")
RUN = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jupyter_toolcall")
print([name for name in ("pydantic_core", "jupyter_toolcall.session") if name in sys.modules])
shell.run_cell("from jupyter_toolcall.kitchen import Fries, Oven, Potato\\npotato = Potato()")
cell = "%%toolchat -m scripted:kitchen -t Potato Oven Fries -i potato --approve all\\nFry."
assert shell.run_cell(cell).error_before_exec is None
assert "jupyter_toolcall.session" in sys.modules
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_loading_the_extension_and_a_first_cell_load_nothing_heavy(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "[]"
    assert ran.stdout.splitlines()[-1].endswith("[]")
