"""How large the package is: files, lines of code, levels, circles, longest file and function.

A line of code is one that holds a token of code: no docstring, comment or blank line.

python tests/benchmarks/code_size.py [FOLDER]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "jupyter_toolcall"
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
Imports = dict[str, set[str]]
"""Of each part of the package, the parts that it imports."""


def lines_of_code(text: str) -> int:
    """Return how many lines of a source text hold code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(ast.Constant(str())):
                code.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(code)


def part_of(path: Path, folder: Path) -> str:
    """Return the package below the folder that a file belongs to; a file at its top is its own."""
    return path.relative_to(folder).parts[0].removesuffix(".py")


def package_imports(folder: Path) -> Imports:
    """Return which packages each package imports, late imports and those of types left out."""
    imports: Imports = {}
    for path in folder.glob("*/**/*.py"):
        part = part_of(path, folder)
        imports.setdefault(part, set())
        home = path.relative_to(folder).parent.parts
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = (*home[: len(home) - node.level + 1], *(node.module or "").split("."))
                names = [name for name in base if name] or [name.name for name in node.names]
                imports[part].add(names[0])
    return {part: others - {part} for part, others in imports.items()}


def levels(imports: Imports) -> int:
    """Return how many packages stand on one another at most. Raises CycleError for a circle."""
    height: dict[str, int] = {}
    for part in TopologicalSorter(imports).static_order():
        height[part] = 1 + max((height[other] for other in imports.get(part, ())), default=0)
    return max(height.values())


def longest_function(folder: Path) -> tuple[int, str]:
    """Return the lines of the longest function, from `def` to its end, and its name."""
    lengths = [
        ((node.end_lineno or 0) - node.lineno + 1, f"{path.relative_to(folder)}: {node.name}")
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return max(lengths)


def main(folder: Path) -> None:
    """Print the figures of each package, and of all of them."""
    files: Counter[str] = Counter()
    code: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        files[part_of(path, folder)] += 1
        code[part_of(path, folder)] += lines_of_code(path.read_text())
    for part in sorted(files):
        print(f"{part:14} {files[part]:4} files {code[part]:7,} lines of code")
    print(f"{'all':14} {files.total():4} files {code.total():7,} lines of code")
    core = sum(code[part] for part in ("core", "engine", "session"))
    print(f"core, engine and session: {core:,} lines of code")
    imports = package_imports(folder)
    try:
        print(
            f"{len(imports)} packages and files at the top, on {levels(imports)} levels, 0 circles"
        )
    except CycleError as error:
        print(f"circle: {' -> '.join(error.args[1])}")
    longest = max((path.read_text().count("\n"), str(path)) for path in folder.rglob("*.py"))
    print(f"longest file: {longest[0]} lines, {Path(longest[1]).relative_to(folder)}")
    lines, name = longest_function(folder)
    print(f"longest function: {lines} lines, {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
