"""The parts of the reference that are generated from the code.

A page names a part in a comment, `<!-- generated: options -->`, and gets it as Markdown there, in
place of the line below it: that line is for who reads the page as a file.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import nbformat

from docs._ext.error_texts import error_texts
from jupyter_toolcall import cli
from jupyter_toolcall.compare import comparison_rows
from jupyter_toolcall.core.rows import Row
from jupyter_toolcall.export.formats import FORMATS
from jupyter_toolcall.jupyter.magics import ToolChat
from jupyter_toolcall.jupyter.options import parser
from jupyter_toolcall.jupyter.serve_command import register_serving
from jupyter_toolcall.jupyter.subcommands import subcommands_help
from jupyter_toolcall.models.named import PROVIDERS
from jupyter_toolcall.teaching import PREDICT, register_teaching
from jupyter_toolcall.view import contract_rows, decision_contract, graph_rows

LESSONS = Path(__file__).parents[2] / "notebooks"
SYSTEMS = Path(__file__).parents[1] / "reference" / "five-systems.toml"
_GOAL = re.compile(r"^\*\*After this(?: lesson)? you know ?(.*?)\*\*")
"""How a lesson begins."""
_PLACE = re.compile(r"^<!-- generated: (\w+) -->\n\*.+\*$", re.MULTILINE)
_LIMITED = re.compile(r"Annotated\[(.+), Field\(.*\)\]")
"""The type of a field that has a limit."""
_ENTRY = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")
_CODE = re.compile(
    r"(?<![\w`%|'-])(%config \w+\.\w+ = \w+|-m person|--?[a-z][\w-]*|%%?[a-z]\w*(?: [a-z]+)?"
    r"|@tool\([^)]*\)|\w+\.\w+ = \w+|exercises/NAME\.md|mcp:NAME|files:FOLDER)"
)
"""What stands for code in a help text: an option, a magic, a decorator."""
_CONTINUED = re.compile(r"^ {20,}(\S.*)$")


def options() -> str:
    """Return the options of `%%toolchat` as a table."""
    register_teaching()
    return _table(("option", "meaning"), _option_rows(parser()))


def subcommands() -> str:
    """Return the subcommands of `%toolchat` as a table."""
    register_teaching()
    register_serving()
    rows: list[list[str]] = []
    for line in subcommands_help().splitlines()[1:]:
        if continued := _CONTINUED.match(line):
            rows[-1][1] += f" {continued[1]}"
        elif entry := _ENTRY.match(line):
            rows.append([f"`%toolchat {entry[1]}`", entry[2] or ""])
    return _table(("subcommand", "what it does"), [[name, _with_code(what)] for name, what in rows])


def settings() -> str:
    """Return the settings of `%config ToolChat` as a table."""
    traits = ToolChat.class_traits(config=True)
    rows = [
        [f"`{name}`", f"`{trait.default()!r}`", str(trait.help)] for name, trait in traits.items()
    ]
    rows.append([f"`{PREDICT.name}`", "`False`", PREDICT.setting])
    return _table(("setting", "default", "meaning"), rows)


def formats() -> str:
    """Return the formats of an export as a table."""
    rows = [
        [f"`{each.name}`", ", ".join(f"`{ending}`" for ending in each.endings), each.what]
        for each in FORMATS.values()
    ]
    return _table(("format", "endings", "what it is"), rows)


def lessons() -> str:
    """Return the lessons as a table: the title of each, and what one knows after it."""
    rows = []
    for path in sorted(LESSONS.glob("[0-9]*.ipynb")):
        first = next(c for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")
        title, about = first.source.partition("\n\n*Lesson")[0].split("\n\n", 1)
        listed = "; ".join(re.findall(r"^- (.*)$", about, re.MULTILINE))
        known = listed or _GOAL.sub(r"\1", " ".join(about.split())).strip()
        number = int(path.name[:2])
        rows.append([f"[{number}. {title.removeprefix('# ')}]({path.name})", known])
    return _table(("lesson", "after it you know"), rows)


def rows() -> str:
    """Return a table of its fields for each type of row in a saved session."""
    from sphinx.pycode import ModuleAnalyzer

    tables = list[str]()
    for module in (contract_rows, decision_contract, comparison_rows, graph_rows):
        notes = ModuleAnalyzer.for_module(module.__name__).find_attr_docs()
        types = [value for value in vars(module).values() if isinstance(value, type)]
        own = (row for row in types if issubclass(row, Row) and row.__module__ == module.__name__)
        tables += [_row_type(row, notes) for row in own]
    return "\n\n".join(tables)


def _row_type(row: Any, notes: Mapping[tuple[str, str], list[str]]) -> str:
    cells = [
        [f"`{each.name}`", f"`{kind}`", " ".join(notes.get((row.__name__, each.name), ()))]
        for each in fields(row)
        for kind in [_LIMITED.sub(r"\1", str(each.type))]
    ]
    about = " ".join((row.__doc__ or "").split())
    return f"### {row.__name__}\n\n{about}\n\n{_table(('field', 'type', 'meaning'), cells)}"


def five_systems() -> str:
    """Return a section for each of the five systems: its rules, their files and their tests."""
    return "\n\n".join(map(_system, tomllib.loads(SYSTEMS.read_text(encoding="utf-8"))["systems"]))


def errors() -> str:
    """Return a section for each part of the package: the texts of its errors, as a list."""
    parts = (
        "\n".join((f"### {area}\n", *(f"- ``` {text} ```" for text in texts)))
        for area, texts in error_texts().items()
    )
    return "\n\n".join(parts)


def _system(system: Mapping[str, Any]) -> str:
    cells = [
        [rule["says"], _as_code(rule["files"]), _as_code(rule["tests"])] for rule in system["rules"]
    ]
    table = _table(("rule", "files", "tests"), cells)
    return f"## {system['title']}\n\n{system['about']}\n\n{table}"


def _as_code(texts: Iterable[str]) -> str:
    return "<br>".join(f"`{text}`" for text in texts)


def providers() -> str:
    """Return where models come from as a table."""
    rows = []
    for name, each in PROVIDERS.items():
        needs = [f"`pip install './jupyter-toolcall[{each.extra}]'`"] if each.extra else []
        needs += [" or ".join(f"`{key}`" for key in each.keys)] if each.keys else []
        written = f"`{name}:{each.word}`" if each.word else f"`{name}`"
        rows.append([written, each.what, ", ".join(needs) or "nothing"])
    return _table(("name", "what it is", "what it needs"), rows)


def commands() -> str:
    """Return a section for each command of `jupyter toolcall`."""
    root = cli.parser()
    (actions,) = (a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    return "\n\n".join(_command(name, each) for name, each in actions.choices.items())


def _command(name: str, command: argparse.ArgumentParser) -> str:
    usage = " ".join(command.format_usage().removeprefix("usage: ").split())
    what = (command.description or "").strip()
    rows = _option_rows(command, skipped=("-h",))
    table = _table(("argument", "meaning"), rows)
    return f"## {name}\n\n{what[:1].upper()}{what[1:]}.\n\n```text\n{usage}\n```\n\n{table}"


def _option_rows(command: argparse.ArgumentParser, skipped: Iterable[str] = ()) -> list[list[str]]:
    """Return a row for each argument: how it is written, and its help."""
    rows = []
    for action in command._actions:
        if {*skipped} & {*action.option_strings}:
            continue
        value = action.metavar or (action.choices and "|".join(action.choices))
        value = value or ("" if action.nargs == 0 else action.dest.upper())
        more = "…" if action.nargs == "+" else ""
        names = ", ".join(f"`{name}`" for name in action.option_strings)
        written = f"{names} `{value}{more}`" if names and value else names or f"`{value}{more}`"
        rows.append([written, _help(action)])
    return rows


def _help(action: argparse.Action) -> str:
    """Return the help of an argument as argparse prints it, with its default."""
    text = _with_code((action.help or "").replace("%%", "%"))
    shown = action.default if isinstance(action.default, (str, int)) else ""
    has_default = shown not in ("", None, False, True, argparse.SUPPRESS) and "default" not in text
    return f"{text} (default: `{shown}`)" if has_default else text


def _with_code(text: str) -> str:
    """Return a help text with what is code marked as such."""
    return _CODE.sub(r"`\1`", text)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        escaped = (cell.replace("|", r"\|") for cell in cells)
        return f"| {' | '.join(escaped)} |"

    heads = list(heads)
    return "\n".join([line(heads), line("---" for _ in heads), *map(line, rows)])


PARTS: Mapping[str, Callable[[], str]] = {
    part.__name__: part
    for part in (
        *(options, subcommands, settings, formats, lessons, rows, providers, commands),
        five_systems,
        errors,
    )
}


def with_generated_parts(text: str) -> str:
    """Return a page with its generated parts."""
    return _PLACE.sub(lambda place: PARTS[place[1]](), text)


def fill_in(app: Any, docname: str, source: list[str]) -> None:
    """Fill a page's generated parts in."""
    source[0] = with_generated_parts(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
