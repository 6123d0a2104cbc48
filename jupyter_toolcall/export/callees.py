"""How Python calls a tool: what stands before the parenthesis, and which arguments have names."""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..sources.file_tools import Folder
from ..tools.python_tools import takes_keywords
from ..tools.tool import Origin, Tool
from .code import ITEMS, Code, Need, Unwritable, call, of_module, reference, written
from .definition_source import compiled_module

Gives = Literal["value", "items", "nothing", "unsure"]
_Parameter = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Callee:
    """A function, or a method where `head` is what has it."""

    head: Code | None
    """None for a method of an object that is an argument."""
    method: str = ""
    first: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that have no name in the call, in their order, with their defaults."""
    many: str = ""
    named: str = ""
    awaited: bool = False
    gives: Gives = "value"
    """Whether it returns something, or items as a generator, which runs only when it is read; what
    returns nothing changed the object that it is of."""
    needs: frozenset[Need] = frozenset()
    """What has to be defined for it, though the call does not say so."""

    def called(
        self, arguments: Mapping[str, Code], awaits: bool, subject: Code | None = None
    ) -> Code:
        """Return what comes of the call with these arguments, on an object where it is a method of
        one; `awaits` says whether code can `await` where it stands."""
        remaining = dict(arguments)
        first = list(_opened("*", remaining.pop(self.many, None)))
        for name, default in reversed([*self.first.items()]):
            # What was left out is written where another one stands behind it.
            if name in remaining or first:
                first.insert(0, remaining.pop(name) if name in remaining else written(default))
        keywords = list(_opened("**", remaining.pop(self.named, None)))
        head = self.head or subject
        if head is None:
            raise Unwritable(f"{self.method} of nothing")
        at = head.then(f".{self.method}") if self.method else head
        code = call(at, first, remaining, keywords)
        code = Code(code.text, code.needs | self.needs)
        if self.awaited and self.gives == "items":
            code = call(ITEMS, [code])
        if self.awaited and awaits:
            return Code(f"await {code.text}", code.needs)
        if self.awaited:
            return call(of_module("asyncio", "asyncio.run"), [code])
        return call(Code("list"), [code]) if self.gives == "items" else code


def _opened(stars: str, part: Code | None) -> Iterator[Code]:
    if part is not None and part.text not in ("[]", "{}"):
        yield Code(f"{stars}{part.text}", part.needs)


# -- from what is here ----------------------------------------------------------------------


def callee_of(tool: Tool, instance: Code | None) -> Callee:
    """Return how a tool of this process is called. Raises Unwritable where it is no Python."""
    origin = tool.origin or Origin(tool.function)
    if origin.owner is None:
        return of_function(origin.function)
    shape = replace(shape_of(origin.function), method=origin.name)
    if tool.instance:
        return replace(_without_first(shape), head=instance)
    return replace(shape, head=reference(origin.owner)) if origin.static else _without_first(shape)


def of_function(function: Any) -> Callee:
    """Return how a function, or a method of an object, is called. Raises Unwritable."""
    shape, subject = shape_of(function), getattr(function, "__self__", None)
    if isinstance(subject, Folder):
        # A script names a folder in the current one from there.
        is_below = subject.path.resolve().is_relative_to(Path.cwd())
        path = os.path.relpath(subject.path) if is_below else subject.path
        head = call(reference(Folder), [written(Path(path))])
        return replace(shape, head=head, method=function.__name__)
    return replace(shape, head=reference(function))


def shape_of(function: Any) -> Callee:
    """Return how a function is called, all but its name. Raises Unwritable."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise Unwritable("a function whose signature cannot be read") from None
    parameters, bare = [*signature.parameters.values()], inspect.unwrap(function)
    many = next((p.name for p in parameters if p.kind is _Parameter.VAR_POSITIONAL), "")
    named = next((p.name for p in parameters if p.kind is _Parameter.VAR_KEYWORD), "")
    by_position = many or not (named or takes_keywords(function))
    kinds = [_Parameter.POSITIONAL_ONLY, *[_Parameter.POSITIONAL_OR_KEYWORD] * bool(by_position)]
    first = {p.name: p.default for p in parameters if p.kind in kinds}
    is_async = inspect.iscoroutinefunction(bare) or inspect.isasyncgenfunction(bare)
    is_generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    gives: Gives = "items" if is_generator else _gives(signature)
    if gives == "unsure" and _returns_nothing(bare):
        gives = "nothing"
    return Callee(None, "", first, many, named, is_async, gives)


def _gives(signature: inspect.Signature) -> Gives:
    if (annotation := signature.return_annotation) is inspect.Signature.empty:
        return "unsure"
    is_text = isinstance(annotation, str)
    text = annotation.strip("'\"") if is_text else inspect.formatannotation(annotation)
    if text in ("None", "NoneType"):
        return "nothing"
    return "unsure" if "None" in text or "Optional" in text or text == "Any" else "value"


def _returns_nothing(function: object) -> bool:
    """Return whether no way through a function ends with a value."""
    if not inspect.isfunction(function):
        return False
    before, ends = None, []
    for instruction in dis.get_instructions(function):
        if instruction.opname == "RETURN_CONST":
            ends.append(instruction.argval)
        elif instruction.opname == "RETURN_VALUE":
            ends.append(before.argval if before and before.opname == "LOAD_CONST" else function)
        before = instruction
    return all(end is None for end in ends)


def _without_first(shape: Callee) -> Callee:
    """A method's first parameter is the object before the dot."""
    return replace(shape, first=dict([*shape.first.items()][1:]))


# -- from text ------------------------------------------------------------------------------


def function_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> object:
    """Return the function of a definition that is only read; it is never called.

    Its decorators are left out, its annotations stay texts, and a default is kept only if it is a
    literal, so that nothing of the file runs. NotImplemented, which no code says, is any other.
    """
    bare, arguments = copy.copy(node), copy.copy(node.args)
    literal, unsaid = ast.Constant, ast.Name("NotImplemented", ast.Load())
    arguments.defaults = [d if isinstance(d, literal) else unsaid for d in arguments.defaults]
    arguments.kw_defaults = [default and literal(None) for default in arguments.kw_defaults]
    bare.decorator_list, bare.args = [], arguments
    module = ast.fix_missing_locations(ast.Module([bare], []))
    scope: dict[str, Any] = {}
    exec(compiled_module(module, __future__.annotations.compiler_flag), scope)
    return scope[node.name]


def method_of(node: ast.ClassDef, name: str) -> Callee | None:
    """Return how a method of a class that is only read is called, all but what has it.

    Returns None where the class has none of that name.
    """
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == name:
            shape = replace(shape_of(function_of(part)), method=name)
            is_static = "staticmethod" in map(ast.unparse, part.decorator_list)
            return shape if is_static else _without_first(shape)
    return None
