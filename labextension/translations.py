"""Writes the catalogue of the interface's texts, and each language's: `make translations`.

The texts are read from the sources: `t(…)` and `tn(…)` in TypeScript and Python, and the
titles in the schema of the settings. A language is a folder of `jupyter_toolcall/locale`, named
as JupyterLab names it (`de_DE`): its `.po` file is for translators, the `.json` beside it, which is
made from that, is what JupyterLab and the kernel read.

`python translations.py --check` writes nothing and exits with 1 where a file is not up to date, and
where a language is not complete.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.plurals import get_plural
from babel.messages.pofile import read_po, write_po

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "jupyter_toolcall"
sys.path.insert(0, str(HERE.parent))

from jupyter_toolcall.engine.call_warnings import WarningKind  # noqa: E402

DOMAIN = "jupyter_toolcall"
LOCALE = PACKAGE / "locale"
TEMPLATE = LOCALE / f"{DOMAIN}.pot"
SETTINGS = "schema/plugin.json"
TEXT_KEYS = ("title", "description", "label", "jupyter.lab.setting-icon-label")
PLACE = re.compile(r"%\d")
CATEGORIES = ("zero", "one", "two", "few", "many", "other")
"""The names of plural forms, in the order of a catalogue."""


class Text(NamedTuple):
    """A text of the interface, or two for one and for many, and the file that has it."""

    path: str
    english: tuple[str, ...]


def texts() -> Iterator[Text]:
    """Yield the texts of the interface, in the order of the files."""
    done = subprocess.run(
        ["node", "texts.mjs"], cwd=HERE, capture_output=True, encoding="utf-8", check=True
    )
    for path, _, *english in json.loads(done.stdout):
        yield Text(f"labextension/{path}", tuple(english))
    schema = json.loads((HERE / SETTINGS).read_text(encoding="utf-8"))
    for english in _titles(schema):
        yield Text(f"labextension/{SETTINGS}", (english,))
    # The file that defines `t` and `tn` passes texts on, and has none of its own.
    for path in sorted({*PACKAGE.rglob("*.py")} - {PACKAGE / "core" / "interface_text.py"}):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (english := _texts_of_call(node, path)):
                yield Text(path.relative_to(HERE.parent).as_posix(), english)
    for english in get_args(WarningKind):
        yield Text("jupyter_toolcall/view/contract_rows.py", (english,))


def _titles(schema: Any) -> Iterator[str]:
    """Yield the texts of a schema that `translatedSchema` in `lab/settings.ts` translates."""
    parts = schema.items() if isinstance(schema, dict) else enumerate(schema)
    for key, part in parts:
        if isinstance(part, str) and key in TEXT_KEYS:
            yield part
        elif isinstance(part, (dict, list)):
            yield from _titles(part)


def _texts_of_call(call: ast.Call, path: Path) -> tuple[str, ...]:
    """Return the texts of a call of `t` or `tn`; none for another call.

    Raises ValueError for a text that is computed, which no catalogue can have.
    """
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    given = call.args[: {"t": 1, "tn": 2}.get(name, 0)]
    english = [each.value for each in given if isinstance(each, ast.Constant)]
    if len(english) < len(given):
        raise ValueError(f"{path}, line {call.lineno}: {name} needs its texts as they are")
    return tuple(map(str, english))


def template() -> Catalog:
    """Return the catalogue of all English texts."""
    catalog = Catalog(project="jupyter-toolcall", charset="utf-8", fuzzy=False)
    for text in texts():
        known = catalog.get(text.english[0])
        plural = len(text.english) == 1 and known is not None and known.pluralizable
        message = catalog.add(known.id if plural else _id(text.english), locations=[(text.path, 0)])
        # `%` is a percent sign here.
        message.flags.discard("python-format")
    return catalog


def _id(english: tuple[str, ...]) -> Any:
    return english[0] if len(english) == 1 else english


def language(folder: Path, english: Catalog) -> Catalog:
    """Return the catalogue of a language: what is translated so far, and what is not."""
    path = _po(folder)
    locale = Locale.parse(folder.name)
    old = Catalog(locale=locale)
    if path.exists():
        old = read_po(io.BytesIO(path.read_bytes()), locale=locale)
    catalog = Catalog(locale=locale, project="jupyter-toolcall", charset="utf-8", fuzzy=False)
    for message in english:
        if message.id:
            known = old.get(message.id if isinstance(message.id, str) else message.id[0])
            fits = known is not None and known.pluralizable == message.pluralizable
            text = known.string if known is not None and fits else _nothing(message, catalog)
            catalog.add(message.id, text, locations=message.locations).flags.clear()
    return catalog


def _nothing(message: Message, catalog: Catalog) -> Any:
    return ("",) * catalog.num_plurals if message.pluralizable else ""


def faults(catalog: Catalog) -> Iterator[str]:
    """Yield what is not translated, and where a translation has other placeholders."""
    for message in catalog:
        if not message.id:
            continue
        english = message.id if message.pluralizable else (message.id,)
        forms = message.string if message.pluralizable else (message.string,)
        places = {*PLACE.findall(english[-1])}
        for form in forms:
            if not form:
                yield f"{english[0]!r} is not translated"
            # The form for one may say the number in a word.
            elif not ({*PLACE.findall(form)} == places or form is forms[0] != forms[-1]):
                yield f"{english[0]!r} has other placeholders in {form!r}"


def po_text(catalog: Catalog) -> str:
    """Return a catalogue as the text of its file, without what changes each time."""
    catalog.header_comment = "# Texts of jupyter-toolcall. Written by `make translations`."
    file = io.BytesIO()
    write_po(file, catalog, sort_output=True, omit_header=False, include_lineno=False, width=100)
    dates = re.compile(r'^"(POT-Creation|PO-Revision)-Date:.*\n', re.MULTILINE)
    other = re.compile(
        r'^"(Last-Translator|Language-Team|Report-Msgid|Generated-By).*\n', re.MULTILINE
    )
    return other.sub("", dates.sub("", file.getvalue().decode()))


def json_text(catalog: Catalog) -> str:
    """Return a catalogue as JupyterLab reads it; `plurals` says which form is for which count."""
    assert catalog.locale is not None
    tags = {*catalog.locale.plural_form.tags, "other"}
    head = {
        "domain": DOMAIN,
        "language": str(catalog.locale).replace("_", "-"),
        "plural_forms": catalog.plural_forms,
        "plurals": [each for each in CATEGORIES if each in tags],
    }
    assert catalog.num_plurals == get_plural(catalog.locale).num_plurals == len(head["plurals"])
    entries = {
        (each.id[0] if each.pluralizable else each.id): (
            [*each.string] if each.pluralizable else [each.string]
        )
        for each in sorted(catalog, key=lambda each: str(each.id))
        if each.id
    }
    return json.dumps({"": head} | entries, indent=1, ensure_ascii=False) + "\n"


def _po(folder: Path) -> Path:
    return folder / "LC_MESSAGES" / f"{DOMAIN}.po"


def main(arguments: list[str]) -> int:
    """Write the catalogues, or with `--check` say what is not up to date or not complete."""
    english = template()
    files, wrong = {TEMPLATE: po_text(english)}, list[str]()
    for folder in sorted(path for path in LOCALE.iterdir() if path.is_dir()):
        catalog = language(folder, english)
        files |= {
            _po(folder): po_text(catalog),
            _po(folder).with_suffix(".json"): json_text(catalog),
        }
        wrong += [f"{folder.name}: {fault}" for fault in faults(catalog)]
    old = [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        wrong += [f"{path.name} is old: make translations" for path in old]
    else:
        for path in old:
            path.write_text(files[path], encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
