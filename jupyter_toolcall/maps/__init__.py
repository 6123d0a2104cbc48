"""Many prompts, a session each: `Session.map` and its table.

It stands above `session`, and uses no engine of its own: each row is a session in its own journal.
"""
