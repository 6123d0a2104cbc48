"""The expressions of `tables_filter` and `tables_derive`: parsed and checked here, never evaluated
as Python.

The text is parsed by `ast`. Only the nodes in `_Parser.read` become expressions of narwhals. Each
has a kind (number, text, bool, date), so that a wrong operation is an error before anything runs.
A comparison with a missing value is false, on each engine.
"""

from __future__ import annotations

import ast
import datetime
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from ..core.errors import CallError
from ..core.text import nearest, visible_text
from .table_frames import Kind, kind_of_column, narwhals, unknown_column

LONGEST, MOST_NODES, DEEPEST = 2_000, 400, 40
"""Characters, nodes and levels of one expression."""
LARGEST = 2**63 - 1
_QUOTED = re.compile(r"""`([^`]*)`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_STAND_IN = "column__{}__"
"""What stands in the parsed text for a column in backticks."""
_NULLS = {"null", "NULL", "None", "NaN", "nan", "NA"}
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False}
HELP = (
    'Write a comparison such as price > 3, `unit price` in [1, 2], name == "x" and '
    "not is_null(city); functions: "
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression: what narwhals computes, and its kind."""

    expr: Any
    kind: Kind | None
    """None for the literal null."""
    literal: bool = False
    value: Any = None
    """The value of a literal."""
    dtype: Any = None
    """The type of a bare column."""


def condition(text: str, frame: Any, hidden: Collection[str] = ()) -> Any:
    """Return a condition on the rows of a frame as an expression of narwhals.

    Raises CallError, in one line, for what is no condition. `hidden` columns may only be
    tested for null.
    """
    part = _Parser(text, frame, hidden).part
    if part.kind != "bool" or part.literal:
        raise CallError(f"{visible_text(text, 80)} is no condition. {HELP}{', '.join(FUNCTIONS)}")
    return part.expr.fill_null(False)


def value_of(text: str, frame: Any, hidden: Collection[str] = ()) -> Any:
    """Return an expression for a new column. Raises CallError, in one line."""
    return _Parser(text, frame, hidden).part.expr


class _Parser:
    """Reads one text against the columns of one frame."""

    def __init__(self, text: str, frame: Any, hidden: Collection[str]) -> None:
        self.schema = dict(frame.schema)
        self.hidden, self._quoted = frozenset(hidden), dict[str, str]()
        self._nw = narwhals()
        self.part = self.read(self._tree(text))

    def _tree(self, text: str) -> ast.expr:
        """Return the parsed text. Raises CallError where it is none, too long or too deep."""
        if len(text) > LONGEST:
            raise CallError(f"the expression is longer than {LONGEST:,} characters")
        source = _QUOTED.sub(self._stand_in, text).strip()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            reason = getattr(error, "msg", None) or "it cannot be read"
            raise CallError(
                f"{visible_text(text, 80)} is no expression ({visible_text(str(reason), 80)}). "
                f"{HELP}{', '.join(FUNCTIONS)}"
            ) from None
        _check_size(tree)
        return tree

    def _stand_in(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        name = _STAND_IN.format(len(self._quoted))
        self._quoted[name] = match[1]
        return name

    # -- nodes ---------------------------------------------------------------------------------

    def read(self, node: ast.expr) -> Part:
        """Return a node as a part. Raises CallError for each node that is not allowed."""
        match node:
            case ast.Constant(value):
                return self._literal(value)
            case ast.Name(name):
                return self._name(name)
            case ast.UnaryOp(op, operand):
                return self._unary(op, self.read(operand))
            case ast.BoolOp(op, values):
                parts = [self._bool(self.read(value)) for value in values]
                return self._joined(parts, isinstance(op, ast.And))
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as op, right):
                parts = [self._bool(self.read(left)), self._bool(self.read(right))]
                return self._joined(parts, isinstance(op, ast.BitAnd))
            case ast.BinOp(left, op, right):
                return self._arithmetic(self.read(left), op, self.read(right))
            case ast.Compare(left, ops, rights):
                return self._comparisons(left, ops, rights)
            case ast.IfExp(test, body, orelse):
                return self._choice(self.read(test), self.read(body), self.read(orelse))
            case ast.Call(function, arguments, []):
                return self._call(function, arguments)
        raise CallError(f"{_shown(node)} is not allowed in an expression. {_ALLOWED}")

    def _literal(self, value: Any) -> Part:
        if value is None:
            return Part(self._nw.lit(None), None, True)
        match value:
            case bool():
                kind: Kind = "bool"
            case int() if abs(value) <= LARGEST:
                kind = "number"
            case float() if value - value == 0:
                kind = "number"
            case str():
                kind = "text"
            case _:
                raise CallError("a literal is a number, a text, true, false or null")
        return Part(self._nw.lit(value), kind, True, value)

    def _name(self, name: str) -> Part:
        name = self._quoted.get(name, name)
        if name not in self.schema:
            if name in _NULLS:
                return self._literal(None)
            if name.lower() in _TRUTHS:
                return self._literal(_TRUTHS[name.lower()])
            raise unknown_column(name, [*self.schema])
        if name in self.hidden:
            raise CallError(
                f"{name} is withheld: an expression may only test it, as is_null({name})"
            )
        dtype = self.schema[name]
        return Part(self._nw.col(name), kind_of_column(dtype), dtype=dtype)

    def _unary(self, op: ast.unaryop, part: Part) -> Part:
        if isinstance(op, (ast.Not, ast.Invert)):
            condition = self._bool(part)
            if condition.literal:
                return self._literal(not condition.value)
            return Part(~condition.expr, "bool")
        self._number(part, "-")
        if isinstance(op, ast.UAdd):
            return part
        if part.literal:
            return self._literal(-part.value)
        return Part(-part.expr, "number")

    def _joined(self, parts: list[Part], all_of: bool) -> Part:
        if all(part.literal for part in parts):
            return self._literal((all if all_of else any)(part.value for part in parts))
        expr = parts[0].expr
        for part in parts[1:]:
            expr = (expr & part.expr) if all_of else (expr | part.expr)
        return Part(expr, "bool")

    def _bool(self, part: Part) -> Part:
        """Return a condition in which a missing value is false."""
        if part.kind != "bool":
            raise CallError("and, or and not stand between conditions, such as price > 3")
        return part if part.dtype is None else Part(part.expr.fill_null(False), "bool")

    def _number(self, part: Part, operator: str) -> None:
        if part.kind != "number":
            raise CallError(f"{operator} takes numbers, not {_kind_text(part)}")

    def _arithmetic(self, left: Part, op: ast.operator, right: Part) -> Part:
        symbol = _SYMBOLS.get(type(op))
        if symbol is None:
            raise CallError(f"this operator is not allowed in an expression. {_ALLOWED}")
        if symbol == "+" and left.kind == right.kind == "text":
            if left.literal and right.literal:
                return self._literal(left.value + right.value)
            return Part(self._nw.concat_str([left.expr, right.expr]), "text")
        self._number(left, symbol)
        self._number(right, symbol)
        if symbol == "**" and not (right.literal and abs(right.value) <= 10 and not left.literal):
            raise CallError("** takes a column and a number from -10 to 10")
        if symbol in ("/", "//", "%") and right.literal and right.value == 0:
            raise CallError(f"{symbol} 0 has no result")
        if left.literal and right.literal:
            return self._literal(_OPERATIONS[symbol](left.value, right.value))
        return Part(_OPERATIONS[symbol](left.expr, right.expr), "number")

    # -- comparisons -----------------------------------------------------------------------------

    def _comparisons(self, left: ast.expr, ops: list[ast.cmpop], rights: list[ast.expr]) -> Part:
        parts = []
        for op, right in zip(ops, rights, strict=True):
            parts.append(self._compare(left, op, right))
            left = right
        return self._joined(parts, True) if len(parts) > 1 else parts[0]

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Part:
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._membership(self.read(left), right, isinstance(op, ast.NotIn))
        # A withheld column may be tested for null, so its name is read here.
        if self._is_null_literal(right) and isinstance(op, (ast.Is, ast.Eq, ast.IsNot, ast.NotEq)):
            return self._null_test([left], isinstance(op, (ast.IsNot, ast.NotEq)))
        symbol = _COMPARISONS.get(type(op))
        if symbol is None:
            raise CallError(f"{_shown(right)}: write == in place of is")
        first, second = self._same_kind(self.read(left), self.read(right))
        if first.literal and second.literal:
            raise CallError("a comparison names at least one column")
        if symbol not in ("==", "!=") and first.kind == "bool":
            raise CallError(f"{symbol} does not compare true and false")
        compared = _OPERATIONS[symbol](first.expr, second.expr)
        if symbol == "!=":
            for part in (first, second):
                compared = compared if part.literal else compared & ~part.expr.is_null()
        return Part(compared.fill_null(False), "bool")

    def _is_null_literal(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(None):
                return True
            case ast.Name(name):
                return name in _NULLS and name not in self.schema
        return False

    def _same_kind(self, left: Part, right: Part) -> tuple[Part, Part]:
        """Return two parts of one kind: a text beside a date is read as an ISO date."""
        if left.kind == "date" and right.kind == "text" and right.literal:
            return left, self._date(right.value, left.dtype)
        if right.kind == "date" and left.kind == "text" and left.literal:
            return self._date(left.value, right.dtype), right
        if left.kind is None or right.kind is None:
            raise CallError("test for null with is_null(column) or column == null")
        if left.kind != right.kind:
            raise CallError(f"{_kind_text(left)} is not compared with {_kind_text(right)}")
        return left, right

    def _date(self, text: str, dtype: Any) -> Part:
        try:
            when = datetime.datetime.fromisoformat(text)
        except ValueError:
            raise CallError(
                f"{visible_text(text, 40)!r} is no date; write one as '2024-01-31'"
            ) from None
        zone = getattr(dtype, "time_zone", None)
        if zone and when.tzinfo is None:
            when = when.replace(tzinfo=ZoneInfo(zone))
        elif not zone:
            when = when.replace(tzinfo=None)
        value = when.date() if dtype == self._nw.Date and when.time() == datetime.time() else when
        return Part(self._nw.lit(value), "date", True, value)

    def _membership(self, part: Part, right: ast.expr, negated: bool) -> Part:
        if not isinstance(right, (ast.List, ast.Tuple, ast.Set)) or not right.elts:
            raise CallError('in takes a list of literals, such as ["a", "b"]')
        if part.literal:
            raise CallError("in stands after a column, such as city in ['a', 'b']")
        values = [self.read(node) for node in right.elts]
        if not all(value.literal for value in values):
            raise CallError('in takes a list of literals, such as ["a", "b"]')
        values = [value for value in values if value.kind is not None]
        members = [self._same_kind(part, value)[1].value for value in values]
        is_member = part.expr.is_in(members).fill_null(False)
        return Part(~is_member & ~part.expr.is_null() if negated else is_member, "bool")

    def _null_test(self, arguments: list[ast.expr], negated: bool = False) -> Part:
        _arity("is_null", arguments, 1)
        name = arguments[0].id if isinstance(arguments[0], ast.Name) else ""
        name = self._quoted.get(name, name)
        column = self._nw.col(name) if name in self.schema else self.read(arguments[0]).expr
        test = column.is_null()
        if name in self.schema and self.schema[name].is_float():
            # Polars and pyarrow tell NaN and null apart; both are missing.
            test = test | column.is_nan().fill_null(False)
        return Part(~test if negated else test, "bool")

    # -- functions -------------------------------------------------------------------------------

    def _choice(self, test: Part, body: Part, otherwise: Part) -> Part:
        if body.kind != otherwise.kind and None not in (body.kind, otherwise.kind):
            raise CallError(
                f"both ends of an if are of one kind, not {_kind_text(body)} and "
                f"{_kind_text(otherwise)}"
            )
        if test.literal:
            raise CallError("the condition of an if names at least one column")
        chosen = self._nw.when(self._bool(test).expr).then(body.expr).otherwise(otherwise.expr)
        return Part(chosen, body.kind or otherwise.kind)

    def _call(self, function: ast.expr, arguments: list[ast.expr]) -> Part:
        """Return a call as a part; `name.str.lower()` is read as `lower(name)`."""
        match function:
            case ast.Name(name):
                pass
            case ast.Attribute(ast.Attribute(owner, "str" | "dt"), name):
                arguments = [owner, *arguments]
            case ast.Attribute(owner, name):
                arguments = [owner, *arguments]
            case _:
                raise CallError(f"{_shown(function)} is no function. {_ALLOWED}")
        name = _ALIASES.get(name, name)
        if name in ("is_null", "not_null"):
            return self._null_test(arguments, name == "not_null")
        if name not in FUNCTIONS:
            listed, hint = ", ".join(FUNCTIONS), nearest(name, FUNCTIONS)
            raise CallError(
                f"there is no function {visible_text(name, 40)}.{hint} Functions: {listed}"
            )
        takes, count, returns, apply = FUNCTIONS[name]
        _arity(name, arguments, count)
        first, *following = [self.read(argument) for argument in arguments]
        if takes is not None and first.kind != takes:
            raise CallError(f"{name} takes a {takes}, not {_kind_text(first)}")
        if first.literal:
            raise CallError(f"{name} takes a column")
        if name == "coalesce":
            values: list[Any] = [self._same_kind(first, following[0])[1]]
        else:
            values = [_plain(name, part) for part in following]
        return Part(apply(self._nw, first.expr, *values), returns or first.kind)


def _check_size(tree: ast.expr) -> None:
    """Raise CallError for a tree that is too large. A loop reads it, since it may be too deep."""
    level: list[ast.AST] = [tree]
    nodes, depth = 0, 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > MOST_NODES * 3 or depth > DEEPEST:
            raise CallError(
                f"the expression is too large: at most {MOST_NODES} parts and {DEEPEST} levels"
            )
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _arity(name: str, arguments: list[ast.expr], count: int) -> None:
    if len(arguments) != count:
        expected = f"{count} argument{'' if count == 1 else 's'}"
        raise CallError(f"{name} takes {expected}, and got {len(arguments)}")


def _plain(name: str, part: Part) -> Any:
    """Return the value of a literal argument."""
    if not part.literal or part.kind is None:
        raise CallError(f"{name}: only the first argument may be a column")
    return part.value


def _kind_text(part: Part) -> str:
    return {"number": "a number", "text": "a text", "bool": "true or false", "date": "a date"}.get(
        str(part.kind), "null" if part.kind is None else "a value of another type"
    )


def _shown(node: ast.AST) -> str:
    """Return a node as an error names it: its kind, in words that a model knows."""
    names = {
        ast.Attribute: "an attribute",
        ast.Lambda: "lambda",
        ast.NamedExpr: "an assignment",
        ast.Subscript: "an index",
        ast.JoinedStr: "a format string",
        ast.Call: "a call with named arguments",
        ast.List: "a list",
        ast.Tuple: "a tuple",
        ast.Dict: "a dict",
        ast.Set: "a set",
        ast.Await: "await",
        ast.Starred: "*",
    }
    return names.get(type(node), "this part")


def _text_argument(method: str) -> Callable[..., Any]:
    def apply(nw: Any, expr: Any, text: Any) -> Any:
        if not isinstance(text, str):
            raise CallError(f"{method} takes a text as its second argument")
        if method == "contains":
            return expr.str.contains(text, literal=True).fill_null(False)
        return getattr(expr.str, method)(text).fill_null(False)

    return apply


def _replace(nw: Any, expr: Any, old: Any, new: Any) -> Any:
    if not (isinstance(old, str) and isinstance(new, str) and old):
        raise CallError("replace takes a text to replace, and the text in its place")
    return expr.str.replace_all(old, new, literal=True)


def _slice(nw: Any, expr: Any, start: Any, length: Any) -> Any:
    if not all(type(number) is int and 0 <= number <= 10_000 for number in (start, length)):
        raise CallError("slice takes the first position, from 0, and a length")
    return expr.str.slice(start, length)


def _round(nw: Any, expr: Any, digits: Any) -> Any:
    if type(digits) is not int or not 0 <= digits <= 15:
        raise CallError("round takes a number of digits from 0 to 15")
    return expr.round(digits)


def _coalesce(nw: Any, expr: Any, other: Part) -> Any:
    return nw.coalesce(expr, other.expr)


Function = tuple[Kind | None, int, Kind | None, Callable[..., Any]]
"""The kind of its first argument, the number of arguments, the kind of its result, and itself."""
FUNCTIONS: Mapping[str, Function] = {
    "is_null": (None, 1, "bool", lambda nw, e: e.is_null()),
    "not_null": (None, 1, "bool", lambda nw, e: ~e.is_null()),
    "lower": ("text", 1, "text", lambda nw, e: e.str.to_lowercase()),
    "upper": ("text", 1, "text", lambda nw, e: e.str.to_uppercase()),
    "strip": ("text", 1, "text", lambda nw, e: e.str.strip_chars()),
    "len": ("text", 1, "number", lambda nw, e: e.str.len_chars()),
    "contains": ("text", 2, "bool", _text_argument("contains")),
    "startswith": ("text", 2, "bool", _text_argument("starts_with")),
    "endswith": ("text", 2, "bool", _text_argument("ends_with")),
    "replace": ("text", 3, "text", _replace),
    "slice": ("text", 3, "text", _slice),
    "year": ("date", 1, "number", lambda nw, e: e.dt.year()),
    "month": ("date", 1, "number", lambda nw, e: e.dt.month()),
    "day": ("date", 1, "number", lambda nw, e: e.dt.day()),
    "hour": ("date", 1, "number", lambda nw, e: e.dt.hour()),
    "minute": ("date", 1, "number", lambda nw, e: e.dt.minute()),
    "weekday": ("date", 1, "number", lambda nw, e: e.dt.weekday()),
    "abs": ("number", 1, "number", lambda nw, e: e.abs()),
    "round": ("number", 2, "number", _round),
    "floor": ("number", 1, "number", lambda nw, e: e.floor()),
    "ceil": ("number", 1, "number", lambda nw, e: e.ceil()),
    "coalesce": (None, 2, None, _coalesce),
}
_ALIASES: Mapping[str, str] = {
    "isnull": "is_null",
    "isna": "is_null",
    "notnull": "not_null",
    "notna": "not_null",
    "length": "len",
    "starts_with": "startswith",
    "ends_with": "endswith",
}
_ALLOWED = f"Allowed: columns, literals, operators, and {', '.join(FUNCTIONS)}"
_SYMBOLS: Mapping[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARISONS: Mapping[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
