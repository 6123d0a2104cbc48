"""How many tool definitions of a public benchmark load as they are, and what they were read as.

`pip install --no-deps bfcl-eval==2026.3.23` brings the data (BFCL v4); nothing of it is imported.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path

from jupyter_toolcall import from_definition


def definitions(data: Path) -> list[str]:
    """Return the different definitions of the benchmark, as JSON."""
    lines = [
        json.loads(line)
        for path in (*data.glob("BFCL_v4_*.json"), *data.glob("multi_turn_func_doc/*.json"))
        if "format_sensitivity" not in path.name
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    ]
    functions = (function for line in lines for function in line.get("function") or [line])
    texts = (json.dumps(part, sort_keys=True) for part in functions if "parameters" in part)
    return list(dict.fromkeys(texts))


def main() -> None:
    """Print the figures. Raises DefinitionError for a definition that does not load."""
    found = importlib.util.find_spec("bfcl_eval")
    if found is None or not found.submodule_search_locations:
        print("BFCL's definitions are not here: pip install --no-deps bfcl-eval==2026.3.23")
        return
    texts = definitions(Path(found.submodule_search_locations[0]) / "data")
    notes = Counter(note for text in texts for note in from_definition(text).notes)
    print(f"load as they are: {len(texts):,}")
    for line, count in notes.most_common():
        print(f"{count:6,}  {line}")


if __name__ == "__main__":
    main()
