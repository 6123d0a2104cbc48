"""One step of a session, and the operations on a session.

`replay.advance` takes each step: it repeats a recorded event, or else takes a step of `turn.py`.
That is the ordinary path: ask the model, check each call, decide whether it may run, execute it,
record it. The other files are operations such as edit, fork and verify. `opening.py` reads and
writes the files of sessions. It does not show anything: models and tools are arguments.
"""
