"""How Python calls a tool: what stands before the parenthesis, and which arguments have names."""

from __future__ import annotations

import ast
import dis
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..sources.file_tools import Folder
from ..tools.tool import Origin, Tool
from .code import Code, Need, Unwritable, call, reference, written

Gives = Literal["value", "nothing", "unsure"]
_Parameter = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Callee:
    """A function, or a method where `head` is what has it."""

    head: Code | None
    """None for a method of an object that is an argument."""
    method: str = ""
    first: tuple[str, ...] = ()
    """Arguments that have no name in the call, in their order."""
    many: str = ""
    named: str = ""
    awaited: bool = False
    gives: Gives = "value"
    """Whether it returns something; what returns nothing changed the object that it is of."""
    needs: frozenset[Need] = frozenset()
    """What has to be defined for it, though the call does not say so."""

    def called(self, arguments: Mapping[str, Code], subject: Code | None = None) -> Code:
        """Return the call with these arguments, on an object where it is a method of one."""
        remaining = dict(arguments)
        first = [remaining.pop(name) for name in self.first if name in remaining]
        first += _opened("*", remaining.pop(self.many, None))
        more = list(_opened("**", remaining.pop(self.named, None)))
        head = self.head or subject
        if head is None:
            raise Unwritable(f"{self.method} of nothing")
        at = head.then(f".{self.method}") if self.method else head
        made = call(at, first, remaining, more)
        return Code(made.text, made.needs | self.needs)


def _opened(stars: str, part: Code | None) -> Iterator[Code]:
    if part is not None and part.text not in ("[]", "{}"):
        yield Code(f"{stars}{part.text}", part.needs)


# -- from what is here ----------------------------------------------------------------------


def callee_of(tool: Tool, instance: Code | None) -> Callee:
    """Return how a tool of this process is called. Raises Unwritable where it is no Python."""
    origin = tool.origin or Origin(tool.function)
    shape = shaped(_signature(origin), _is_async(origin.function))
    if shape.gives == "unsure" and _returns_nothing(inspect.unwrap(origin.function)):
        shape = replace(shape, gives="nothing")
    if origin.owner is None:
        return of_function(origin.function, shape)
    if tool.instance:
        return replace(_without_first(shape), head=instance, method=origin.name)
    if origin.static:
        return replace(shape, head=reference(origin.owner), method=origin.name)
    return replace(_without_first(shape), method=origin.name)


def of_function(function: Any, shape: Callee | None = None) -> Callee:
    """Return how a function, or a method of an object, is called. Raises Unwritable."""
    shape = shape or shaped(inspect.signature(function), _is_async(function))
    subject = getattr(function, "__self__", None)
    if isinstance(subject, Folder):
        path = os.path.relpath(subject.path) if _is_below(subject.path) else subject.path
        head = call(reference(Folder), [written(Path(path))])
        return replace(shape, head=head, method=function.__name__)
    if inspect.ismethod(function) and not isinstance(subject, type):
        return replace(shape, head=reference(subject), method=function.__name__)
    return replace(shape, head=reference(function))


def _is_below(path: Path) -> bool:
    """Return whether a folder is the current one, or in it: a script names it from there."""
    return path.resolve().is_relative_to(Path.cwd())


def _signature(origin: Origin) -> inspect.Signature:
    try:
        return inspect.signature(origin.function)
    except (TypeError, ValueError):
        raise Unwritable("a function whose signature cannot be read") from None


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function))


def _returns_nothing(function: Any) -> bool:
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
    return replace(shape, first=shape.first[1:] if shape.first else ())


def shaped(signature: inspect.Signature, awaited: bool) -> Callee:
    """Return how what has a signature is called, all but its name."""
    parameters = [*signature.parameters.values()]
    many = next((p.name for p in parameters if p.kind is _Parameter.VAR_POSITIONAL), "")
    named = next((p.name for p in parameters if p.kind is _Parameter.VAR_KEYWORD), "")
    kinds = (_Parameter.POSITIONAL_ONLY, *([_Parameter.POSITIONAL_OR_KEYWORD] if many else []))
    first = tuple(p.name for p in parameters if p.kind in kinds)
    return Callee(None, "", first, many, named, awaited, _gives(signature.return_annotation))


def _gives(annotation: Any) -> Gives:
    if annotation is inspect.Signature.empty:
        return "unsure"
    type_text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    if type_text in ("None", "NoneType"):
        return "nothing"
    return (
        "unsure"
        if "None" in type_text or "Optional" in type_text or type_text == "Any"
        else "value"
    )


# -- from text ------------------------------------------------------------------------------


def shaped_by(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Callee:
    """Return how a function that is only read is called, all but its name."""
    signature = inspect.Signature([*_parameters(node.args)])
    returned = ast.unparse(node.returns).strip("'\"") if node.returns else inspect.Signature.empty
    shape = shaped(signature, isinstance(node, ast.AsyncFunctionDef))
    gives = _gives(returned)
    ends = (part for part in ast.walk(node) if isinstance(part, (ast.Return, ast.Yield)))
    bare = all(part.value is None for part in ends)
    return replace(shape, gives="nothing" if gives == "unsure" and bare else gives)


def _parameters(args: ast.arguments) -> Iterator[inspect.Parameter]:
    kinds: tuple[tuple[Iterable[ast.arg | None], Any], ...] = (
        (args.posonlyargs, _Parameter.POSITIONAL_ONLY),
        (args.args, _Parameter.POSITIONAL_OR_KEYWORD),
        ([args.vararg], _Parameter.VAR_POSITIONAL),
        (args.kwonlyargs, _Parameter.KEYWORD_ONLY),
        ([args.kwarg], _Parameter.VAR_KEYWORD),
    )
    for named, kind in kinds:
        yield from (_Parameter(each.arg, kind) for each in named if each is not None)


def method_of(node: ast.ClassDef, name: str) -> Callee:
    """Return how a method of a class that is only read is called, all but what has it.

    Raises Unwritable where the class has none of that name.
    """
    for statement in node.body:
        if (
            isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
            and statement.name == name
        ):
            shape = shaped_by(statement)
            marks = {ast.unparse(mark) for mark in statement.decorator_list}
            return replace(
                shape if "staticmethod" in marks else _bound(shape, statement), method=name
            )
    raise Unwritable(f"{node.name}.{name}, which stands in no cell")


def _bound(shape: Callee, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Callee:
    parameters = [*node.args.posonlyargs, *node.args.args]
    return _without_first(shape) if parameters and parameters[0].arg in shape.first else shape
