"""Whether a call may run: policies, asked before every call, outside of all adapters.

A policy is an ordered list of rules; the first that answers wins, and where none does
a person is asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.interface_text import t
from ..core.interrupts import attempt, class_name
from ..core.recorded_data import copied
from ..core.text import nearest, visible_text
from ..tools.tool import Tool

Verdict = Literal["approve", "reject", "ask"]
VERDICTS = get_args(Verdict)
Answer = tuple[Verdict, str]
"""A verdict, and one sentence that says why."""
Rule = Callable[[Tool, Mapping[str, Any]], Answer | None]
Policy = Callable[[Tool, Mapping[str, Any]], Answer]
Approve = str | Sequence[tuple[str, str]] | Policy


def _read_only(tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
    return ("approve", t("The tool is marked read-only.")) if tool.read_only else None


def _always(verdict: Verdict, why: str) -> Rule:
    return lambda tool, arguments: (verdict, why)


_NO_RULE: Answer = "ask", t("No rule answers for it.")
_ASK = _always("ask", t("Policy `ask`: the tool is not marked read-only."))
PRESETS: Mapping[str, tuple[Rule, ...]] = {
    "ask": (_read_only, _ASK),
    "read-only": (_read_only, _always("reject", t("Only read-only tools run in this session."))),
    "all": (_always("approve", t("Policy `all`: nothing waits.")),),
    "none": (_always("ask", t("Policy `none`: every call waits.")),),
}

_STRICTNESS = {"all": (0, 0), "ask": (0, 1), "none": (1, 1), "read-only": (0, 2)}
"""What a preset does with a read-only tool and with another one: 0 runs it, 1 asks, 2 rejects."""


def stricter_preset(own: str, other: str) -> str:
    """Return `other` where it is as strict as `own` for every tool, and else `own`.

    Raises UsageError for a name that is no preset.
    """
    _rules(own), _rules(other)
    pairs = zip(_STRICTNESS[own], _STRICTNESS[other], strict=True)
    return other if all(mine <= its for mine, its in pairs) else own


def rule_matching(glob: str, verdict: Verdict) -> Rule:
    """Return the rule that answers for calls that look like `tool` or `tool(arguments)`."""

    def rule(tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
        shown = f"{tool.name}({readable_json(dict(arguments))})"
        if fnmatchcase(tool.name, glob) or fnmatchcase(shown, glob):
            return verdict, t("The rule %1 says %2.", repr(glob), verdict)
        return None

    return rule


def approval_policy(approve: Approve, breaks: Sequence[str] = ()) -> Policy:
    """Return the policy that a setting stands for; `breaks` are globs that always ask.

    Raises UsageError for what is no policy: an unknown name, or a list of other things than pairs.
    """
    if callable(approve):
        return approve
    stops = [rule_matching(glob, "ask") for glob in breaks]
    rules = (*stops, *_rules(approve))

    def decide(tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        answers = (rule(tool, arguments) for rule in rules)
        return next((answer for answer in answers if answer), _NO_RULE)

    return decide


def policy_decision(policy: Policy, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    """Return what a policy answers for a call.

    Raises UsageError, which names the policy, for anything but a verdict and a sentence.
    """
    answer: Any = policy(tool, copied(arguments))
    match answer:
        case (str() as verdict, str() as why) if isinstance(answer, tuple):
            # A verdict may be a member of an enum of texts.
            if (plain := str.__str__(verdict)) in VERDICTS:
                return cast(Verdict, plain), str.__str__(why)
    if inspect.iscoroutine(answer):
        # Nobody awaits it: closed, it does not warn of that.
        answer.close()
    name = getattr(policy, "__qualname__", None) or class_name(type(policy))
    shown, raised = attempt(repr, answer)
    shown = shown if isinstance(shown, str) else f"a {class_name(type(answer))} ({raised})"
    raise UsageError(
        f"the policy {visible_text(str(name))} answered {visible_text(shown, 80)} for "
        f"{tool.name}, which is no decision, so the call does not run. A policy is a plain "
        'function of a tool and its arguments, and returns one of ("approve", WHY), '
        '("reject", WHY) and ("ask", WHY), where WHY is a sentence'
    )


def _rules(approve: Any) -> Sequence[Rule]:
    if isinstance(approve, str) and approve in PRESETS:
        return PRESETS[approve]
    if isinstance(approve, str) or not isinstance(approve, Sequence):
        raise UsageError(
            f"approve={approve!r:.80} is no policy; there are {', '.join(PRESETS)}, a list of "
            f"(glob, verdict), and functions.{nearest(str(approve), PRESETS)}"
        )
    return [_rule(pair) for pair in approve]


def _rule(pair: Any) -> Rule:
    """Return the rule of a pair of a glob and a verdict. Raises UsageError."""
    match pair:
        case (str() as glob, str() as verdict) if verdict in VERDICTS:
            return rule_matching(glob, cast(Verdict, verdict))
        case (str(), verdict):
            raise UsageError(f"{verdict!r:.80} is no verdict; there are approve, reject and ask")
    raise UsageError(
        f'{pair!r:.80} in approve is no rule; a rule is a pair such as ("fill*", "approve")'
    )
