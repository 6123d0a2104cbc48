"""Tools from JSON definitions, and tools written as definitions."""
