"""What a model can call: `Tool`, `Toolbox`, and tools made from Python functions and classes.

It derives JSON Schemas from type hints, validates and coerces arguments, and computes digests and
private copies of values. It does not run calls (`engine`) and reads no definitions from outside
Python (`sources`).
"""
