"""One step of a session, and the operations on a session.

`turn.py` is the ordinary path: ask the model, check each call, apply the policy, execute, record.
`replay.py` repeats recorded events on the same functions; the other files are operations such as
edit, fork and verify, and the approval policy. It does no I/O: models, tools and storage are
arguments.
"""
