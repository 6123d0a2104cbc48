"""The source of a function or a class of this process, found by its compiled code.

A name may mean another function by now, and a file may have been edited since it was imported.
So a piece of source counts only if it compiles to the code that the function has.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from ..core.interrupts import attempt
from ..tools.value_digests import content_digest, functions_in
from .code import Unwritable, definition_name

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
"""The flags of `from __future__ import`: in a notebook they hold for later cells too."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A `def` or a `class` in a source text, with the code that it compiles to."""

    node: DefinitionNode = field(compare=False)
    code: CodeType
    enclosing: tuple[Definition, ...]
    """The definitions that it stands in, the outermost first."""
    source: str

    @property
    def outermost(self) -> Definition:
        """The definition that it is a part of, and that stands in no class."""
        outer = self.enclosing[-1] if self.enclosing else None
        return outer.outermost if outer and isinstance(outer.node, ast.ClassDef) else self

    @property
    def local_names(self) -> frozenset[str]:
        """The variables of the functions that it stands in."""
        codes = (d.code for d in self.enclosing if not isinstance(d.node, ast.ClassDef))
        names = ((*c.co_varnames, *c.co_cellvars, *c.co_freevars) for c in codes)
        return frozenset(name for part in names for name in part)


@functools.lru_cache(maxsize=256)
def definitions_in(source: str, future: int = 0) -> tuple[Definition, ...]:
    """Return all definitions of a source text; () where it is no Python.

    One is there twice where a module and a cell compile it to different code.
    """
    flags = future | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree = ast.parse(source)
        compiled = [compiled_module(part, flags) for part in _module_and_statements(tree)]
    except (SyntaxError, ValueError):
        return ()
    in_cell = (code for part in compiled[1:] for code in codes_in(part))
    tables = (
        {(code.co_name, code.co_firstlineno): code for code in codes}
        for codes in (codes_in(compiled[0]), in_cell)
    )
    return tuple(
        dict.fromkeys(d for codes in tables for d in _definitions(tree, codes, (), source))
    )


def _module_and_statements(tree: ast.Module) -> Iterator[ast.Module]:
    """Yield a source text as a module, and as IPython compiles a cell: each statement by itself.

    Python 3.11 and 3.12 compile `pd.concat()` in another way where they see that `pd` is imported.
    """
    yield tree
    yield from (ast.Module([statement], []) for statement in tree.body)


def compiled_module(tree: ast.Module, flags: int) -> CodeType:
    """Return the code of a module that is only read; `flags` are those of `compile`."""
    code: CodeType = compile(tree, "<source>", "exec", flags, dont_inherit=True)
    return code


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions and classes in a piece of code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)


def _definitions(
    node: ast.AST,
    codes: Mapping[tuple[str, int], CodeType],
    enclosing: tuple[Definition, ...],
    source: str,
) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        inside = enclosing
        if isinstance(child, DefinitionNode):
            # Compiled code begins at the first decorator; what stands below `if 0:` has none.
            line = min([child.lineno, *(mark.lineno for mark in child.decorator_list)])
            if code := codes.get((child.name, line)):
                definition = Definition(child, code, enclosing, source)
                yield definition
                inside = (*enclosing, definition)
        yield from _definitions(child, codes, inside, source)


def find_definition(thing: object, sources: Iterable[str]) -> Definition:
    """Return the definition of a function or a class.

    `sources` are the texts of its module, for a class that has no methods. Raises Unwritable
    where no text is at hand, or where none compiles to the code that the thing has.
    """
    codes = [function.__code__ for function in functions_of(thing)]
    texts = [file_text(codes[0].co_filename)] if codes else [*sources]
    future = codes[0].co_flags & FUTURE if codes else 0
    named = thing.__qualname__ if isinstance(thing, type) else codes[0].co_qualname
    fitting = [
        definition
        for text in texts
        for definition in definitions_in(text, future)
        if definition.code.co_qualname == named and _fits(definition, thing, codes)
    ]
    # Of several definitions with the same code, the line tells which one ran.
    lines = {code.co_firstlineno for code in codes}
    exact = [found for found in fitting if lines <= _lines(found.code)] or fitting
    if len({ast.dump(found.node) for found in exact}) == 1:
        return exact[-1]
    why = "is in its file more than once" if exact else "was changed since it was defined"
    raise Unwritable(
        f"{definition_name(thing)}, whose source {why if any(texts) else 'is not at hand'}"
    )


def file_text(path: str) -> str:
    """Return the text of a file, or of the notebook's cell, as it is now; "" for none."""
    linecache.checkcache(path)
    return "".join(linecache.getlines(path))


def functions_of(thing: Any) -> list[FunctionType]:
    """Return a function; of a class those that its body defines, and none that was generated."""
    if not isinstance(thing, type):
        return [thing]
    members = (function for member in vars(thing).values() for function in functions_in(member))
    return [
        bare
        for bare in map(inspect.unwrap, members)
        if isinstance(bare, FunctionType)
        and bare.__code__.co_qualname.rpartition(".")[0] == thing.__qualname__
    ]


def is_same_code(one: CodeType, other: CodeType) -> bool:
    """Return whether two pieces of code do the same, wherever they stand."""
    return content_digest(one) == content_digest(other)


def _lines(code: CodeType) -> set[int]:
    return {inner.co_firstlineno for inner in (code, *codes_in(code))}


def _fits(found: Definition, thing: Any, codes: Iterable[CodeType]) -> bool:
    if not isinstance(thing, type):
        pairs = defaults_in(found.node, thing)
        is_same = all(is_same_code(found.code, code) for code in codes)
        return is_same and all(is_value(node, value, None, found.source) for node, value in pairs)
    inner_codes = [code for code in found.code.co_consts if isinstance(code, CodeType)]
    names = {code.co_name for code in inner_codes if code.co_name.isidentifier()}
    return (
        isinstance(found.node, ast.ClassDef)
        and all(any(is_same_code(one, code) for one in inner_codes) for code in codes)
        and all(name in vars(thing) or name.startswith("__") for name in names)
        and _has_fields(found.node, thing, found)
    )


def _has_fields(node: ast.ClassDef, cls: type, found: Definition) -> bool:
    """Return whether a class has the fields that a source says, with the same plain defaults."""
    of_fields = (getattr(cls, f"__{kind}_fields__", {}) for kind in ("dataclass", "pydantic"))
    defaults = {name: part.default for parts in of_fields for name, part in parts.items()}
    defaults |= getattr(cls, "_field_defaults", {})
    defaults |= {name: member.value for name, member in getattr(cls, "_member_map_", {}).items()}
    fields, values = set[str](), dict[str, ast.expr | None]()
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                fields.add(name)
                values[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
    existing = {*(attempt(inspect.get_annotations, cls)[0] or ())}
    # A TypedDict has the annotations of its bases too.
    same = fields <= existing if hasattr(cls, "__total__") else fields == existing
    return same and all(
        is_value(value, defaults[name], None, found.source)
        for name, value in values.items()
        if value is not None and name in defaults
    )


def defaults_in(node: DefinitionNode, function: FunctionType) -> list[tuple[ast.expr, Any]]:
    """Return the defaults of a function: what its source says, and what they are."""
    if isinstance(node, ast.ClassDef):
        return []
    keywords = function.__kwdefaults__ or {}
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    named = [(default, keywords.get(argument.arg)) for argument, default in pairs if default]
    return [*zip(node.args.defaults, function.__defaults__ or (), strict=False), *named]


def is_value(
    node: ast.expr, value: object, names: Mapping[str, object] | None, source: str
) -> bool:
    """Return whether an expression in a source text may have come to a value.

    Without `names`, only what uses none is looked at. What a call returns, and what can change,
    nobody knows.
    """
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    if isinstance(node, ast.Lambda):
        value_code = getattr(value, "__code__", None)
        parts = _module_and_statements(ast.parse(source))
        future = getattr(value_code, "co_flags", 0) & FUTURE
        compiled = (code for part in parts for code in codes_in(compiled_module(part, future)))
        return value_code is not None and any(is_same_code(value_code, code) for code in compiled)
    is_call = any(isinstance(part, (ast.Call, ast.Await)) for part in ast.walk(node))
    if is_call or (used and names is None) or isinstance(value, (list, dict, set)):
        return True
    there = {name: names[name] for name in used if names and name in names}
    code = compile(ast.Expression(node), "<default>", "eval")
    now, raised = attempt(eval, code, {"__builtins__": {}}, there)
    return not raised and (now is value or bool(attempt(lambda: now == value)[0]))
