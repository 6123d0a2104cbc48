"""What docs/scaling.md says is so: its code runs."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_toolcall.tools.executors import NAMES

PAGE = (Path(__file__).parent.parent / "docs" / "scaling.md").read_text()


def test_the_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert blocks
    names = {"__name__": "page"}
    for block in blocks:
        exec(block, names)


def test_every_executor_with_a_name_is_listed() -> None:
    assert all(f"`{name}`" in PAGE for name in NAMES)
