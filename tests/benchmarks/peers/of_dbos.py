"""DBOS: a workflow of steps in SQLite; an edit forks the workflow at the step."""

from __future__ import annotations

from dbos import DBOS, SetWorkflowID

from tests.benchmarks.peers.work import Do, Job, main, ran


def configure(job: Job) -> None:
    """Let DBOS keep its steps in a file of the job's folder."""
    DBOS(
        config={
            "name": "peers",
            "system_database_url": f"sqlite:///{job.folder / 'dbos.sqlite'}",
            "log_level": "ERROR",
            "run_admin_server": False,
        }
    )


def prepare(job: Job) -> Do:
    changed = [False]
    configure(job)

    @DBOS.step()
    def step(number: int, before: int) -> int:
        return ran(number, before)

    @DBOS.workflow()
    def work() -> list[int]:
        return job.results(changed[0], step)

    def run() -> list[int]:
        with SetWorkflowID("first"):
            found: list[int] = work()
        return found

    DBOS.launch()
    if job.work == "durable":
        return run
    run()
    changed[0] = True

    def fork() -> list[int]:
        found: list[int] = DBOS.fork_workflow("first", job.at + 1).get_result()
        return found

    return fork


if __name__ == "__main__":
    main({"durable": prepare, "graph": prepare, "chain": prepare})
    DBOS.destroy()
