"""Two branches, or two sessions, side by side.

Calls and objects are aligned here and nowhere else; the differences of values are data, rendered
as text or HTML. It reads recorded calls and values, runs no tool, and changes no session.
"""
