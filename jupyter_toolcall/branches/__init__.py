"""Branches as a person speaks of them: their names, what is whose, what each took."""
