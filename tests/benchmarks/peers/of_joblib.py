"""joblib.Memory: a script in which every call is looked up on disk by its arguments."""

from __future__ import annotations

from joblib import Memory

from tests.benchmarks.peers.work import Do, Job, main, ran


def prepare(job: Job) -> Do:
    known = Memory(job.folder, verbose=0).cache(ran)

    if job.work == "durable":
        return lambda: job.results(False, known)
    job.results(False, known)
    return lambda: job.results(True, known)


if __name__ == "__main__":
    main({"durable": prepare, "graph": prepare, "chain": prepare})
