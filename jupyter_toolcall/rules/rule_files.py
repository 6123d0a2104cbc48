"""Rules in files: those of this computer, in the user's data directory, and any other file.

Rules of this computer have a name and this computer's seal. Any other file may come from somebody
else, so it runs no call: what it would run, a person is asked about.
"""

from __future__ import annotations

import getpass
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.digests import digest, encode
from ..core.errors import ToolcallError, UsageError
from ..core.interface_text import t
from ..core.interrupts import attempt
from ..core.json_data import unique_keys
from ..core.text import nearest
from ..storage.file_system import replace_file
from ..storage.journal_file import journals_folder
from ..storage.notebook_files import notebook_metadata
from ..storage.signatures import signer
from ..tools.toolbox import Toolbox
from .approval_policy import Rule

FORMAT = "jupyter-toolcall/rules"
METADATA = "jupyter_toolcall"
"""The key of a notebook's metadata that holds its rules."""
HELP = """\
  rules                      list the rules of this computer, which --rules NAME uses
  rules add NAME run|ask|refuse TOOL [ARGUMENT=SCHEMA]...
                             add a rule; TOOL may be a pattern, SCHEMA is JSON Schema or a value;
                             for a tool of this session, or MODULE:NAME, it ends with the tool's
                             code
  rules remove NAME NUMBER   remove a rule
"""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEYS = tuple(field.name for field in fields(Rule) if field.init)


def rules_named(named: str, folder: Path) -> list[Rule]:
    """Return the rules of this computer that have a name, or those in a file of a folder.

    Raises UsageError, which says what is wrong and where.
    """
    is_file = not _NAME.fullmatch(named)
    path = folder / named if is_file else _file(named)
    rules, seal = _read(path, named)
    if not is_file and _is_own(named, rules, seal):
        return _without_contradictions(rules)
    return [_tightened(rule, named) for rule in rules]


def stored_rules(name: str) -> list[Rule]:
    """Return the rules of this computer that have a name. Where they cannot be read, or are not of
    this computer, there are none: so a person is asked.
    """
    try:
        rules, seal = _read(_file(name), name)
    except UsageError:
        return []
    return rules if _is_own(name, rules, seal) else []


def sealed_rules(notebook: str, rules: Sequence[Rule]) -> Mapping[str, object]:
    """Return what a notebook keeps of its rules in its metadata; nothing where it has none."""
    listed = [_to_json(rule) for rule in rules]
    return {"rules": listed, "seal": _seal(_metadata_name(notebook), rules)} if rules else {}


def notebook_rules(notebook: str) -> list[Rule]:
    """Return the rules in the metadata of a notebook that this computer wrote there; none of
    another computer, of another notebook, or where the file cannot be read.
    """
    try:
        kept = notebook_metadata(Path(notebook)).get(METADATA, {}) if notebook else {}
        rules = [_rule(part, "a rule of the notebook") for part in kept.get("rules", ())]
        seal = str(kept.get("seal", ""))
    except (OSError, ToolcallError, AttributeError, TypeError):
        return []
    return rules if _is_own(_metadata_name(notebook), rules, seal) else []


def _metadata_name(notebook: str) -> str:
    return digest("notebook", os.path.abspath(notebook))


def _tightened(rule: Rule, named: str) -> Rule:
    reason = t("The rule %1 in %2 is not of this computer.", repr(rule.tool), named)
    return replace(rule, decision="ask", reason=reason) if rule.decision == "run" else rule


def _without_contradictions(rules: list[Rule]) -> list[Rule]:
    """Return rules in which a rule to run asks where another one says otherwise of the same."""

    def settled(rule: Rule) -> Rule:
        others = (r for r in rules if (r.tool, r.arguments) == (rule.tool, rule.arguments))
        if rule.decision != "run" or all(other.decision == "run" for other in others):
            return rule
        reason = t("Two rules for %1 contradict each other.", repr(rule.tool))
        return replace(rule, decision="ask", reason=reason)

    return [*map(settled, rules)]


# -- reading and writing ----------------------------------------------------------------------


def _file(name: str) -> Path:
    return journals_folder() / "rules" / f"{name}.json"


def _names() -> list[str]:
    """Return the names of all rules of this computer."""
    return sorted(path.stem for path in journals_folder().glob("rules/*.json"))


def _seal(name: str, rules: Sequence[Rule]) -> str:
    """Return this computer's seal of rules under a name; "" where there is no key."""
    seal = signer(journals_folder())
    # No line of a journal begins so: a seal for the one is none for the other.
    return seal(f"rules {name} {encode([_to_json(rule) for rule in rules])}") if seal else ""


def _is_own(name: str, rules: Sequence[Rule], seal: str) -> bool:
    """Return whether a seal is this computer's; without a key none is."""
    valid_seal = _seal(name, rules)
    return bool(valid_seal) and seal == valid_seal


def _to_json(rule: Rule) -> dict[str, Any]:
    values = {key: getattr(rule, key) for key in _KEYS}
    kept = {key: value for key, value in values.items() if value not in (None, "", {}, False)}
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=dict))
    return plain


def _read(path: Path, named: str) -> tuple[list[Rule], str]:
    """Return the rules in a file, and its seal. Raises UsageError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique_keys)
    except FileNotFoundError:
        raise UsageError(f"--rules {named}: there are no such rules.{_nearest(named)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"--rules {named}: {path} cannot be read: {error!s:.200}") from None
    if not isinstance(data, dict) or not isinstance(listed := data.get("rules"), list):
        raise UsageError(f'--rules {named}: {path} is no file of rules: {{"rules": [...]}}')
    rules = [_rule(part, f"--rules {named}: rule {n}") for n, part in enumerate(listed, 1)]
    return rules, str(data.get("seal", ""))


def _nearest(named: str) -> str:
    return nearest(named, _names()) or " %toolchat rules add makes a rule, and lists what there is"


def _rule(data: object, where: str) -> Rule:
    """Return a rule of a file. Raises UsageError."""
    if not isinstance(data, dict) or not {"tool", "decision"} <= data.keys():
        raise UsageError(f"{where} needs a tool and a decision")
    for key, value in data.items():
        if key not in _KEYS:
            raise UsageError(f"{where} has no key {key!r:.60}.{nearest(key, _KEYS)}")
        is_right = {"arguments": dict, "origins": list, "paused": bool}.get(key, str)
        if not isinstance(value, is_right):
            raise UsageError(f"{where}: {key} is {value!r:.60}, which is no {is_right.__name__}")
    if "untrusted" in data.get("origins", ()):
        raise UsageError(f"{where}: a rule for untrusted values is written in Python alone")
    return Rule(**data)


def write_rules(name: str, rules: Sequence[Rule]) -> None:
    """Write the rules of this computer under a name, with its seal. Raises OSError."""
    path = _file(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    listed = [_to_json(rule) for rule in rules]
    data = {"format": FORMAT, "rules": listed, "seal": _seal(name, rules)}
    replace_file(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


# -- commands ---------------------------------------------------------------------------------


def carry_out(words: Sequence[str], toolbox: Toolbox | None = None) -> str:
    """Carry out `rules`, in a notebook or on the command line; return what is printed.

    A rule for one tool of the toolbox, or of a module, ends when the code of the tool changes.
    Raises UsageError.
    """
    match words:
        case []:
            return "\n".join(map(_listed, _names())) or "no rules yet; rules add makes one"
        case ["add", name, ("run" | "ask" | "refuse") as decision, tool, *pairs] if _NAME.fullmatch(
            name
        ) and all("=" in pair for pair in pairs):
            split = (pair.partition("=") for pair in pairs)
            arguments = {argument: _schema(text) for argument, _, text in split}
            created = datetime.now(UTC).isoformat(timespec="seconds")
            before = _own_rules(name) if _file(name).exists() else []
            tool, code = _tool_and_code(tool, toolbox)
            rule = Rule(tool, decision, arguments, code=code, by=person_name(), made=created)
            write_rules(name, [*before, rule])
            return _listed(name)
        case ["remove", name, number] if _NAME.fullmatch(name) and number.isdecimal():
            rules = _own_rules(name)
            if not 0 < int(number) <= len(rules):
                raise UsageError(f"{name} has no rule {number}; it has {len(rules)}")
            write_rules(name, [rule for n, rule in enumerate(rules, 1) if n != int(number)])
            return _listed(name)
    raise UsageError(f"rules {' '.join(words)}: this is written as\n{HELP}")


def person_name() -> str:
    """Return who works here: the name on the hub, or of the account."""
    # A container may have no account of that number.
    return os.environ.get("JUPYTERHUB_USER") or attempt(getpass.getuser)[0] or ""


def _tool_and_code(tool: str, toolbox: Toolbox | None) -> tuple[str, str]:
    """Return the name of a tool, or a pattern of names, and the code of the tool where it is known.

    Raises UsageError for `MODULE:NAME` where there is none.
    """
    module, colon, name = tool.partition(":")
    if colon:
        try:
            toolbox = Toolbox(getattr(import_module(module), name))
        except (ImportError, AttributeError) as error:
            raise UsageError(f"rules add: there is no {tool} ({error!s:.200})") from None
        (tool,) = toolbox.names
    found = toolbox.get(tool) if toolbox is not None else None
    return tool, found.version() if found is not None else ""


def _own_rules(name: str) -> list[Rule]:
    """Return rules of this computer. Raises UsageError for a file that it did not write."""
    rules, seal = _read(_file(name), name)
    # Without a key a file has no seal: its rules run nothing, and more can be added.
    if seal != _seal(name, rules):
        raise UsageError(f"{_file(name)} was not written on this computer, or changed since")
    return rules


def _schema(text: str) -> object:
    """Return a JSON Schema, or the one of a value. Raises nothing: other text is a value."""
    try:
        data = json.loads(text)
    except ValueError:
        data = text
    return data if isinstance(data, (dict, bool)) else {"const": data}


def _listed(name: str) -> str:
    """Return the rules of a name, a line each: the first that fits decides."""
    rules, seal = _read(_file(name), name)
    mark = "" if _is_own(name, rules, seal) else "  (not of this computer: it runs no call)"
    lines = [f"{name}{mark}"]
    for number, rule in enumerate(rules, 1):
        conditions = "".join(f" {key}={encode(part)}" for key, part in rule.arguments.items())
        notes = [f"until {rule.until}"] if rule.until else []
        notes += [f"code {rule.code[:8]}"] if rule.code else []
        notes += [f"by {rule.by}, {rule.made}"] if rule.made else []
        lines.append(f"  {number} {rule.decision} {rule.tool}{conditions}  {'; '.join(notes)}")
    return "\n".join(lines)
