"""How large the project is, and whether each part keeps to its limit: `make size`.

A line of code is one that holds a token of code: no docstring, comment or blank line. Of
TypeScript all lines of `labextension/src` count, generated ones too.

python tests/benchmarks/code_size.py [ROOT]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from fnmatch import fnmatch
from pathlib import Path

PACKAGE = "jupyter_toolcall"
LIMITS = {
    "maps + executors": 1_311,
    "core + engine + session": 8_643,
    "tools": 3_749,
    "sources": 5_949,
    "jupyter": 4_427,
    "view": 2_394,
    "models": 2_020,
    "export": 2_638,
    "compare": 1_928,
    "schemes": 1_510,
    "teaching + evaluation": 1_998,
    "storage": 987,
    "rules, budgets, origins, previews": 1_622,
    "cli, kitchen, toolsets, __init__": 431,
    "all": 39_607,
    "Python files": 256,
    "Python tests": 50_065,
    "TypeScript": 12_097,
}
"""Of each row, how many lines of code, files or lines there may be."""
MAPS = (
    *("maps/*", "executors/*"),
    *("engine/executor_*", "tools/*executor*", "tools/worker_*"),
)
PARTS = {
    "maps + executors": MAPS,
    "core + engine + session": ("core/*", "engine/*", "session/*"),
    "rules, budgets, origins, previews": (
        *("rules/*", "budgets/*", "origins/*", "previews/*", "view/decision_*"),
    ),
    **{
        name: (f"{name}/*",)
        for name in (
            "tools",
            "sources",
            "jupyter",
            "view",
            "models",
            "export",
            "compare",
            "schemes",
        )
    },
    "teaching + evaluation": ("teaching/*", "evaluation/*"),
    "storage": ("storage/*",),
    "cli, kitchen, toolsets, __init__": ("cli.py", "kitchen.py", "toolsets.py", "__init__.py"),
}
"""Of each part of the package, its files. A file belongs to the first part that names it."""
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def lines_of_code(text: str) -> set[int]:
    """Return the numbers of the lines of a source text that hold code."""
    code = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(ast.Constant(str())):
                code.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return code


def part_of(path: Path, package: Path) -> str:
    """Return the part of the package to which a file belongs. Raises SystemExit for none."""
    name = path.relative_to(package).as_posix()
    for part, patterns in PARTS.items():
        if any(fnmatch(name, pattern) for pattern in patterns):
            return part
    raise SystemExit(f"{name} belongs to no part: add it to PARTS in {Path(__file__).name}.")


def sizes(root: Path) -> dict[str, int]:
    """Return the size of each row of `LIMITS` in a project folder."""
    package = root / PACKAGE
    files = sorted(package.rglob("*.py"))
    found = dict.fromkeys(PARTS, 0)
    for path in files:
        found[part_of(path, package)] += len(lines_of_code(path.read_text(encoding="utf-8")))
    tests = (path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*.py"))
    scripts = (path for path in (root / "labextension/src").rglob("*") if path.is_file())
    return found | {
        "all": sum(found.values()),
        "Python files": len(files),
        "Python tests": sum(len(lines_of_code(text)) for text in tests),
        "TypeScript": sum(len(path.read_bytes().splitlines()) for path in scripts),
    }


def main(root: str = str(Path(__file__).parents[2])) -> None:
    """Print the table. Exits with 1, and says which rows, if any is above its limit."""
    found = sizes(Path(root))
    print(f"{'':36}{'today':>8}{'at most':>9}")
    for name, limit in LIMITS.items():
        print(f"{name:36}{found[name]:8,}{limit:9,}")
    above = {name: found[name] - limit for name, limit in LIMITS.items() if found[name] > limit}
    if above:
        sys.exit("\n".join(f"{name}: {excess:,} above the limit" for name, excess in above.items()))


if __name__ == "__main__":
    main(*sys.argv[1:2])
