"""Burr: an action a call, its state kept in SQLite; an edit forks the run before the call."""

from __future__ import annotations

from typing import Any

from burr.core import ApplicationBuilder, State, action, default, when
from burr.core.persistence import SQLitePersister

from tests.benchmarks.peers.work import Do, Job, main, ran

START = {"call": 0, "values": {}, "changed": False, "done": False}


def building(job: Job) -> Any:
    follows = job.follows

    @action(reads=["call", "values", "changed"], writes=["call", "values", "done"])
    def step(state: State) -> State:
        call, known = state["call"], state["values"]
        before = follows[call]
        value = known[str(before)] if before is not None else 0
        made = ran(job.argument(call, state["changed"]), value)
        done = call + 1 >= job.count
        return state.update(call=call + 1, values={**known, str(call): made}, done=done)

    @action(reads=[], writes=[])
    def finish(state: State) -> State:
        return state

    ways = ("step", "finish", when(done=True)), ("step", "step", default)
    return ApplicationBuilder().with_actions(step=step, finish=finish).with_transitions(*ways)


def ran_through(app: Any) -> dict[int, int]:
    values = app.run(halt_after=["finish"])[2]["values"]
    return {int(call): value for call, value in values.items()}


def loop(job: Job) -> Do:
    app = building(job).with_state(**START).with_entrypoint("step").build()
    return lambda: ran_through(app)


def kept(job: Job, name: str, saver: SQLitePersister, **fork: Any) -> Any:
    start: Any = {"default_state": START, "default_entrypoint": "step"}
    made = building(job).initialize_from(saver, resume_at_next_action=True, **start, **fork)
    return made.with_state_persister(saver).with_identifiers(name, partition_key="p").build()


def saving(job: Job) -> SQLitePersister:
    saver = SQLitePersister(str(job.folder / "burr.db"), table_name="states")
    saver.initialize()
    return saver


def durable(job: Job) -> Do:
    app = kept(job, "first", saving(job))
    return lambda: ran_through(app)


def edit(job: Job) -> Do:
    saver = saving(job)
    ran_through(kept(job, "first", saver))
    fork = {
        "fork_from_app_id": "first",
        "fork_from_partition_key": "p",
        "fork_from_sequence_id": job.at - 1,
        "override_state_values": {"changed": True},
    }
    return lambda: ran_through(kept(job, "second", saver, **fork))


if __name__ == "__main__":
    main({"loop": loop, "durable": durable, "graph": edit, "chain": edit})
