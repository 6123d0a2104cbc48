"""Sessions to take home: what they make, and how to see that a script made the same."""

from __future__ import annotations

import ast
import enum
import io
import runpy
import sys
import tempfile
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from jupyter_toolcall import Scripted, Session, Toolbox, tool
from jupyter_toolcall.export.statements import variables


class Colour(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark blue"


class Size(NamedTuple):
    wide: int
    high: int


SQUARE = Size(8, 8)


@dataclass(frozen=True)
class Brush:
    """A brush, which never changes."""

    colour: Colour = Colour.RED
    width: float = 1.0

    def wider(self, by: float = 1) -> Brush:
        """Make it wider."""
        return Brush(self.colour, self.width + by)


@dataclass
class Sheet:
    """A sheet of paper that can be drawn on."""

    size: Size = SQUARE
    marks: list[str] = field(default_factory=list)

    @staticmethod
    def blank(wide: int, high: int = 8) -> Sheet:
        """Take a new sheet."""
        return Sheet(Size(wide, high))

    def draw(self, text: str, brush: Brush | None = None) -> None:
        """Draw on it."""
        with_what = f" with {brush.colour.value} {brush.width:g}" if brush else ""
        self.marks.append(f"{text}{with_what}")

    def turned(self) -> Sheet:
        """Turn it."""
        self.size = Size(self.size.high, self.size.wide)
        return self

    @tool(read_only=True)
    def count(self) -> int:
        """Count the marks; whoever counts wipes a copy."""
        found = len(self.marks)
        self.marks.clear()
        return found

    def halves(self) -> list[Sheet]:
        """Cut it in two."""
        half = Size(self.size.wide // 2, self.size.high)
        return [Sheet(half, [*self.marks]), Sheet(half)]

    async def dry(self) -> Sheet:
        """Wait until it is dry."""
        return Sheet(self.size, [f"dry {mark}" for mark in self.marks])

    def fold(self, keep: bool):  # type: ignore[no-untyped-def]
        """Fold it; who keeps it gets a new one."""
        if keep:
            return Sheet(self.size, ["folded"])
        self.marks.append("folded")
        return None

    def itself(self) -> Sheet:
        """Give it back."""
        return self


class Frame(BaseModel):
    """What a sheet is put in."""

    sheet: Sheet
    edges: list[Colour] = []
    title: Annotated[str, Field(alias="label")] = ""

    @field_validator("title")
    @classmethod
    def _short(cls, title: str) -> str:
        return title.strip()


class Wall:
    """A wall with a state of its own."""

    def __init__(self) -> None:
        self.hung: list[Sheet] = []

    def hang(self, sheet: Sheet, *notes: str, **more: int) -> int:
        """Hang a sheet on the wall."""
        sheet.marks += [*notes, *(f"{key} {value}" for key, value in sorted(more.items()))]
        self.hung.append(sheet)
        return len(self.hung)

    def last(self) -> Sheet:
        """Look at the sheet that was hung there last."""
        return self.hung[-1]

    def wipe(self) -> int:
        """Wipe all that hangs there."""
        for sheet in self.hung:
            sheet.marks.clear()
        return len(self.hung)


def paste(
    sheets: list[Sheet], onto: Sheet | None = None, /, sign: Literal["+", "-"] = "+"
) -> Sheet:
    """Paste sheets over one another."""
    base = onto or Sheet()
    for sheet in sheets:
        base.marks += [sign, *sheet.marks]
        sheet.marks.clear()
    return base


def frame(frame: Frame) -> Sheet:
    """Put a sheet in a frame."""
    frame.sheet.marks.append(f"{frame.title!r} {[edge.value for edge in frame.edges]}")
    return frame.sheet


@tool(name="tear_up", read_only=True)
def tear(sheet: Sheet, why: str) -> str:
    """Tear a sheet up."""
    raise ValueError(f"no: {why}")


def note(text: str, *more: Any) -> dict[str, Any]:
    """Write something down."""
    return {"text": text, "more": list(more)}


def world() -> Toolbox:
    return Toolbox(Sheet, Brush, paste, frame, tear, note, Wall())


sheets = st.sampled_from(["$Sheet", "Sheet#1", "Sheet#1", "Sheet#2", "Sheet#5"])
texts = st.text(max_size=6) | st.sampled_from(
    ["'", '"', '"""', "\\", "\n", "{}", "{sheet_1}", "# ", "\u202e", "é", "'''\n", "\x00", "%s"]
)
NOTES = st.lists(texts, max_size=2)
COUNTS = st.dictionaries(st.sampled_from(["a", "class", "x-y", "é"]), st.integers(0, 3), max_size=2)
EDGES = st.lists(st.sampled_from(["red", "dark blue"]), max_size=2)
FRAMES = st.fixed_dictionaries({"sheet": sheets}, optional={"edges": EDGES, "label": texts})


def step(tools: str, optional: Any = None, **arguments: Any) -> st.SearchStrategy[Any]:
    """Draw a call of one of the tools, with arguments that are there always or at times."""
    named = st.fixed_dictionaries(arguments, optional=optional)
    return st.tuples(st.sampled_from(tools.split()), named)


steps = st.one_of(
    step("Sheet_blank", wide=st.integers(1, 9)),
    step("Sheet_draw", {"brush": st.just("$Brush")}, Sheet=sheets, text=texts),
    step("Sheet_turned Sheet_count Sheet_halves Sheet_dry", Sheet=sheets),
    step("Sheet_fold", Sheet=sheets, keep=st.booleans()),
    step("Sheet_itself", Sheet=sheets),
    step("Brush_wider", {"by": st.just("2.5")}),
    step("paste", {"onto": sheets, "sign": st.just("-")}, sheets=st.lists(sheets, max_size=3)),
    step("frame", frame=FRAMES),
    step("Wall_hang", {"notes": NOTES, "more": COUNTS}, sheet=sheets),
    step("Wall_last Wall_wipe"),
    step("tear_up", sheet=sheets, why=texts),
    step("note", text=texts, more=NOTES),
)
choices = st.sampled_from(["approve", "approve", "approve", "edit", "reject", "answer", "hand"])


@dataclass(frozen=True)
class Plan:
    """All that a session depends on."""

    scheme: str
    turns: tuple[Any, ...]
    choices: tuple[str, ...] = ()
    words: str = "Draw something."
    saves: bool = False


plans = st.builds(
    Plan,
    st.sampled_from(["flat", "select", "current"]),
    st.lists(
        st.lists(steps, min_size=1, max_size=3).flatmap(
            lambda calls: st.sampled_from([calls, ["So.", *calls]])
        ),
        min_size=2,
        max_size=8,
    ).map(tuple),
    st.just(()) | st.lists(choices, min_size=1, max_size=6).map(tuple),
    texts.filter(str.strip),
    st.booleans(),
)


def opened(plan: Plan) -> Session:
    script: list[Any] = [*plan.turns]
    if plan.scheme == "select":
        script.insert(0, ("selectTools", {"tools": list(world().names)}))
    if plan.scheme == "current":
        script.insert(0, ("_use_Sheet", {"id": "Sheet#1"}))
    if plan.saves:
        script.append(("save", {"picture": "$Sheet", "verdict": plan.words}))
    return Session(
        world(),
        Scripted(script),
        scheme=plan.scheme,
        approve="ask" if plan.choices else "all",
        inputs={"paper": (Sheet(marks=["old"]), plan.words), "brush": Brush(Colour.DARK_BLUE)},
        outputs={"picture": Sheet, "verdict": str} if plan.saves else {},
    )


def play(plan: Plan) -> Session:
    """Play a plan to its end; what is left to decide is approved."""
    session, drawn = opened(plan).ask(plan.words).run(), list(plan.choices)
    while session.pending:
        call = session.pending[0]
        match drawn.pop() if drawn else "approve":
            case "edit" if "text" in call.arguments:
                session.decide(call, "edit", arguments={**call.arguments, "text": "mine"})
            case "reject":
                session.decide(call, "reject", reason=plan.words)
            case "answer":
                session.decide(call, "answer", result=Sheet(marks=[plan.words]))
            case "hand":
                session.tool_call_result(call.id, [Sheet(), Sheet(marks=["handed"])])
            case _:
                session.decide(call)
        session.run()
    return session


# -- what a script made ---------------------------------------------------------------------


def run(path: Path, free: bool = True) -> dict[str, Any]:
    """Run a script as a program would be; if it is `free`, nothing of ours can be imported."""
    if not free:
        return runpy.run_path(str(path), run_name="exported")
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    sys.meta_path.insert(0, _Nothing())
    try:
        return runpy.run_path(str(path), run_name="exported")
    finally:
        sys.meta_path.pop(0)
        sys.modules.update(hidden)


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in ("jupyter_toolcall", "tests")


class _Nothing:
    def find_spec(self, name: str, *more: Any) -> None:
        if is_ours(name):
            raise ImportError(f"a script needs {name}")


def plain(value: Any) -> Any:
    """A value as what it is made of, whichever module its class is in."""
    if isinstance(value, enum.Enum):
        return type(value).__name__, value.name
    if isinstance(value, tuple):
        return type(value).__name__, [plain(part) for part in value]
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {plain(key) if not isinstance(key, str) else key: plain(value[key]) for key in value}
    if is_dataclass(value):
        parts = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        return type(value).__name__, parts
    if hasattr(value, "savefig"):
        return _settled(value)
    if hasattr(value, "to_csv"):
        return value.to_csv()
    if hasattr(value, "__dict__"):
        return type(value).__name__, plain(vars(value))
    return value


def _settled(figure: Any) -> bytes:
    """A figure's picture. A constrained layout depends on how often the figure was drawn before,
    and whether a drawing was ended by its time limit: so that is left out."""
    figure.set_layout_engine("none")
    for axes in figure.axes:
        if (spec := axes.get_subplotspec()) is not None:
            axes.set_position(spec.get_position(figure))
    into = io.BytesIO()
    figure.savefig(into, format="png", metadata={"Software": None})
    return into.getvalue()


def made_alike(session: Session, made: dict[str, Any]) -> int:
    """Assert that a script made all objects of a session; return how many."""
    for name, variable in variables(session.objects).items():
        assert plain(made[variable]) == plain(session[name]), name
    return len(session.objects)


_FOLDERS = tempfile.TemporaryDirectory()


def new_folder() -> Path:
    """Return a folder that is gone when the tests end."""
    return Path(tempfile.mkdtemp(dir=_FOLDERS.name))


def exported(session: Session, to: str = "py") -> Path:
    return session.export(new_folder() / f"session.{to}")


def bare(text: str) -> str:
    """What code does, whatever its literals say."""

    class Blank(ast.NodeTransformer):
        def visit_Constant(self, node: ast.Constant) -> ast.Constant:
            return ast.Constant("") if isinstance(node.value, str) else node

    return ast.dump(Blank().visit(ast.parse(text)))
