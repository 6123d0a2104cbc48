"""Writes what the panel shares with Python, types of rows and icons: `npm run contract`.

The rows and commands of extensions are written with those of the core: what may be any
`ExtensionRow` in Python is one of the known rows in TypeScript.

Only this generation lives here. `python contract.py --check` writes nothing and exits
with 1 where a file in `src/generated` is not what Python says now.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from jupyter_toolcall.jupyter.panel_commands import Command  # noqa: E402
from jupyter_toolcall.teaching.panel_rows import TeachingCommand, TeachingRow  # noqa: E402
from jupyter_toolcall.view import contract as rows  # noqa: E402
from jupyter_toolcall.view.svg import SHAPES  # noqa: E402

TARGET = HERE / "src" / "generated"
EXTENSION_ROWS = {"TeachingRow": TeachingRow}
"""The rows that stand for `ExtensionRow`."""
FULL = """\
/** A row with all of its fields, and so the rows in it: what was left out has its default.
 * A text that is sent as a list is a text in the language of the page. */
export type Full<Row> =
  Row extends readonly unknown[]
    ? (unknown[] extends Row ? never : { readonly [Key in keyof Row]-?: Full<Row[Key]> })
    : Row extends object ? { readonly [Key in keyof Row]-?: Full<Row[Key]> } : Row;
"""
COMMENT = re.compile(r"/\*\*\n\s*\* (.*)\n\s*\*/")
HEAD = "// Generated from jupyter_toolcall/view by `npm run contract`. Do not edit.\n"


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


def old_style(part: Any) -> Any:
    """The same schema for a generator that knows tuples as lists of `items`, without titles.

    What stands beside a reference goes: it would make the generator name a second type.
    """
    match part:
        case {"$ref": str(target)}:
            return {"$ref": target}
        case {"prefixItems": items, **rest}:
            return old_style(rest) | {"items": [old_style(item) for item in items]}
        case dict():
            return {
                key: old_style(value)
                for key, value in part.items()
                if not (key == "title" and isinstance(value, str))
            }
        case list():
            return [old_style(item) for item in part]
        case _:
            return part


def spoken(part: dict[str, Any]) -> dict[str, Any]:
    """A closed record, in which the word that tells it from others is always there."""
    if "properties" not in part:
        return part
    always = [*part.get("required", ()), *(["type"] if "type" in part["properties"] else [])]
    return part | {"additionalProperties": False, "required": always}


def types(definitions: dict[str, Any]) -> str:
    """The interfaces, as json-schema-to-typescript writes them. Raises where it fails."""
    closed = {name: spoken(part) for name, part in definitions.items()}
    whole = {
        "title": "Contract",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"$ref": f"#/definitions/{name}"} for name in closed},
        "definitions": closed,
    }
    text = json.dumps(whole).replace("#/$defs/", "#/definitions/")
    # On Windows it is `json2ts.cmd`.
    tool = shutil.which("json2ts", path=HERE / "node_modules" / ".bin")
    done = subprocess.run(
        [str(tool), "--unknownAny", "--bannerComment", "", "--style.singleQuote"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    # Nobody needs the type of the whole, and a comment of one line stands on one, as elsewhere.
    unions, _, rest = done.stdout.partition(f"export interface {whole['title']} {{")
    return COMMENT.sub(r"/** \1 */", unions + rest.partition("\n}\n")[2])


def defaults(definitions: dict[str, Any]) -> str:
    """What a field that is left out on the wire stands for, row by row."""
    found = {
        name: {
            key: field["default"]
            for key, field in part.get("properties", {}).items()
            if "default" in field
        }
        | {
            key: {}
            for key, field in part.get("properties", {}).items()
            if "default" not in field
            and key not in part.get("required", ())
            and field.get("type") == "object"
        }
        for name, part in definitions.items()
    }
    body = json.dumps({name: part for name, part in found.items() if part}, indent=2)
    return f"export const VERSION = {rows.VERSION};\n\nexport const DEFAULTS = {body} as const;\n"


def full(definitions: dict[str, Any]) -> str:
    """The rows as the panel keeps them, each under the name of its row: `CallRow` is `FullCall`."""
    names = sorted(name for name in definitions if name.endswith("Row"))
    names.remove("ExtensionRow")  # It is the name of others.
    lines = (f"export type Full{name.removesuffix('Row')} = Full<{name}>;\n" for name in names)
    return f"{FULL}{''.join(lines)}"


def contract() -> str:
    """The whole text of `contract.ts`."""
    definitions = old_style(schema()["$defs"])
    return f"{HEAD}\n{types(definitions)}\n{full(definitions)}\n{defaults(definitions)}"


def icons() -> str:
    """The whole text of `icons.ts`."""
    names = {"ICONS": "icons", "GLYPHS": "glyphs", "STATE_ICONS": "states"}
    parts = ((name, SHAPES[key]) for name, key in names.items())
    ring = json.dumps(SHAPES["icons"]["ready"][0])
    texts = (
        f"export const {name} = {json.dumps(part, indent=2).replace(ring, 'RING')} as const;\n"
        for name, part in parts
    )
    return "\n".join([HEAD, f"const RING = {ring};\n", *texts])


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` say whether they are what they should be."""
    texts = {"contract.ts": contract(), "icons.ts": icons()}
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
