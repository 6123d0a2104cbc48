"""joblib.Memory: a script in which every call is looked up on disk by its arguments."""

from __future__ import annotations

from joblib import Memory

from tests.benchmarks.peers.work import Do, Job, main, ran


def prepare(job: Job) -> Do:
    known = Memory(job.folder, verbose=0).cache(ran)

    def run(changed: bool) -> list[int]:
        found: list[int] = []
        for call, before in enumerate(job.follows):
            value = found[before] if before is not None else 0
            found.append(known(job.argument(call, changed), value))
        return found

    if job.work == "durable":
        return lambda: run(changed=False)
    run(changed=False)
    return lambda: run(changed=True)


if __name__ == "__main__":
    main({"durable": prepare, "graph": prepare, "chain": prepare})
