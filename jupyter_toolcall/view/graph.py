"""The drawing of a session: which objects and calls are drawn, and where Graphviz places them.

Objects are boxes, calls are pills, and both are nodes of one graph. The same drawing is shown in
the panel, kept as a picture in the notebook, and exported. It is computed from the rows alone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from ..core.call_record import Status
from ..core.interface_text import InterfaceText, joined, t, tn
from ..core.recorded_data import replace
from ..core.rows import Text
from ..core.state import kind_in
from ..core.text import printable, short_numbers, visible_text
from .contract import Rows
from .contract_rows import BranchRow, CallRow, ObjectRow
from .graph_geometry import MARGIN, MARK, SMALL, even, in_rows, text_width
from .graph_rows import GraphEdge, GraphNode, GraphRow, NodeState
from .graphviz_engine import LayoutError

MOST, ANCESTORS = 60, 30
"""Calls that are drawn, and how many of them are ancestors of what is selected."""
LEAST = 7
"""Nodes and edges that a call counts for at least: calls with more leave room for fewer calls."""
BOX, WIDEST, PILL, TALL_PILL, PAGE = (112, 84), 176, 26, 40, 900
"""Pixels: an object's box and its most width, the height of a pill, and of one with arguments below
its name, and the width of rows."""
PAGES = (PAGE, 450, 1_200)
"""The widths of rows in a saved copy, which no kernel draws again: of usual, narrow, wide pages."""
BOLD, MONO = 12, 11.5
"""Pixels of the type of an object's name, and of a pill."""
FEWEST = 3
"""Calls of a fold at least."""
HORIZON = 150
"""The newest calls, that are drawn or folded; older ones are left out."""
PACE = 10
"""Calls by which the window moves at once: fewer are drawn until there are so many more."""
RESULT, VALUES, TOOL, NAME, ARGUMENT, HEADING = 14, 20, 32, 40, 24, 48
"""Characters of a result, of arguments and of a tool's name on a pill, of an object's name, of an
edge's label, of a branch's name."""
DASHED = ("waits", "approved", "running", "rejected", "interrupted", "unknown")
"""The states of calls whose lines are dashed."""


def _state(status: Status) -> NodeState:
    match status:
        case "succeeded":
            return "ran"
        case "proposed" | "input required":
            return "waits"
    return status


def graph_row(
    rows: Rows, until: int = 0, selected: str = "", page: int = 0, compact: bool = False
) -> GraphRow:
    """Return the drawing of a session with places, or why there is none.

    Args:
        until: The number of the last call to draw; 0 is the newest.
        selected: The id of the row of an object or call whose ancestors are drawn too.
        page: Pixels of the width of a row; 0 for a usual width.
        compact: Whether objects are drawn by their names alone.
    """
    table = _table(rows, until)
    graph = drawing(rows, until, selected, table=table)
    return _in_rows(_compact(graph) if compact else graph, rows, table, page)


def with_graph(rows: Rows, pages: Sequence[int] = (PAGE,)) -> Rows:
    """Return rows with the drawing of the newest calls, if they have none: one for each width of a
    page, but those that are equal."""
    if not rows.graph:
        table = _table(rows)
        graph = drawing(rows, table=table)
        drawn = dict.fromkeys(_in_rows(graph, rows, table, page) for page in pages)
        rows = replace(rows, graph=(*drawn,))
    return rows


def _in_rows(graph: GraphRow, rows: Rows, table: _Table, page: int) -> GraphRow:
    """Return a drawing with places, in rows of a page's width, with the names of the branches if
    it has several; or why there is none."""
    branches = [table.branch_of.get(node.row, "") if node.muted else "" for node in graph.nodes]
    named = rows.branches if any(branches) else ()
    headings = {"" if row.current else row.id: _heading(row) for row in named}
    try:
        return in_rows(graph, page or PAGE, branches, headings) if graph.nodes else graph
    except LayoutError as error:
        return replace(graph, nodes=(), edges=(), error=error.args[0])


def _branch_of(rows: Rows) -> dict[str, str]:
    """Return for each call and object, by id, the branch among whose rows it is drawn.

    What a paused replay has not repeated yet stands where it will stand on the shown branch, ""."""
    repeated = {row.repeats for row in rows.branches}
    shown = {row.call for row in rows.calls if not row.branch}
    branches = {
        row.id: "" if row.branch in repeated and row.call not in shown else row.branch
        for row in rows.calls
    }
    return branches | {row.id: branches.get(row.call, row.branch) for row in rows.objects}


def _heading(row: BranchRow) -> GraphNode:
    label = visible_text(row.name, HEADING)
    width = even(text_width(label, BOLD))
    return GraphNode("branch", row.id, 0, 0, width, 2 * MARGIN, label, muted=not row.current)


# -- which calls and objects -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a session by their ids, without those that are drawn as another row."""

    calls: dict[str, CallRow]
    """In the order of their numbers."""
    objects: Mapping[str, ObjectRow]
    maker: Mapping[str, str]
    """Of an object the id of the call that made it, or would make it; "" without one."""
    objects_by_call: Mapping[str, Sequence[ObjectRow]]
    uses: Mapping[str, Mapping[str, Sequence[str]]]
    """The objects that a call takes, with the names of the arguments."""

    users: Mapping[str, Sequence[str]]
    """The calls that take an object."""
    branch_of: Mapping[str, str]
    """The branch among whose rows a call, or an object, is drawn."""

    def size(self, span: Sequence[str]) -> int:
        """Return about how many nodes and edges a call, or a fold, brings into the drawing."""
        results = self.objects_by_call.get(span[-1], ())
        return max(LEAST, 1 + 2 * len(results) + len(self.uses[span[0]]))


def _table(rows: Rows, until: int = 0) -> _Table:
    drawn_calls, drawn_objects = _drawn_as(rows.calls), _drawn_as(rows.objects)
    place = {row.id: n for n, row in enumerate(rows.branches)} | {"": -1}
    in_order = sorted(rows.calls, key=lambda row: (row.step, place.get(row.branch, 0)))
    results, uses = defaultdict[str, list[str]](list), dict[str, dict[str, list[str]]]()
    for row in rows.objects:
        results[row.call].append(row.id)
    branches_apart = set[str]()
    for call in in_order:
        names = uses[call.id] = dict[str, list[str]]()
        for use in call.uses:
            names.setdefault(drawn_objects.get(use.object, ""), []).append(use.parameter)
        same = drawn_calls[call.id]
        is_apart = not names and call.branch in branches_apart
        if same != call.id and (is_apart or uses.get(same) != names):
            # An equal call that takes other objects is another node, with what it made.
            drawn_calls[call.id] = call.id
            drawn_objects |= {key: key for key in results[call.id]}
        branches_apart |= {call.branch} if drawn_calls[call.id] == call.id else set()
    drawn_rows = (row for row in in_order if drawn_calls[row.id] == row.id and not row.scheme)
    calls = {call.id: call for call in drawn_rows if not until or call.step <= until}
    branch_of = _branch_of(rows)
    kept = [row for row in rows.objects if drawn_objects[row.id] == row.id]
    objects = _as_saved(kept, calls.values(), branch_of)
    maker = {row.id: drawn_calls.get(row.call, "") for row in objects.values()}
    objects_by_call = dict[str, list[ObjectRow]]()
    for row in objects.values():
        objects_by_call.setdefault(maker[row.id], []).append(row)
    # What a call makes it does not take, but in a forged file.
    used = {
        key: {n: names for n, names in uses[key].items() if n and maker[n] != key} for key in calls
    }
    users = defaultdict[str, list[str]](list)
    for call_id, names in used.items():
        for key in names:
            users[key].append(call_id)
    return _Table(calls, objects, maker, objects_by_call, used, users, branch_of)


def _as_saved(
    rows: Sequence[ObjectRow], calls: Iterable[CallRow], branch_of: Mapping[str, str]
) -> dict[str, ObjectRow]:
    """Return objects by id, saved by these calls alone, and without the outputs that a replay will
    save: what it saves then stands for them."""
    saved = {use.object for call in calls if call.saves for use in call.uses}
    ahead = {row.saved for row in rows if row.branch and not branch_of[row.id]}
    drawn = (row for row in rows if row.role != "output" or row.name not in ahead)
    return {row.id: row if row.id in saved else replace(row, saved="") for row in drawn}


def _drawn_as(rows: Sequence[CallRow] | Sequence[ObjectRow]) -> dict[str, str]:
    """Return for each row's id that of the row that is drawn in its place, mostly its own."""
    # In a forged file equal rows may lead in a circle: these are all drawn.
    whole = {row.id for row in rows if not row.same}
    return {row.id: row.same if row.same in whole else row.id for row in rows}


def drawing(
    rows: Rows, until: int = 0, selected: str = "", most: int = MOST, table: _Table | None = None
) -> GraphRow:
    """Return the nodes and edges, without places, of at most so many calls and folds.

    These are the newest calls, and the nearest ancestors of what is selected. Nodes and edges are
    in a stable order: what calls take, the calls, and what they make, call by call. `table` is
    that of the rows, where it is at hand.
    """
    table = table or _table(rows, until)
    spans, nodes = _spans(table, selected, most), dict[str, GraphNode]()

    def draw(objects: Iterable[ObjectRow]) -> None:
        for row in objects:
            maker = table.calls.get(table.maker[row.id])
            nodes.setdefault(f"object:{row.id}", _object_node(row, maker))

    drawn = {call for span in spans for call in span}
    left_out = [row for key, row in table.calls.items() if key not in drawn]
    inputs = dict.fromkeys(key for row in left_out for key in table.uses[row.id])
    sources = [key for key in inputs if not table.maker[key]][:most]
    draw(table.objects[key] for key in sources)
    for last in left_out[-1:]:
        branches = {table.branch_of[row.id] for row in left_out}
        names = ", ".join(row.name for row in rows.branches if row.id in branches)
        earlier = tn("%1 earlier call", "%1 earlier calls", len(left_out))
        label = earlier if "" in branches else t("not drawn: %1", visible_text(names, HEADING))
        nodes["left out"] = _fold_node(label, last)
    # What no call made, and no call has taken yet, comes last.
    makers = {row.id: (row.name, row.call) for row in rows.objects}
    used_here = {key for span in spans for key in table.uses[span[0]]}
    used = {key for uses in table.uses.values() for key in uses}
    unmade = table.objects_by_call.get("", ())
    free = [row for row in unmade if row.id in used_here or not (until or row.id in used)][:most]
    for span in spans:
        first, last = table.calls[span[0]], table.calls[span[-1]]
        draw(table.objects[used] for used in table.uses[first.id])
        fold = _fold_node(t("calls %1-%2", first.step, last.step), last, bool(last.branch))
        name, maker = makers.get(last.object, ("", ""))
        older = "" if last.saves or maker == last.id else name
        nodes[f"call:{last.id}"] = _call_node(last, older) if len(span) == 1 else fold
        draw(table.objects_by_call.get(last.id, ()))
    place = {key: n for n, key in enumerate(nodes)}
    # What came from outside is always drawn.
    edges = [GraphEdge(place[f"object:{key}"], place["left out"]) for key in sources]
    edges += [edge for span in spans for edge in _edges(table, span, place)]
    draw(free)
    hidden = len(table.calls) - sum(len(span) == 1 for span in spans)
    drawn_nodes, row = (*nodes.values(),), GraphRow(until=until, earlier=hidden, selected=selected)
    return replace(row, nodes=drawn_nodes, edges=(*edges,))


_Span = tuple[str, ...]
"""A call that is drawn, or the calls of a fold: they follow one another on a branch. What goes into
a fold goes into its first call, and what goes out was made by its last one."""


def _spans(table: _Table, selected: str, most: int) -> list[_Span]:
    """Return the calls and the folds that are drawn, in order."""
    branch_of = table.branch_of
    first_calls = {branch_of[key]: key for key in reversed(table.calls)}
    # An edit says what a branch is about, and a failure is not hidden.
    marked = [key for key, call in table.calls.items() if call.edited or call.status == "failed"]
    ancestors = _ancestors(table, selected)
    # Another branch than the shown one begins with a call of its own.
    starts = {call for branch, call in first_calls.items() if branch}
    kept, shown = {*marked[-PACE:], *ancestors, *starts}, {"", *map(branch_of.get, ancestors)}
    # Each call of a long session would cost more than the one before it.
    recent = {*[*table.calls][-max(HORIZON, most) :], *kept}
    number = {call: n for n, call in enumerate(table.calls)}
    place = {call: n for call, n in number.items() if call in recent}
    room = LEAST * most
    # A branch comes after those that it takes objects of: its first call is a later one.
    branches = sorted(first_calls, key=lambda b: (b not in shown, number[first_calls[b]]))
    sizes = {call: table.size((call,)) for call in place}
    for count in range(len(branches) or 1, (len(shown.intersection(branches)) or 1) - 1, -1):
        inside = {*branches[:count]}
        # Those of the branches that are not shown are the first in folds, branch by branch.
        calls = sorted(
            (call for call in place if branch_of[call] in inside),
            key=lambda call: (not branch_of[call], branch_of[call]),
        )
        others = [branch for branch in map(branch_of.get, calls) if branch]
        ends = [others.index(branch) for branch in dict.fromkeys(others)]
        ends += range(len(others), len(calls), PACE)
        size, first = sum(sizes[call] for call in calls), 0
        # More of them by some at once: with each new call all others would move.
        while size > room and first < len(calls):
            size -= sum(sizes[call] for call in calls[first : first + PACE] if call not in kept)
            first += PACE
        for older in (end for end in ends if end >= first):
            spans = [*_folded(table, calls[:older], kept), *((call,) for call in calls[older:])]
            if sum(map(table.size, spans)) <= room:
                return sorted(spans, key=lambda span: place[span[0]])
    # Too few of the older calls are chains: those are left out.
    return [(c,) for n, c in enumerate(calls) if n >= first or c in kept]


def _folded(table: _Table, calls: Sequence[str], kept: Collection[str]) -> list[_Span]:
    """Return calls, those that are not kept in folds where they are chains."""
    spans = list[_Span]()
    by_branch = sorted(calls, key=lambda call: table.branch_of[call])
    runs = groupby(by_branch, lambda call: (table.branch_of[call], call in kept))
    for (_, are_kept), run in runs:
        spans += ((call,) for call in run) if are_kept else _chains(table, [*run])
    return spans


def _chains(table: _Table, run: Sequence[str]) -> Iterator[_Span]:
    """Yield calls of a branch: the longest chains of at least three, and the others alone."""
    at = {call: n for n, call in enumerate(run)}
    first_maker, last_user = list[int](), list[float]()
    for n, call in enumerate(run):
        objects = table.objects_by_call.get(call, ())
        users = (at.get(user, inf) for row in objects for user in table.users.get(row.id, ()))
        first_maker.append(min((at.get(table.maker[o], -1) for o in table.uses[call]), default=-1))
        last_user.append(inf if any(row.saved for row in objects) else max(users, default=n))
    start = 0
    while start < len(run):
        end, reach = start, 0.0
        for n in range(start + 1, len(run)):
            reach = max(reach, last_user[n - 1])
            if first_maker[n] < start or reach == inf:
                break
            end = n if reach <= n else end
        end = end if end - start + 1 >= FEWEST else start
        yield (*run[start : end + 1],)
        start = end + 1


def _ancestors(table: _Table, selected: str) -> set[str]:
    """Return the nearest calls that something came from, and what it is or was made by."""
    found, ahead = set[str](), deque([table.maker.get(selected, selected)])
    while ahead and len(found) < ANCESTORS:
        call = ahead.popleft()
        if call in table.calls and call not in found:
            found.add(call)
            ahead.extend(table.maker[key] for key in table.uses[call])
    return found


def _edges(table: _Table, span: _Span, place: Mapping[str, int]) -> Iterator[GraphEdge]:
    call, uses = table.calls[span[-1]], table.uses[span[0]]
    pill, dashed = place[f"call:{call.id}"], _state(call.status) in DASHED
    are_named = len(uses) > 1
    for key, names in uses.items():
        muted = bool(call.branch or table.objects[key].branch)
        name = visible_text(", ".join(dict.fromkeys(names)), ARGUMENT) if are_named else ""
        yield GraphEdge(place[f"object:{key}"], pill, label=name, muted=muted, dashed=dashed)
    for row in table.objects_by_call.get(call.id, ()):
        muted, dashed = bool(call.branch or row.branch), row.role == "pending"
        yield GraphEdge(pill, place[f"object:{row.id}"], muted=muted, dashed=dashed)


# -- what stands on a node -----------------------------------------------------------------------


def _fold_node(label: str, last: CallRow, muted: bool = False) -> GraphNode:
    width = even(text_width(label, BOLD) + 16)
    return GraphNode("fold", last.id, 0, 0, width, PILL, label, muted=muted)


def _call_node(call: CallRow, older: str) -> GraphNode:
    """Return the node of a call; `older` is the name of an object that was there before it."""
    label = f"{call.step} {visible_text(call.tool, TOOL)}"
    state, stale, muted = _state(call.status), bool(call.outdated), bool(call.branch)
    if result := older or ("" if call.object else call.result):
        label += f" = {short_numbers(printable(' '.join(result.split())), RESULT)}"
    values = visible_text(", ".join(_values(call)), VALUES)
    looks = state, call.edited, stale, muted
    return _as_pill(GraphNode("call", call.id, 0, 0, 0, 0, label, values, *looks))


def _as_pill(node: GraphNode) -> GraphNode:
    """Return the node of a call with the size of its texts and marks."""
    marks = (node.state != "ran") + node.edited + node.stale
    wide = max(text_width(node.label, MONO, mono=True), text_width(node.detail, SMALL))
    height = TALL_PILL if node.detail else PILL
    return replace(node, width=even(wide + 20 + MARK * marks), height=height)


def _values(call: CallRow) -> Iterator[str]:
    """Yield the texts, numbers and truths among the arguments that were asked for, in their order:
    they tell two calls of a tool apart. Of an edit these are the ones that it changed."""
    objects = {use.parameter.partition(".")[0] for use in call.uses}
    asked = call.asked if call.edited and call.asked is not None else {}
    for name, value in call.arguments.items():
        if name in objects or name in call.filled or asked.get(name) == value:
            continue
        if isinstance(value, bool):
            yield f"{name} {value}".lower()
        elif isinstance(value, str | int | float):
            yield short_numbers(" ".join(str(value).split()), VALUES)


def _object_node(row: ObjectRow, maker: CallRow | None) -> GraphNode:
    label, detail = visible_text(row.name, NAME), _detail(row)
    wide = max(text_width(label, BOLD), text_width(detail, SMALL)) + 16
    width = min(max(BOX[0], even(wide)), WIDEST)
    label, detail = _cut(label, BOLD), _cut(detail, SMALL)
    state = "ran" if maker is None else _state(maker.status)
    stale, muted, dashed = bool(row.outdated), bool(row.branch), row.role in ("pending", "output")
    flag, is_input = row.name if row.role == "output" else row.saved, row.role == "input"
    looks = (False, stale, muted, dashed, flag, is_input)
    return GraphNode("object", row.id, 0, 0, width, BOX[1], label, detail, state, *looks)


def _compact(graph: GraphRow) -> GraphRow:
    """Return a drawing whose boxes are as high as pills; objects of one type have their numbers."""
    labels = (node.label for node in graph.nodes if node.kind == "object")
    kinds = {kind_in(label) for label in labels if "#" in label}
    prefix = kinds.pop() if len(kinds) == 1 else ""

    def small(node: GraphNode) -> GraphNode:
        label = node.label.removeprefix(prefix) if node.kind == "object" else node.label
        width = even(text_width(label, BOLD) + 16)
        return replace(node, width=width, height=PILL, label=label, detail="")

    nodes = (
        _as_pill(replace(node, detail="")) if node.kind == "call" else small(node)
        for node in graph.nodes
    )
    return replace(graph, nodes=(*nodes,), compact=True)


def _detail(row: ObjectRow) -> Text:
    """Return the line below an object's name."""
    # A saved row may hold any text, and XML has no place for control characters.
    caption = row.preview.caption
    caption = caption if isinstance(caption, InterfaceText) else visible_text(caption)
    if row.role == "pending":
        return caption or t("would be made")
    if row.role == "output":
        return t("not saved yet")
    if row.saved and not row.branch:
        return t("saved as %1", visible_text(row.saved))
    return joined(" · ", [*filter(None, (visible_text(row.label), caption))])


def _cut(text: Text, size: float) -> Text:
    """Return a text, or as much of it as the widest box has room for."""
    cut: str = text
    while text_width(cut, size) > WIDEST - 16:
        cut = f"{cut[:-2]}…"
    return cut
