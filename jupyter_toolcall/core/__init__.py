"""The data of a session: events, the journal that holds them, and what is computed from it.

It holds pure data and folds over the journal: session state, calls, objects and their lineage,
branches, digests, secrets and errors. It writes no file and opens no connection: it reads the
environment for its secrets, and handles interrupts. It does not know how tools, models or notebooks
work.
"""
