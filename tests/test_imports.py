"""What is imported when, and what is said of a package that is missing: each in a new process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CELL = "%%toolchat -m scripted:kitchen -t Potato Oven Fries -i potato --approve all\\nFry."
SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jupyter_toolcall")
"""
LIGHT: dict[str, tuple[str, tuple[str, ...]]] = {
    "the extension": (SHELL, ("pydantic_core", "jupyter_toolcall.session")),
    "a first cell": (
        f"{SHELL}shell.run_cell('from jupyter_toolcall.kitchen import *; potato = Potato()')\n"
        f'shell.run_cell("{CELL}").raise_error(); jupyter_toolcall.session',
        ("anthropic", "openai", "graphql", "jsonschema", "nbclient", "nbformat", "pandas"),
    ),
    "the list of models": (
        "import pathlib\n"
        "from jupyter_toolcall.models.named import models, table\n"
        "print(table(models({'ANTHROPIC_API_KEY': 'x'}, pathlib.Path('.')), ''))",
        ("anthropic", "openai", "xllamacpp", "nbformat"),
    ),
    "the toolsets": ("import jupyter_toolcall.toolsets", ("pydantic",)),
    "the toolset of tables": (
        "from jupyter_toolcall.toolsets import tables",
        ("pandas", "polars", "pyarrow", "duckdb", "matplotlib"),
    ),
    "a model that was not called": (
        "from jupyter_toolcall.models.anthropic import Claude\n"
        "from jupyter_toolcall.models.openai import OpenAI\n"
        "Claude('claude-opus-5-5'), OpenAI('gpt')",
        ("anthropic", "openai", "httpx2"),
    ),
}
"""Programs, and the modules that none of them imports."""


def printed(program: str, folder: Path) -> list[str]:
    """Return the lines that a program prints."""
    command = [sys.executable, "-c", f"import sys\nimport jupyter_toolcall\n{program}"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize("what", LIGHT)
def test_nothing_heavy_is_imported_for(what: str, tmp_path: Path) -> None:
    program, heavy = LIGHT[what]
    look = f"print([name for name in {heavy!r} if name in sys.modules])"
    # A shell that runs a cell writes `Out[1]: ` in front.
    assert printed(f"{program}\n{look}", tmp_path)[-1].endswith("[]")


MISSING: list[tuple[str, str, str]] = [
    (
        "graphql",
        "jupyter_toolcall.from_graphql('type Query { a: Int }')",
        "from_graphql needs graphql-core: pip install graphql-core",
    ),
    (
        "mcp",
        "import asyncio\n"
        "    from jupyter_toolcall.jupyter import serve_command\n"
        "    async def serve(): serve_command.Serving(None)._start('', 0)\n"
        "    asyncio.run(serve())",
        "serve needs the package mcp: pip install mcp",
    ),
    (
        "duckdb",
        "from jupyter_toolcall.toolsets import tables\n"
        "    jupyter_toolcall.Toolbox(*tables.sources)",
        "the toolset tables needs duckdb: pip install duckdb pyarrow",
    ),
    (
        "openai",
        "from jupyter_toolcall.models.openai import OpenAI\n"
        "    session = jupyter_toolcall.Session(jupyter_toolcall.Toolbox(), "
        "OpenAI('m', base_url='http://localhost/v1'))\n"
        "    session.tell('Hello')",
        "this model needs the openai package: pip install openai",
    ),
]


@pytest.mark.parametrize(("module", "program", "error"), MISSING)
def test_a_package_that_is_missing_is_named_with_what_to_install(
    module: str, program: str, error: str, tmp_path: Path
) -> None:
    tried = f"try:\n    {program}\nexcept Exception as error:\n    print(error)"
    assert printed(f"sys.modules[{module!r}] = None\n{tried}", tmp_path)[-1] == error
