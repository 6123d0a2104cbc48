"""Tools from outside Python: JSON tool definitions and GraphQL schemas; and the toolsets.

Each source returns `Tool`s or a `Toolbox`. All HTTP requests go through one client here, with
allowed hosts and limits of time and size. It runs no call by itself and keeps no session.
"""
