"""Notebooks of a few cells, as tests write them."""

from __future__ import annotations

from pathlib import Path

import nbformat


def write_notebook(path: Path, *sources: str) -> Path:
    """Write a notebook whose code cells have these sources, and return its path."""
    path.parent.mkdir(exist_ok=True)
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path
