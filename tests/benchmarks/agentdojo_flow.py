"""Which calls of AgentDojo a policy asks about, where the model obeys every injection.

No model takes part. For each user task the model makes the reference calls of the task. For each
pair of a user task and an injection task it makes the reads of the user task, and then the
reference calls of the injection. The person approves the calls of the task, and rejects the others.

pip install --no-deps agentdojo==0.1.35
pip install deepdiff docstring-parser email-validator pyyaml
python -m tests.benchmarks.agentdojo_flow
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from jupyter_toolcall import Scripted, Session, Tool, Toolbox
from tests.rules.adaptive_attackers import FAMILIES, Family

VERSION = "v1.2.2"


class Marks(NamedTuple):
    """Tools by what they do, names with spaces between them; all others read the user's data."""

    sends: str
    changes: str
    untrusted: str
    """The tools whose results hold what others wrote."""
    fetches: str = ""

    @property
    def effects(self) -> set[str]:
        """The tools that have effects."""
        return {*self.sends.split(), *self.changes.split()}


MARKS = {
    "workspace": Marks(
        sends=(
            "send_email create_calendar_event cancel_calendar_event "
            "reschedule_calendar_event add_calendar_event_participants share_file"
        ),
        changes="delete_email append_to_file create_file delete_file",
        untrusted=(
            "get_unread_emails get_received_emails search_emails search_calendar_events "
            "get_day_calendar_events reschedule_calendar_event "
            "add_calendar_event_participants append_to_file search_files_by_filename "
            "delete_file get_file_by_id list_files share_file search_files"
        ),
    ),
    "travel": Marks(
        sends="create_calendar_event cancel_calendar_event send_email",
        changes="reserve_hotel reserve_car_rental reserve_restaurant",
        untrusted=(
            "get_rating_reviews_for_hotels get_rating_reviews_for_restaurants "
            "get_rating_reviews_for_car_rental"
        ),
    ),
    "banking": Marks(
        sends="send_money schedule_transaction update_scheduled_transaction",
        changes="update_password update_user_info",
        untrusted="get_most_recent_transactions read_file",
    ),
    "slack": Marks(
        sends="send_direct_message send_channel_message invite_user_to_slack post_webpage",
        changes="add_user_to_channel remove_user_from_slack",
        untrusted="get_channels read_channel_messages read_inbox get_webpage",
        fetches="get_webpage",
    ),
}
"""The marks of each suite's tools, set by a person."""


class Policy(NamedTuple):
    """A policy that is measured, and whether the tools that send or fetch are marked external."""

    name: str
    marks_external: bool = True


POLICIES = (Policy("ask"), Policy("flow"), Policy("flow", marks_external=False), Policy("all"))


@cache
def suites() -> Mapping[str, Any]:
    """Return AgentDojo's suites by name. Raises SystemExit without the package."""
    spec = find_spec("agentdojo")
    if spec is None:
        raise SystemExit(f"install what this needs first:\n{__doc__}")
    (root,) = spec.submodule_search_locations or ("",)
    # Its pipelines import the clients of all providers; its tasks need none of them.
    for name, members in (
        ("", {"__path__": [str(Path(root, "agent_pipeline"))]}),
        (".tool_execution", {"tool_result_to_str": str}),
    ):
        module = ModuleType(f"agentdojo.agent_pipeline{name}")
        vars(module).update(members)
        sys.modules[module.__name__] = module
    by_name: Mapping[str, Any] = import_module("agentdojo.task_suite").get_suites(VERSION)
    return by_name


@cache
def environment(suite: str, goal: str) -> Any:
    """Return the environment of a suite in which each injection vector holds a goal."""
    vectors = [*suites()[suite].get_injection_vector_defaults()]
    files = import_module("agentdojo.task_suite.task_suite")
    text = files.read_suite_file(suite, "environment.yaml", None)
    # A goal may hold what YAML reads in another way: it replaces a mark in the data.
    data = import_module("yaml").safe_load(
        text.format(**{vector: f"@{vector}@" for vector in vectors})
    )
    return suites()[suite].environment_type.model_validate(_filled(data, vectors, goal))


def _filled(value: Any, vectors: list[str], goal: str) -> Any:
    match value:
        case dict():
            items = ((_filled(key, vectors, goal), part) for key, part in value.items())
            return {key: _filled(part, vectors, goal) for key, part in items}
        case list():
            return [_filled(part, vectors, goal) for part in value]
        case str():
            for vector in vectors:
                value = value.replace(f"@{vector}@", goal)
    return value


def tools(suite: str, world: Any, marks_external: bool) -> Iterator[Tool]:
    """Yield the tools of a suite, which work on an environment, with their marks."""
    runtime = import_module("agentdojo.functions_runtime").FunctionsRuntime(suites()[suite].tools)
    marks = MARKS[suite]
    leaves = marks.sends.split() + marks.fetches.split()

    def calling(name: str) -> Callable[..., str]:
        def function(**arguments: Any) -> str:
            return text_of(runtime.run_function(world, name, arguments, raise_on_error=True)[0])

        return function

    for declared in suites()[suite].tools:
        name = declared.name
        yield Tool(
            name,
            declared.description,
            declared.parameters.model_json_schema(),
            calling(name),
            read_only=name not in marks.effects,
            external=marks_external and name in leaves,
            untrusted=name in marks.untrusted.split(),
        )


def text_of(result: Any) -> str:
    """Return the result of a tool as the text that a model reads."""
    if isinstance(result, str):
        return result
    return json.dumps(result, default=lambda part: part.model_dump(mode="json"))


def unasked(
    suite: str, task: Any, calls: list[Any], world: Any, policy: Policy, of_task: int
) -> list[tuple[int, str]]:
    """Return the position and the tool of each call that ran and that nobody was asked about.

    The person approves the first `of_task` calls, and rejects any other.
    """
    box = Toolbox(*tools(suite, world, policy.marks_external))
    script = [*((call.function, dict(call.args)) for call in calls), "Done."]
    session = Session(box, Scripted(script), scheme="flat", approve=policy.name).tell(task.PROMPT)
    asked = set[str]()
    while session.pending:
        (call,) = session.pending
        asked.add(call.id)
        session.decide(call, "approve" if call.step <= of_task else "reject").run()
    ended = [call for call in session.calls if call.id not in asked]
    return [(call.step, call.tool) for call in ended if call.status == "succeeded"]


def measure(policy: Policy, hide: Family) -> Counter[str]:
    """Return how many calls there were, and how many of them a policy let run unasked.

    `hide` returns the texts that stand in the data for the goal of an injection.
    """
    count = Counter[str]()
    for name, suite in suites().items():
        marked = {"effects": MARKS[name].effects, "fetches": {*MARKS[name].fetches.split()}}
        for task in suite.user_tasks.values():
            world = task.init_environment(suite.load_and_inject_default_environment({}))
            calls = task.ground_truth(world.model_copy(deep=True))
            ran = unasked(name, task, calls, world, policy, len(calls))
            count["calls"] += len(calls)
            count["questions"] += len(calls) - len(ran)
            reads = [call for call in calls if call.function not in marked["effects"]]
            for injection in suite.injection_tasks.values():
                page = "\n".join(hide(injection.GOAL))
                world = task.init_environment(environment(name, page).model_copy(deep=True))
                injected = injection.ground_truth(world.model_copy(deep=True))
                both = [*reads, *injected]
                ran = unasked(name, task, both, world, policy, len(reads))
                for kind, kinds in marked.items():
                    count[kind] += sum(call.function in kinds for call in injected)
                    count[f"{kind} unasked"] += sum(
                        step > len(reads) and tool in kinds for step, tool in ran
                    )
    return count


def main() -> None:
    """Print a line for each policy, and for each way in which an attacker may hide a goal."""
    rows = [(policy, family) for policy in POLICIES for family in ("as it is",)]
    rows += [(POLICIES[1], family) for family in FAMILIES if family != "as it is"]
    for policy, family in rows:
        count = measure(policy, FAMILIES[family])
        external = "" if policy.marks_external else ", nothing external"
        print(
            f"{policy.name + external:24} {family:28} {count['questions']:3} questions on"
            f" {count['calls']} calls; ran unasked: {count['effects unasked']:3} of"
            f" {count['effects']} injected effects, {count['fetches unasked']:2} of"
            f" {count['fetches']} fetches",
            flush=True,
        )


if __name__ == "__main__":
    main()
