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
LIGHT: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "a first cell": (
        (SHELL, ("pydantic_core", "jupyter_toolcall.session")),
        (
            "shell.run_cell('from jupyter_toolcall.kitchen import *; potato = Potato()')\n"
            f'shell.run_cell("{CELL}").raise_error(); jupyter_toolcall.session',
            ("anthropic", "openai", "graphql", "jsonschema", "nbclient", "nbformat", "pandas"),
        ),
    ),
    "toolsets and models": (
        ("import jupyter_toolcall.toolsets", ("pydantic",)),
        (
            "from jupyter_toolcall.toolsets import tables",
            ("pandas", "polars", "pyarrow", "duckdb", "matplotlib"),
        ),
        (
            "import pathlib\n"
            "from jupyter_toolcall.models.named import models, table\n"
            "table(models({'ANTHROPIC_API_KEY': 'x'}, pathlib.Path('.')), '')",
            ("anthropic", "openai", "xllamacpp", "nbformat"),
        ),
        (
            "from jupyter_toolcall.models.anthropic import Claude\n"
            "from jupyter_toolcall.models.openai import OpenAI\n"
            "Claude('claude-opus-5-5'), OpenAI('gpt')",
            ("anthropic", "openai", "httpx2"),
        ),
    ),
}
"""Of each process, steps in their order, and the modules that none of them has imported by then."""


def printed(program: str, folder: Path) -> list[str]:
    """Return the lines that a program prints."""
    command = [sys.executable, "-c", f"import sys\nimport jupyter_toolcall\n{program}"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize("what", LIGHT)
def test_nothing_heavy_is_imported_for(what: str, tmp_path: Path) -> None:
    # A shell that runs a cell leaves a line unfinished.
    looks = [
        f"{step}\nprint(); print([name for name in {heavy!r} if name in sys.modules])"
        for step, heavy in LIGHT[what]
    ]
    lines = [line for line in printed("\n".join(looks), tmp_path) if line.endswith("]")]
    assert lines == ["[]"] * len(looks)


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


def test_a_package_that_is_missing_is_named_with_what_to_install(tmp_path: Path) -> None:
    tried = [
        f"sys.modules[{module!r}] = None\n"
        f"try:\n    {program}\nexcept Exception as error:\n    print(error)"
        for module, program, _ in MISSING
    ]
    assert printed("\n".join(tried), tmp_path) == [error for *_, error in MISSING]
