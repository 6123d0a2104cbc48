"""What a waiting call would do: its tool runs on copies while the call waits for a person.

Only a tool that is marked `pure` in Python is tried. A preview reads recorded calls and values, and
writes no event; the result of an approved call is handed to the engine as one that ran early.
"""
