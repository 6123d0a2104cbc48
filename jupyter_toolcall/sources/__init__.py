"""Tools from elsewhere: what other worlds write a tool down as, and the way out to them.

Each kind of source is a package beside this file and gives tools that a `Toolbox` takes like any
other. `http` is their one door to the network. Nothing here is imported before it is used.
"""
