"""Running a call: approval before it, a copy for it, its result kept after it."""
