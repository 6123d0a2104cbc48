"""Whether a call may run: policies, asked before every call, outside of all adapters.

A policy is an ordered list of rules; the first that answers wins, and where none does
a person is asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from jsonschema_rs import Draft202012Validator, ValidationError

from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.interface_text import InterfaceText, t
from ..core.interrupts import attempt, class_name
from ..core.recorded_data import copied
from ..core.text import nearest, visible_text
from ..sources.definition_schema import schema_validator
from ..tools.tool import Tool, default_arguments

Verdict = Literal["approve", "reject", "ask"]
VERDICTS = get_args(Verdict)
Answer = tuple[Verdict, str]
"""A verdict, and one sentence that says why."""
Test = Callable[[Tool, Mapping[str, Any]], Answer | None]
"""Returns the answer of a rule for a call, None where the rule does not fit."""
Policy = Callable[[Tool, Mapping[str, Any]], Answer]


@dataclass(frozen=True)
class Rule:
    """A rule for the calls that it fits. Of a list of rules the first that fits decides.

    Arguments:
        tool: the name of a tool, or a pattern of names such as `"tables_*"`.
        decision: "run" without asking, "ask" a person, or "refuse".
        arguments: for some arguments the JSON Schema that the value has to fit, such as
            `{"amount": {"maximum": 20}}`. A value is what the tool would get: the default of an
            argument that is left out, the name of an object. An argument without a value does not
            fit.
        reason: a sentence that says why; the card and the model's answer show it.

    Raises UsageError for another decision, and for what is no JSON Schema.

    Example:
        >>> from jupyter_toolcall import Rule, Scripted, Session, Toolbox
        >>> def pay(amount: int) -> str:
        ...     return f"paid {amount}"
        >>> model = Scripted([("pay", {"amount": 5}), ("pay", {"amount": 50}), "Done."])
        >>> rules = [Rule("pay", "run", {"amount": {"maximum": 20}}), Rule("*", "ask")]
        >>> session = Session(Toolbox(pay), model, scheme="flat", approve=rules).tell("Pay.")
        >>> [call.status for call in session.calls]
        ['succeeded', 'proposed']
    """

    tool: str
    decision: Literal["run", "ask", "refuse"]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    _validators: Mapping[str, Draft202012Validator] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.decision not in _DECISIONS:
            known = ", ".join(_DECISIONS)
            raise UsageError(f"{self.decision!r:.60} is no decision of a rule; there are {known}")
        validators = {}
        for name, schema in self.arguments.items():
            try:
                validators[name] = schema_validator(schema)
            except (ValidationError, ValueError, TypeError) as error:
                problem = f"{schema!r:.60} is no JSON Schema ({error!s:.200})"
                raise UsageError(f"the rule for {self.tool}: {name}: {problem}") from None
        object.__setattr__(self, "_validators", validators)

    def __call__(self, tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
        """Return the answer for a call, None where the rule does not fit."""
        if not fnmatchcase(tool.name, self.tool):
            return None
        values = {**default_arguments(tool), **arguments}
        fits = all(
            name in values and validator.is_valid(values[name])
            for name, validator in self._validators.items()
        )
        reason = self.reason or t("The rule %1 says %2.", repr(self.tool), self.decision)
        return (_DECISIONS[self.decision], reason) if fits else None


_DECISIONS: Mapping[str, Verdict] = {"run": "approve", "ask": "ask", "refuse": "reject"}
Approve = str | Sequence[tuple[str, str] | Rule] | Policy


def _read_only(tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
    return ("approve", t("The tool is marked read-only.")) if tool.read_only else None


def _always(verdict: Verdict, why: str) -> Test:
    return lambda tool, arguments: (verdict, why)


_NO_RULE: Answer = "ask", t("No rule answers for it.")
_ASK = _always("ask", t("It may change something: the tool is not marked read-only."))
PRESETS: Mapping[str, tuple[Test, ...]] = {
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


def rule_matching(glob: str, verdict: Verdict) -> Test:
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
    rules = (*(rule_matching(glob, "ask") for glob in breaks), *_rules(approve))

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
                # A text of ours is shown in the language of the panel; what is recorded is plain.
                ours = plain == "ask" and type(why) is InterfaceText
                return cast(Verdict, plain), why if ours else str.__str__(why)
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


def _rules(approve: Any) -> Sequence[Test]:
    if isinstance(approve, str) and approve in PRESETS:
        return PRESETS[approve]
    if isinstance(approve, str) or not isinstance(approve, Sequence):
        raise UsageError(
            f"approve={approve!r:.80} is no policy; there are {', '.join(PRESETS)}, a list of "
            f"Rule(...) or (glob, verdict), and functions.{nearest(str(approve), PRESETS)}"
        )
    return [_rule(pair) for pair in approve]


def _rule(pair: Any) -> Test:
    """Return a rule, or the rule of a pair of a glob and a verdict. Raises UsageError."""
    match pair:
        case Rule():
            return pair
        case (str() as glob, str() as verdict) if verdict in VERDICTS:
            return rule_matching(glob, cast(Verdict, verdict))
        case (str(), verdict):
            raise UsageError(f"{verdict!r:.80} is no verdict; there are approve, reject and ask")
    raise UsageError(
        f'{pair!r:.80} in approve is no rule; a rule is a pair such as ("fill*", "approve")'
    )
