"""The rules that a person adds while a session runs: `PersonRules`.

They answer where the policy asks, and tighten what it lets run; they loosen nothing that it
refuses. Rules of the session are in memory alone. Those of a notebook are in its metadata, with
this computer's seal; those of the computer are in the user's data directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from ..core.digests import encode
from ..core.errors import UsageError
from ..core.interface_text import t
from ..core.text import unused_name
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .approval_policy import Answer, Rule, Scope
from .origins import Origins
from .rule_files import notebook_rules, person_name, sealed_rules, stored_rules, write_rules

COMPUTER = "person"
"""The name of the rules of this computer that were added from the panel."""
Until = Literal["run", "today", "removed"]
Change = Literal["pause", "resume", "remove", "up", "down", "renew"]


@dataclass
class PersonRules:
    """The rules that a person added to a session, in the order in which they decide."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known."""
    rules: tuple[Rule, ...] = ()
    _notebook_had_rules: bool = False
    """Whether the notebook has had rules, so that its metadata say which there are now."""
    person: str = field(default_factory=person_name)
    """Who works here, and decides."""

    @classmethod
    def of(cls, notebook: str, session_rules: tuple[Rule, ...] = ()) -> PersonRules:
        """Return the rules that hold in a notebook. What cannot be read holds no rule."""
        of_notebook = notebook_rules(notebook)
        rules = (*session_rules, *of_notebook, *stored_rules(COMPUTER))
        return cls(notebook, rules, bool(of_notebook))

    @property
    def of_session(self) -> tuple[Rule, ...]:
        """The rules that are in memory alone."""
        return (*_of_scope("session", self.rules),)

    @property
    def for_metadata(self) -> str:
        """What the notebook keeps of its rules, as JSON; "" where nothing is to change."""
        if not self._notebook_had_rules:
            return ""
        return encode(sealed_rules(self.notebook, _of_scope("notebook", self.rules)))

    def answer(
        self, tool: Tool, arguments: Mapping[str, Any], origins: Origins, asks: bool
    ) -> tuple[str, Answer] | None:
        """Return the name and the answer of the first rule that fits a call, None where none fits.

        With `asks` the policy asks, so a rule may run the call; else rules only tighten. A rule to
        run that says why it cannot decide, such as one that has ended, comes last.
        """
        rules = [rule for rule in self.rules if asks or rule.decision != "run"]
        found = [(rule, rule(tool, arguments, origins)) for rule in rules]
        answers = [(rule, answer) for rule, answer in found if answer is not None]
        answers.sort(key=lambda pair: pair[0].decision == "run" and pair[1][0] == "ask")
        return (answers[0][0].name, answers[0][1]) if answers else None

    def add(self, rule: Rule, scope: Scope, until: Until) -> Rule:
        """Add a rule, and return it with its name, its end, who added it and when.

        Raises UsageError where the rule cannot be kept.
        """
        if scope == "notebook" and not self.notebook:
            raise UsageError("this kernel does not know its notebook; add the rule to this session")
        if until == "run":
            scope = "session"
        added = replace(
            rule,
            name=unused_name(rule.name, {existing.name for existing in self.rules}),
            scope=scope,
            until={"run": "run", "today": _tomorrow(), "removed": ""}[until],
            **self._made_now(),
        )
        self._set((*self.rules, added))
        return added

    def change(self, number: int, **changes: Any) -> None:
        """Change the rule of a number, counted from 1. Raises UsageError."""
        self._demand(number)
        rules = [*self.rules]
        rules[number - 1] = replace(rules[number - 1], **changes)
        self._set((*rules,))

    def carry_out(self, number: int, name: str, change: Change, tools: Toolbox) -> None:
        """Pause, resume, remove or move the rule of a number, counted from 1, which has this name;
        or "renew" it: let one that has ended hold for the code that its tool has now.

        Raises UsageError where the list has changed since it was shown.
        """
        names = [rule.name for rule in self.rules]
        if not 0 < number <= len(names) or names[number - 1] != name:
            raise UsageError(t("The rules have changed since they were shown."))
        match change:
            case "pause" | "resume":
                self.change(number, paused=change == "pause")
            case "renew":
                rule, tool = self.rules[number - 1], tools.get(self.rules[number - 1].tool)
                code = tool.version() if tool is not None and rule.code else rule.code
                until = rule.until if rule.until in ("", "run") else _tomorrow()
                self.change(number, code=code, until=until, **self._made_now())
            case "remove":
                self.remove(number)
            case "up" | "down":
                self.move(number, up=change == "up")

    def remove(self, number: int) -> None:
        """Remove the rule of a number, counted from 1. Raises UsageError."""
        self._demand(number)
        self._set(tuple(rule for n, rule in enumerate(self.rules, 1) if n != number))

    def move(self, number: int, up: bool) -> None:
        """Let a rule decide before the one above it, or after the one below. Raises UsageError."""
        self._demand(number)
        other = number - 1 if up else number + 1
        self._demand(other)
        rules = [*self.rules]
        rules[number - 1], rules[other - 1] = rules[other - 1], rules[number - 1]
        self._set((*rules,))

    def end_run(self) -> None:
        """Remove the rules that hold to the end of the run, since another one begins."""
        self.rules = tuple(rule for rule in self.rules if rule.until != "run")

    def _made_now(self) -> dict[str, Any]:
        return {"by": self.person, "made": datetime.now(UTC).isoformat(timespec="seconds")}

    def _demand(self, number: int) -> None:
        if not 0 < number <= len(self.rules):
            raise UsageError(f"there is no rule {number} any more; there are {len(self.rules)}")

    def _set(self, rules: tuple[Rule, ...]) -> None:
        """Keep changed rules: those of the computer are written, with those of other kernels."""
        before, after = (_of_scope("computer", listed) for listed in (self.rules, rules))
        if before != after:
            keys = {*map(_key, before)}
            others = [rule for rule in stored_rules(COMPUTER) if _key(rule) not in keys]
            try:
                write_rules(COMPUTER, [*after, *others])
            except OSError as error:
                raise UsageError(f"the rule cannot be kept on this computer: {error}") from None
        self.rules = rules
        self._notebook_had_rules |= bool(_of_scope("notebook", rules))


def _tomorrow() -> str:
    return (date.today() + timedelta(days=1)).isoformat()


def _of_scope(scope: Scope, rules: tuple[Rule, ...]) -> list[Rule]:
    return [rule for rule in rules if rule.scope == scope]


def _key(rule: Rule) -> tuple[str, str]:
    """Return what tells a rule of this computer from those of other kernels."""
    return rule.name, rule.made
