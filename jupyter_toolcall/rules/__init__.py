"""Which calls run unasked: rules, and where the arguments of a call came from.

Policies, `Rule`, and the origins of arguments. It reads recorded calls and the marks of tools. It
runs nothing, writes no event, and knows no cursor: `engine/permission.py` decides by it.
"""
