"""Writes what the panel shares with Python, readers of rows and icons: `npm run contract`.

The rows and commands of extensions are written with those of the core: what may be any
`ExtensionRow` in Python is one of these rows in TypeScript.

Only this generation lives here. `python contract.py --check` writes nothing and exits
with 1 where a file in `src/generated` is not what Python says now.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from jupyter_toolcall.jupyter.panel_commands import Command  # noqa: E402
from jupyter_toolcall.teaching.panel_rows import TeachingCommand, TeachingRow  # noqa: E402
from jupyter_toolcall.view import contract as rows  # noqa: E402

TARGET = HERE / "src" / "generated"
EXTENSION_ROWS = {"TeachingRow": TeachingRow}
"""The rows that stand for `ExtensionRow`."""
HEAD = "// Generated from jupyter_toolcall/view, where the docstrings are, by `npm run contract`.\n"
COMMAND = """\
export type Command = { [Type in keyof Commands]: { type: Type } & Commands[Type] }[keyof Commands];
"""
WIDTH = 140
"""Characters of a line of fields, at most."""
LIMITS = {
    "maxLength": "text => text.length <= {}",
    "pattern": "text => /{}/.test(text)",
    "minimum": "number => number >= {}",
}
"""Of a text or a number, how TypeScript says what a keyword of JSON Schema says."""


def schema() -> dict[str, Any]:
    """The JSON Schema of everything that crosses the wire or is saved."""
    names = ("Notice", "Command", "Saved", *EXTENSION_ROWS)
    commands = Command | TeachingCommand
    one = TypeAdapter(tuple[rows.Notice, commands, rows.Saved, *EXTENSION_ROWS.values()])  # type: ignore[valid-type]
    whole = one.json_schema(ref_template="#/$defs/{model}")
    extensions = [{"$ref": f"#/$defs/{name}"} for name in EXTENSION_ROWS]
    whole["$defs"]["ExtensionRow"] = (
        extensions[0] if len(extensions) == 1 else {"anyOf": extensions}
    )
    named = dict(zip(names, whole["prefixItems"], strict=True))
    named = {name: part for name, part in named.items() if part != {"$ref": f"#/$defs/{name}"}}
    return {"$defs": whole["$defs"] | named}


def words(part: Any) -> list[str]:
    """The words of a closed choice; none for anything else."""
    match part:
        case {"const": word}:
            return [json.dumps(word)]
        case {"enum": choices}:
            return [json.dumps(word) for word in choices]
        case {"anyOf": parts} if all(map(words, parts)):
            return [word for one in parts for word in words(one)]
    return []


def reader(part: Any) -> str:
    """The reader of what a schema describes. Raises ValueError for a schema that has none."""
    match part:
        case {"$ref": str(target)}:
            return target.rpartition("/")[2]
        case _ if choices := words(part):
            return f"oneOf({', '.join(choices)})"
        case {"anyOf": [{"type": "string"}, {"type": "array"}]}:
            return "text"
        case {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]}:
            return "nullable(text)"
        case {"anyOf": [inner, {"type": "null"}]}:
            return f"nullable({reader(inner)})"
        case {"anyOf": parts}:
            return f"union({', '.join(map(reader, parts))})"
        case {"prefixItems": items}:
            return f"tuple({', '.join(map(entry, items))})"
        case {"items": item}:
            most = f", {part['maxItems']}" if "maxItems" in part else ""
            return f"list({entry(item)}{most})"
        case {"additionalProperties": True}:
            return "mapping(json)"
        case {"additionalProperties": item}:
            return f"mapping({reader(item)})"
        case {"type": "string" | "boolean" | "integer" | "number" as kind}:
            limits = (LIMITS[key].format(part[key]) for key in LIMITS if key in part)
            plain = "text" if kind == "string" else kind
            return "".join([plain, *(f".where({limit})" for limit in limits)])
    raise ValueError(f"no reader for {part}")


def entry(part: Any) -> str:
    """The reader of an entry of a list. A text has a standard: the others keep their places."""
    kind = reader(part)
    return f'{kind}.or("")' if kind.startswith("text") else kind


def field(part: Any, required: bool) -> str:
    """The reader of a field. The word that tells a record from others is always there."""
    match part:
        case {"const": _}:
            return reader(part)
        case {"type": "object"} | {"$ref": _} if not required:
            return f"{reader(part)}.orEmpty()"
        case {"default": standard}:
            return f"{reader(part)}.or({json.dumps(standard)})"
    return reader(part)


def record(part: dict[str, Any], kind: str = "record") -> str:
    """The reader of a record; its fields fill lines, since nobody reads them but a compiler."""
    required = part.get("required", ())
    fields = part["properties"].items()
    texts = [f"{name}: {field(value, name in required)}" for name, value in fields]
    lines = [""]
    for text in texts:
        if len(lines[-1]) + len(text) > WIDTH:
            lines.append("")
        lines[-1] += f" {text},"
    body = "\n ".join(lines).removesuffix(",").strip()
    return f"{kind}({{\n  {body}\n}})" if len(lines) > 1 else f"{kind}({{ {body} }})"


def needed(part: Any) -> Iterator[str]:
    """Yield the names of the definitions that a part of a schema names."""
    yield from re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(part))


def in_order(names: Iterable[str], definitions: dict[str, Any]) -> dict[str, None]:
    """The names of definitions, and before each those that it names."""
    found: dict[str, None] = {}
    for name in names:
        found |= in_order(needed(definitions[name]), definitions) | {name: None}
    return found


def readers(definitions: dict[str, Any]) -> Iterator[str]:
    """Yield the reader of each record and union that arrives, and its type."""
    for name in in_order(["Notice"], definitions):
        part = definitions[name]
        kind = "tables" if name == "Rows" else "record"
        if kind == "tables":
            fields = {table: one["items"] for table, one in part["properties"].items()}
            part = part | {"properties": fields, "required": [*fields]}
        body = record(part, kind) if "properties" in part else reader(part)
        yield f"export const {name} = {body};\n"
        yield f"export type {name} = Read<typeof {name}>;\n"


def sent(part: Any) -> str:
    """The type of what a schema describes, in a command."""
    match part:
        case {"$ref": str(target)}:
            return target.rpartition("/")[2]
        case _ if choices := words(part):
            return " | ".join(choices)
        case {"items": item}:
            return f"readonly {sent(item)}[]"
        case {"type": "object"}:
            return "Readonly<Record<string, unknown>>"
        case {"type": "integer"}:
            return "number"
    return str(part.get("type", "unknown"))


def sent_fields(part: dict[str, Any], shown: Iterable[str] = ()) -> str:
    """The fields of a command, without the word that tells it from others.

    One that has the fields of a `ShownCall`, which are named, has them from there.
    """
    required, properties = part.get("required", ()), part["properties"]
    base = {*shown} if properties.keys() > {*shown} else set[str]()
    own = [name for name in properties if name not in {"type", *base}]
    marks = {name: "" if name in required else "?" for name in own}
    texts = (f"{name}{marks[name]}: {sent(properties[name])}" for name in own)
    fields = f"{{ {'; '.join(texts)} }}" if own else ""
    return " & ".join(filter(None, ["ShownCall" if base else "", fields])) or "object"


def commands(definitions: dict[str, Any]) -> Iterator[str]:
    """Yield the types of what the panel sends: the fields of each command, by its `type`."""
    call = definitions["ShownCall"]
    read, known = in_order(["Notice"], definitions), {*needed(definitions["Command"])}
    parts = {part for name in known for part in needed(definitions[name])} | {"ShownCall"}
    for name in sorted(parts - {*read, *known}):
        part = definitions[name]
        yield f"export interface {name} {sent_fields(part)}\n\n"
    yield "/** What the panel sends: the fields of each command, by its type. */\n"
    yield "export interface Commands {\n"
    for name in sorted(needed(definitions["Command"])):
        part = definitions[name]
        fields = sent_fields(part, call["required"])
        yield f"  {part['properties']['type']['const']}: {fields};\n"
    yield "}\n"
    yield COMMAND


def contract() -> str:
    """The whole text of `contract.ts`."""
    definitions = schema()["$defs"]
    texts = ("".join(readers(definitions)), "".join(commands(definitions)))
    names = "boolean, integer, json, list, mapping, nullable, number, oneOf, record, tables, text"
    imports = f"import {{ {names}, tuple, type Read, union }} from '../view/reader';\n"
    version = f"export const VERSION = {rows.VERSION};\n"
    return "\n".join([HEAD + imports, version, *texts])


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` say whether they are what they should be."""
    texts = {"contract.ts": contract()}
    if "--check" in arguments:
        old = [name for name, text in texts.items() if text != _read(TARGET / name)]
        word = f"{', '.join(old)}: old, npm run contract" if old else "contract.ts is up to date"
        sys.stdout.write(f"{word}\n")
        return 1 if old else 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (TARGET / name).write_text(text, encoding="utf-8")
    return 0


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
