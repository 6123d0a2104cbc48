"""Servers that stand in for the models' APIs, as strict as the originals."""
