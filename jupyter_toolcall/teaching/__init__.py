"""Guesses, exercises and seeded errors: teaching with recorded sessions.

It uses the public `Session` and its hooks, and registers its options and subcommands with
`jupyter`. No other package imports or mentions it.
"""
