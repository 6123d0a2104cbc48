"""Two branches side by side: what is the same, what differs, and that it reads from either side."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.compare.comparison import Comparison
from jupyter_toolcall.compare.comparison_rows import difference_row
from jupyter_toolcall.compare.differences import (
    CHANGED,
    Fields,
    Images,
    Numbers,
    Others,
    Same,
    Tables,
    Texts,
    Unknown,
    in_a_line,
)
from jupyter_toolcall.compare.values import difference
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.events import Usage
from jupyter_toolcall.core.recorded_data import replace
from jupyter_toolcall.core.text import compared_numbers
from jupyter_toolcall.models import Reply, Request
from tests.compare.mirrored import mirrored

NUMBERS = st.floats(-1e9, 1e9) | st.integers(-99, 99).map(lambda n: n * 0.1)


@given(NUMBERS, NUMBERS)
@example(0.1 + 0.2, 0.3)
@example(0.1 + 0.2, 0.1 + 5.6)
def test_numbers_are_written_without_noise_and_never_alike(a: float, b: float) -> None:
    numbers = difference(a, b)
    if isinstance(numbers, Numbers):
        left, right = in_a_line(numbers).partition(" (")[0].split(" → ")
        assert left != right
        is_near = {left: a, right: b}
        assert all(abs(float(t) - x) <= 1e-14 * max(1, abs(x)) for t, x in is_near.items() if x)


def test_numbers_of_a_printed_comparison_are_those_of_the_panel() -> None:
    """The cases of `values.test.ts`."""

    def add(a: float, b: float) -> dict[str, Any]:
        """Add."""
        return {"sum": a + b, "text": f"{a + b}", "near": [0.3 if b > 1 else 0.1 + 0.2]}

    model = Scripted([("add", {"a": 0.1, "b": 0.2}), "Done."])
    main = Session(Toolbox(add), model, scheme="flat", approve="all").tell("Go.")
    text = str(main.edit("call_1", b=5.6).run().diff("main"))
    assert "sum: 0.3 → 5.7 (+5.4)" in text
    assert 'text: "0.30000000000000004" → "5.699999999999999"' in text
    assert "near[0]: 0.30000000000000004 → 0.3" in text
    for pair, shown in [
        (("5.699999999999999", "2.09"), ("5.7", "2.09")),
        (("0.30000000000000004", "0.3"), ("0.30000000000000004", "0.3")),
        (("-0.11000000000000001", "0.11"), ("-0.11", "0.11")),
        (("1.2345678.9012345", "1"), ("1.2345678.9012345", "1")),
        (("0.1234567890123456789012", "1"), ("0.1234567890123456789012", "1")),
    ]:
        assert compared_numbers(*pair) == shown


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"


# -- values ---------------------------------------------------------------------------------


@dataclass
class Pot:
    """A value of parts."""

    size: int = 1
    label: str = "red"
    lid: Any = None


class Plain:
    """A value without a dataclass."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


class Rude:
    """A value whose own code raises, whatever it is asked."""

    def __init__(self, part: int) -> None:
        self.part = part

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def png(color: str, size: tuple[int, int] = (40, 30)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "PNG")
    return buffer.getvalue()


TABLE = pd.DataFrame({"n": [1, 2, 3], "of": ["a", "b", None]})


def changed(frame: pd.DataFrame, row: int, column: str, value: Any) -> pd.DataFrame:
    made = frame.copy()
    made.loc[row, column] = value
    return made


RECORDS = [{"n": 1, "of": "a"}, {"n": 2, "of": "b"}]
GAPS = pd.DataFrame({"id": [5, 6, 7, 8], "price": [None, 1.0, None, 2.0], "y": [1, 2, 3, 4]})
"""Its first column is a key."""
BLACK, WHITE = Image.new("L", (9, 9)), Image.new("L", (9, 9), 255)
KINDS: list[tuple[Any, Any, type, str]] = [
    (1, 3, Numbers, "1 → 3 (+2)"),
    (1.5, 1, Numbers, "1.5 → 1 (-0.5)"),
    (1, 1.0, Others, "1 → 1.0"),
    ("red", "blue", Others, '"red" → "blue"'),
    (None, 0, Others, "null → 0"),
    ("a\nb\nc", "a\nx\nc", Texts, "1 line differs"),
    ("a" * 500, "a" * 499 + "b", Texts, "1 line differs"),
    ([1, 2, 3], [1, 3], Texts, "1 line differs"),
    ({1, 2}, {2, 3}, Texts, "2 lines differ"),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}, Fields, "b: 2 → 3 (+1)"),
    ({"a": 1}, {"a": 1, "b": "new"}, Fields, 'b: nothing → "new"'),
    (Pot(lid=Pot(1)), Pot(lid=Pot(2)), Fields, "lid.size: 1 → 2 (+1)"),
    (Plain(a=1), Plain(a=2), Fields, "a: 1 → 2 (+1)"),
    (Rude(1), Rude(2), Fields, "part: 1 → 2 (+1)"),
    (RECORDS, [{"n": 1, "of": "a"}, {"n": 5, "of": "b"}], Tables, "n: 1 cell changed"),
    (RECORDS, RECORDS[:1], Tables, "2 × 2 → 1 × 2; 1 row only left"),
    ({"n": [1, 2], "m": [3, 4]}, {"n": [1, 2], "m": [3, 5]}, Tables, "m: 1 cell changed"),
    (TABLE["n"], changed(TABLE, 0, "n", 9)["n"], Tables, "n: 1 cell changed"),
    (TABLE.to_numpy(), changed(TABLE, 0, "n", 9).to_numpy(), Tables, "0: 1 cell changed"),
    (GAPS, GAPS.dropna().reset_index(drop=True), Tables, "4 × 3 → 2 × 3; 2 rows only left"),
    (png("red"), png("blue"), Images, "about 100 % of the pixels differ"),
    (png("red"), png("red", (10, 10)), Images, "40 × 30 → 10 × 10 pixels"),
    (BLACK, WHITE, Images, "about 100 % of the pixels differ"),
    (b"ab", b"ac", Others, "b'ab' → b'ac'"),
    (TABLE["n"].to_frame(), 7, Others, "   n\n0  1\n1  2\n2  3 → 7"),
]


@pytest.mark.parametrize(
    ("left", "right", "kind", "says"), KINDS, ids=lambda each: type(each).__name__
)
def test_values_are_compared_by_their_type(left: Any, right: Any, kind: type, says: str) -> None:
    found = difference(left, right)
    assert type(found) is kind
    assert in_a_line(found) == says
    assert difference(right, left) == mirrored(found)
    assert difference(left, left) == difference(right, right) == Same()


def test_beside_the_other_table_each_says_what_it_alone_has_and_groups_are_a_new_table() -> None:
    [part] = difference_row("", difference(RECORDS, RECORDS[:1])).parts
    assert (part.says, part.left, part.right) == ("", "1 row only here", "")
    before = pd.DataFrame({"n": [1, 2, 3, 4], "of": ["a", "b", "b", "c"], "m": 0})
    for groups, says in [
        (pd.DataFrame({"n": [7]}), "a new table, 1 × 1"),
        (pd.DataFrame({"of": ["a", "b", "c"], "n": [10, 50, 40]}), "4 rows → 3, one for each of"),
        (pd.DataFrame({"of": ["a", "b"], "total": [1, 5]}), "a new table, 2 × 2"),
    ]:
        assert in_a_line(difference(before, groups), CHANGED) == says
    fewer = before.loc[[0], ["n", "of"]]
    assert in_a_line(difference(before, fewer), CHANGED).startswith("4 × 3 → 1 × 2; removed: m")


def test_equal_values_that_are_not_one_and_the_same_have_no_difference() -> None:
    pairs = [
        (float("nan"), float("nan")),
        (png("red"), bytes(bytearray(png("red")))),
        (Pot(lid={"a": [1]}), Pot(lid={"a": [1]})),
        (RECORDS, [dict(row) for row in RECORDS]),
    ]
    assert [difference(*pair) for pair in pairs] == [Same()] * len(pairs)


def test_a_change_deep_in_a_large_table_is_found_by_row_and_column() -> None:
    large = pd.DataFrame({"n": range(200_000), "m": 0.5})
    found = difference(large, changed(large, 150_000, "m", 1.5))
    assert isinstance(found, Tables)
    assert [(cell.row, cell.column, cell.left, cell.right) for cell in found.cells] == [
        ("150000", "m", "0.5", "1.5")
    ]
    kept = difference(large, large[large["n"] % 2 == 0])
    assert isinstance(kept, Tables)
    assert (kept.changed, kept.alone) == (0, (100_000, 0))
    says = "200,000 × 2 → 100,000 × 2; 100,000 rows removed (a sample of 10,000 of 200,000 rows)"
    assert in_a_line(kept, CHANGED) == says


def test_a_row_that_went_does_not_make_all_rows_behind_it_differ() -> None:
    numbered = [{"n": number} for number in range(50)]
    found = difference(numbered, numbered[:20] + numbered[21:])
    assert found == Tables((50, 1), (49, 1), alone=(1, 0), lone=((20,), ()))


def test_what_cannot_be_read_is_told_in_words() -> None:
    opaque = object(), object()
    assert isinstance(difference(*opaque), Others)
    deep: Any = {}
    deep["self"] = deep
    assert difference(deep, {"self": 1}) != Same()


def test_of_a_large_value_only_a_part_is_kept() -> None:
    lines = "\n".join(map(str, range(100_000)))
    other = "\n".join(str(-number) for number in range(100_000))
    wide = {str(n): HOSTILE * 100 for n in range(5_000)}
    for left, right in (
        (lines, other),
        (wide, dict.fromkeys(wide, "x")),
        ("y" * 10**6, "z" * 10**6),
    ):
        assert len(str(difference(left, right))) < 60_000


def test_no_library_is_loaded_to_compare() -> None:
    code = (
        "import sys; from jupyter_toolcall.compare.values import difference; "
        f"difference({png('red')!r}, {png('blue')!r}); difference({RECORDS!r}, []);"
        "print([name for name in ('pandas', 'numpy', 'PIL', 'matplotlib') if name in sys.modules])"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.text("ab\n", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=1), inner),
    max_leaves=8,
)


@given(plain, plain)
def test_a_difference_reads_from_either_side(left: Any, right: Any) -> None:
    found = difference(left, right)
    assert difference(right, left) == mirrored(found)
    assert mirrored(mirrored(found)) == found
    assert difference(left, json.loads(json.dumps(left))) == Same()
    if json.dumps(left, sort_keys=True) != json.dumps(right, sort_keys=True):
        assert found != Same()


# -- sessions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Potato:
    """A potato."""

    peeled: bool = False
    cut: str = ""

    def peel(self) -> Potato:
        """Peel it."""
        print("peeled")
        return Potato(True, self.cut)

    def slice(self, shape: str) -> Potato:
        """Slice it."""
        if shape == "dust":
            raise ValueError("too fine")
        return Potato(self.peeled, shape)

    def weigh(self, unit: str = "g") -> float:
        """Weigh it."""
        return 180.0 if self.cut == "sticks" else 170.0


SCRIPT: list[Any] = [
    ("Potato_peel", {"Potato": "Potato#1"}),
    ("Potato_slice", {"Potato": "Potato#2", "shape": "sticks"}),
    ("Potato_weigh", {"Potato": "Potato#3"}),
    "Done.",
]


def session(script: Any = SCRIPT, journal: Any = None) -> Session:
    made = Session(
        Toolbox(Potato),
        script if callable(script) else Scripted(script),
        scheme="flat",
        inputs={"potato": Potato()},
        approve="all",
        journal=journal,
    )
    return made.tell("Slice it.")


def edited(of: Session, shape: str = "slices") -> Session:
    return of.edit(of.calls[1], shape=shape).run()


def test_a_branch_compared_with_itself_has_no_difference() -> None:
    for each in (session(), edited(session())):
        compared = each.diff(each)
        assert compared.same
        assert not compared.differing
        assert all(pair.same for pair in compared.objects)
        assert "no difference in 3 calls" in str(compared)


def reads_from_either_side(one: Session, other: Session) -> bool:
    """Return whether two sessions differ alike from both sides, whichever is the one at hand."""
    there, back = other.diff(one), mirrored(one.diff(other))
    return bool(replace(back, left=there.left, right=there.right) == there)


def test_an_edit_differs_in_the_edited_call_and_in_what_came_of_it() -> None:
    main = session()
    compared_branch = edited(main)
    compared = compared_branch.diff(main)
    assert reads_from_either_side(main, edited(main))
    assert (compared.left.name, compared.right.name) == ("main", "shape=slices (call 2)")
    assert [(pair.tool, pair.same, pair.shared) for pair in compared.calls] == [
        ("Potato_peel", True, True),
        ("Potato_slice", False, False),
        ("Potato_weigh", False, False),
    ]
    cut, weighed = compared.differing
    assert [(each.what, each.name, in_a_line(each.difference)) for each in cut.changes] == [
        ("argument", "shape", '"sticks" → "slices"')
    ]
    assert [in_a_line(made.difference) for made in cut.objects] == ['cut: "sticks" → "slices"']
    assert [(each.what, each.difference) for each in weighed.changes] == [
        ("result", Numbers(180.0, 170.0))
    ]
    assert (compared.left.totals.ran, compared.right.totals.ran) == (3, 2)
    assert (compared.right.totals.cached, compared.right.totals.inherited) == (0, 1)
    of_edited = compared_branch.edit(compared_branch.calls[2], Potato="Potato#1").run()
    assert str(of_edited.diff(main).right.totals) == "1 ran, 2 from before"


scripts = st.lists(
    st.one_of(
        st.integers(1, 3).map(lambda n: ("Potato_peel", {"Potato": f"Potato#{n}"})),
        st.tuples(st.integers(1, 3), st.sampled_from(["sticks", "dust", "slices"])).map(
            lambda said: ("Potato_slice", {"Potato": f"Potato#{said[0]}", "shape": said[1]})
        ),
        st.just(("Potato_weigh", {"Potato": "Potato#1"})),
    ),
    max_size=6,
)


PEEL, WEIGH = (("Potato_peel", {"Potato": "Potato#1"}), ("Potato_weigh", {"Potato": "Potato#1"}))


@given(scripts, scripts)
@example([PEEL, WEIGH], [WEIGH, PEEL])
def test_every_call_stands_once_in_a_comparison_in_the_order_of_its_branch(
    left: list[Any], right: list[Any]
) -> None:
    a, b = session([*left, "Done."]), session([*right, "Done."])
    compared = b.diff(a)
    ours = [pair.left.id for pair in compared.calls if pair.left]
    theirs = [pair.right.id for pair in compared.calls if pair.right]
    assert ours == [call.id for call in a.calls]
    assert theirs == [call.id for call in b.calls]
    assert reads_from_either_side(a, b)
    assert compared.same == (left == right)


def with_ids(prefix: str, script: list[Any]) -> Any:
    """A model whose calls have ids of their own, as a provider's have."""
    told = Scripted(script)

    def model(request: Request) -> Reply:
        said = told(request)
        calls = (replace(call, id=f"{prefix}{call.id}") for call in said.calls)
        return replace(said, calls=tuple(calls))

    return model


def test_a_model_that_went_on_otherwise_is_aligned_by_tool_and_by_what_it_worked_on() -> None:
    weigh = ("Potato_weigh", {"Potato": "Potato#1"})
    a, b = session(with_ids("a", SCRIPT)), session(with_ids("b", [weigh, *SCRIPT]))
    compared = b.diff(a)
    assert [
        (pair.left.tool if pair.left else "", pair.right.tool if pair.right else "")
        for pair in compared.calls
    ] == [
        ("", "Potato_weigh"),
        ("Potato_peel", "Potato_peel"),
        ("Potato_slice", "Potato_slice"),
        ("Potato_weigh", "Potato_weigh"),
    ]
    assert [pair.same for pair in compared.calls] == [False, True, True, True]


def test_an_object_with_another_number_is_the_same_argument_where_it_stands_beside_it() -> None:
    slices = ("Potato_slice", {"Potato": "Potato#2", "shape": "slices"})
    peel = ("Potato_peel", {"Potato": "Potato#1"})
    first = ("Potato_slice", {"Potato": "Potato#1", "shape": "cubes"})
    later = ("Potato_slice", {"Potato": "Potato#3", "shape": "slices"})
    a = session(with_ids("a", [peel, slices, "Done."]))
    compared = session(with_ids("b", [first, peel, later, "Done."])).diff(a)
    assert [pair.same for pair in compared.calls] == [False, True, True]
    last = compared.calls[-1]
    assert last.left is not None
    assert last.right is not None
    assert (last.left.arguments["Potato"], last.right.arguments["Potato"]) == (
        "Potato#2",
        "Potato#3",
    )


def test_failures_prints_rejections_and_other_tools_are_told() -> None:
    main = session()
    dust = edited(main, "dust").diff(main)
    aspects = {(pair.tool, change.what) for pair in dust.calls for change in pair.changes}
    assert ("Potato_slice", "error") in aspects
    assert ("Potato_slice", "status") in aspects
    assert "too fine" in str(dust)
    quiet = session([("Potato_slice", {"Potato": "Potato#1", "shape": "x"}), "Done."])
    loud = session([("Potato_peel", {"Potato": "Potato#1"}), "Done."])
    said = loud.diff(quiet)
    assert {change.what for pair in said.calls for change in pair.changes} >= {"tool", "prints"}
    assert "Potato_slice → Potato_peel" in str(said)


def test_a_call_that_was_answered_from_memory_does_not_differ_in_what_it_printed() -> None:
    peel = ("Potato_peel", {"Potato": "Potato#1"})
    main = session([("Potato_slice", {"Potato": "Potato#1", "shape": "x"}), peel, "Done."])
    compared = main.edit(main.calls[0], shape="y").run().diff(main)
    assert [(pair.tool, pair.same) for pair in compared.calls] == [
        ("Potato_slice", False),
        ("Potato_peel", True),
    ]


def test_tokens_and_cost_are_those_of_requests_that_were_sent_for_a_branch() -> None:
    script = Scripted(SCRIPT)

    def model(request: Request) -> Reply:
        return replace(script(request), usage=Usage(input=100, output=10))

    model.name = "anthropic:claude-opus-5-5"  # type: ignore[attr-defined]
    main = session(model)
    compared = edited(main).diff(main)
    assert (compared.left.totals.tokens, compared.right.totals.tokens) == (440, 0)
    assert str(compared.left.cost) == "$0.0024"
    assert compared.right.cost is None
    assert [pair.left.tokens for pair in compared.calls if pair.left] == [110, 110, 110]


def test_values_that_are_not_at_hand_are_said_to_be_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(session()).save(tmp_path / "s.jsonl")
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "another machine"))
    again = Session.load(tmp_path / "s.jsonl", Toolbox(Potato), inputs={"potato": Potato()})
    compared = again.diff("main")
    unknown = [made for made in compared.objects if isinstance(made.difference, Unknown)]
    assert [made.right for made in unknown] == ["Potato#3"]
    assert "not in this kernel" in str(compared)


def test_without_a_name_it_is_the_branch_that_this_one_left() -> None:
    main = session()
    slices = edited(main)
    assert edited(slices, "cubes").diff().left.name in (slices.branch, "main")
    assert slices.diff().left.name == "main"
    with pytest.raises(UsageError, match="main left no other branch; name one: shape=slices"):
        main.diff()
    with pytest.raises(UsageError, match="edit or fork a call to make one"):
        session().diff()
    with pytest.raises(UsageError, match="Did you mean shape=slices"):
        main.diff("slice")
    assert main.diff("shape=slices (call 2)").left.head == slices.head


# -- what a person sees ---------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Mapping[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@dataclass(frozen=True)
class Note:
    """A value that holds what a hostile tool would."""

    text: str = ""
    lines: str = ""
    rows: tuple[Any, ...] = ()
    picture: bytes = field(default=b"", repr=False)

    def write(self, text: str) -> Note:
        """Write it."""
        print(text)
        rows = ({"n": 1, HOSTILE: text}, {"n": 2, HOSTILE: "b"})
        return Note(text, f"{text}\n{HOSTILE}\nend", rows, png("red" if len(text) % 2 else "blue"))


def noted(text: str) -> Session:
    box = Toolbox(Note)
    script = Scripted([("Note_write", {"Note": "Note#1", "text": text}), f"Said {text}"])
    made = Session(box, script, scheme="flat", inputs={"note": Note()}, approve="all")
    return made.tell("Write it.")


def test_a_page_holds_no_script_nothing_from_elsewhere_and_hostile_text_is_text() -> None:
    one, other = noted(HOSTILE), noted(f"{HOSTILE}!")
    one.name_branch("<b>one</b>")
    compared = other.diff(one)
    page = compared._repr_html_()
    tags = Tags(page)
    assert {tag for tag, _ in tags.found} == {"pre", "b", "del", "ins", "img"}
    for tag, attributes in tags.found:
        assert not any(name.startswith("on") for name in attributes)
        assert set(attributes) <= {"style", "alt", "src"}
        if tag == "img":
            assert re.fullmatch(
                r"data:image/(png|webp);base64,[A-Za-z0-9+/=]+", attributes["src"] or ""
            )
    assert [tag for tag, _ in tags.found].count("img") == 3
    assert "\u202e" not in page
    assert "\x1b" not in page + str(compared)
    assert "\u202e" not in str(compared)
    assert "alert(1)" in page


def test_a_comparison_shows_itself_as_a_page_and_as_text() -> None:
    main = session()
    compared = edited(main).diff(main)
    bundle = compared._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert isinstance(compared, Comparison)
    page = bundle["text/html"]
    assert "<del" in page
    assert re.search(r"<del[^>]*>&quot;sticks&quot;</del>", page)
    assert re.search(r"<ins[^>]*>&quot;slices&quot;</ins>", page)
    assert (
        bundle["text/plain"].splitlines()[0] == "main → shape=slices (call 2): 2 of 3 calls differ"
    )


def test_a_secret_of_the_environment_is_in_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-v3rys3cretvalue")
    one, other = noted("a"), noted("sk-v3rys3cretvalue")
    compared = other.diff(one)
    made = next(pair for pair in compared.objects if not pair.same)
    assert "sk-v3rys3cretvalue" not in str(made)


def test_a_long_comparison_is_capped() -> None:
    many, other = (
        session([*(("Potato_slice", {"shape": f"{name}{n}"}) for n in range(400)), "Done."])
        for name in "ab"
    )
    compared = other.diff(many)
    assert len(compared.differing) == 400
    assert len(compared._repr_html_()) < 600_000
    assert "and 200 more calls that differ" in str(compared)
