"""`%%toolchat`, `%toolchat` and the panel of a cell.

It parses options and configuration, completes names, runs cells, and handles the clicks in the
panel. Extensions register their options, subcommands and panel rows here. It is the only package
that knows IPython and widgets.
"""
