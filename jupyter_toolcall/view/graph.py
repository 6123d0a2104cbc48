"""The drawing of a session: which objects and calls are drawn, and where Graphviz places them.

Objects are boxes, calls are pills, and both are nodes of one graph. The same drawing is shown in
the panel, kept as a picture in the notebook, and exported. It is computed from the rows alone.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..core.call_record import Status
from ..core.interface_text import InterfaceText, joined, t, tn
from ..core.recorded_data import replace
from ..core.rows import Text
from ..core.text import printable, short_numbers, visible_text
from .contract import Rows
from .contract_rows import CallRow, ObjectRow
from .graph_geometry import SMALL, even, height_in_rows, in_rows, placed, text_width
from .graph_rows import GraphEdge, GraphNode, GraphRow, NodeState
from .graphviz_engine import LayoutError

MOST, ANCESTORS = 60, 30
"""Calls that are drawn, and how many of them are ancestors of what is selected."""
LEAST = 7
"""Nodes and edges that a call counts for at least: calls with more leave room for fewer calls."""
BOX, WIDEST, PILL, PANEL, HIGH = (112, 84), 176, 26, 720, 1_300
"""Pixels: an object's box and its most width, the height of a pill, the width of a row, which ends
behind what the last call makes that begins there, and the height of rows that are no wider."""
BOLD, MONO = 12, 11.5
"""Pixels of the type of an object's name, and of a pill."""
MARK = 16
"""Pixels of an icon on a pill, with its gap."""
PACE = 10
"""Calls by which the window moves at once: fewer are drawn until there are so many more."""
RESULT, TOOL, NAME, ARGUMENT = 14, 32, 40, 24
"""Characters of a result and a tool's name on a pill, of an object's name, of an edge's label."""
DASHED = ("waits", "approved", "running", "rejected", "interrupted", "unknown")
"""The states of calls whose lines are dashed."""


def _state(status: Status) -> NodeState:
    match status:
        case "succeeded":
            return "ran"
        case "proposed" | "input required":
            return "waits"
    return status


def graph_row(rows: Rows, until: int = 0, selected: str = "") -> GraphRow:
    """Return the drawing of a session with places, or why there is none.

    Args:
        until: The number of the last call to draw; 0 is the newest.
        selected: The id of the row of an object or call whose ancestors are drawn too.
    """
    graph = drawing(rows, until, selected)
    try:
        return _in_rows(placed(graph)) if graph.nodes else graph
    except LayoutError as error:
        return replace(graph, nodes=(), edges=(), error=error.args[0])


def with_graph(rows: Rows) -> Rows:
    """Return rows with the drawing of the newest calls, if they have none."""
    return rows if rows.graph else replace(rows, graph=(graph_row(rows),))


def _in_rows(graph: GraphRow) -> GraphRow:
    """Return a drawing in rows of a panel's width if it is much wider than that; many rows are
    wider, so that the whole is seen larger.

    Measured: with each call fewer nodes move than in one long row.
    """
    if graph.width <= 1.5 * PANEL:
        return graph
    with suppress(LayoutError):
        return in_rows(graph, PANEL if height_in_rows(graph, PANEL) <= HIGH else 2 * PANEL)
    return graph


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
    uses: Mapping[str, Mapping[str, str]]
    """The objects that a call takes, with the names of the arguments; "" where it takes the object
    on another branch alone."""

    def size(self, call: str) -> int:
        """Return about how many nodes and edges a call brings into the drawing."""
        return max(LEAST, 1 + 2 * len(self.objects_by_call.get(call, ())) + len(self.uses[call]))


def _table(rows: Rows, until: int) -> _Table:
    drawn_calls, drawn_objects = _drawn_as(rows.calls), _drawn_as(rows.objects)
    place = {row.id: n for n, row in enumerate(rows.branches)} | {"": -1}
    in_order = sorted(rows.calls, key=lambda row: (row.step, place.get(row.branch, 0)))
    drawn_rows = (row for row in in_order if drawn_calls[row.id] == row.id and not row.scheme)
    calls = {call.id: call for call in drawn_rows if not until or call.step <= until}
    # What is saved later than `until` is not saved there.
    saved = {use.object for call in calls.values() if call.saves for use in call.uses}
    kept = (row for row in rows.objects if drawn_objects[row.id] == row.id)
    later = {row.id for row in rows.objects if row.saved} - saved
    objects = {row.id: replace(row, saved="") if row.id in later else row for row in kept}
    maker = {row.id: drawn_calls.get(row.call, "") for row in objects.values()}
    objects_by_call = dict[str, list[ObjectRow]]()
    for row in objects.values():
        objects_by_call.setdefault(maker[row.id], []).append(row)
    uses: dict[str, dict[str, str]] = {key: {} for key in calls}
    for call in in_order:
        key = drawn_calls[call.id]
        parameters = uses.get(key, {})
        for use in call.uses:
            target = drawn_objects.get(use.object, "")
            # What a call makes it does not take, but in a forged file.
            if target and maker[target] != key:
                names = (parameters.get(target), use.parameter if key == call.id else "")
                parameters[target] = ", ".join(filter(None, names))
    return _Table(calls, objects, maker, objects_by_call, uses)


def _drawn_as(rows: Sequence[CallRow] | Sequence[ObjectRow]) -> dict[str, str]:
    """Return for each row's id that of the row that is drawn in its place, mostly its own."""
    # In a forged file equal rows may lead in a circle: these are all drawn.
    whole = {row.id for row in rows if not row.same}
    return {row.id: row.same if row.same in whole else row.id for row in rows}


def drawing(rows: Rows, until: int = 0, selected: str = "", most: int = MOST) -> GraphRow:
    """Return the nodes and edges, without places, of at most so many calls.

    These are the newest, and the nearest ancestors of what is selected. Nodes and edges are in a
    stable order: what calls take, the calls, and what they make, call by call.
    """
    table = _table(rows, until)
    window = _window(table, selected, most)
    earlier, nodes = len(table.calls) - len(window), dict[str, GraphNode]()
    if earlier:
        text = tn("%1 earlier call", "%1 earlier calls", earlier)
        nodes[""] = GraphNode("earlier", width=BOX[0], height=BOX[1], label=text)
    branches = {branch.id: branch.name for branch in rows.branches}
    number_of = Counter(row.name for row in table.objects.values())

    def draw(objects: Iterable[ObjectRow]) -> None:
        for row in objects:
            branch = branches.get(row.branch, "") if number_of[row.name] > 1 else ""
            maker = table.calls.get(table.maker[row.id])
            nodes.setdefault(_key(row), _object_node(row, maker, branch))

    for key in window:
        draw(table.objects[used] for used in table.uses[key])
        nodes[_key(table.calls[key])] = _call_node(table.calls[key], table)
        draw(table.objects_by_call.get(key, ()))
    # Objects of calls before these.
    makers, place = {"", *window}, {key: n for n, key in enumerate(nodes)}
    objects = [(n, node.row) for n, node in enumerate(nodes.values()) if node.kind == "object"]
    edges = [GraphEdge(0, n) for n, row in objects if table.maker[row] not in makers]
    edges += [edge for key in window for edge in _edges(table, key, place)]
    if not until:
        # Inputs that no call has taken yet, and outputs that are not saved yet.
        used = {key for uses in table.uses.values() for key in uses}
        draw([row for row in table.objects_by_call.get("", ()) if row.id not in used][:most])
    return GraphRow(
        nodes=(*nodes.values(),), edges=(*edges,), until=until, earlier=earlier, selected=selected
    )


def _window(table: _Table, selected: str, most: int) -> list[str]:
    """Return the ids of the calls that are drawn, in order."""
    # The window moves by some calls at once: with each of them all others would move.
    most -= -(len(table.calls) - most) % PACE if len(table.calls) > most else 0
    kept = _ancestors(table, selected)
    room = LEAST * most - sum(map(table.size, kept))
    for call in [key for key in reversed(table.calls) if key not in kept]:
        room -= table.size(call)
        if room < 0 and kept:
            break
        kept.add(call)
    return [call for call in table.calls if call in kept]


def _ancestors(table: _Table, selected: str) -> set[str]:
    """Return the nearest calls that something came from, and what it is or was made by."""
    found, ahead = set[str](), deque([table.maker.get(selected, selected)])
    while ahead and len(found) < ANCESTORS:
        call = ahead.popleft()
        if call in table.calls and call not in found:
            found.add(call)
            ahead.extend(table.maker[key] for key in table.uses[call])
    return found


def _edges(table: _Table, call_id: str, place: Mapping[str, int]) -> Iterator[GraphEdge]:
    call, uses = table.calls[call_id], table.uses[call_id]
    pill, dashed = place[_key(call)], _state(call.status) in DASHED
    are_named = sum(map(bool, uses.values())) > 1
    for key, names in uses.items():
        used = table.objects[key]
        muted = bool(call.branch or used.branch) or not names
        name = visible_text(names, ARGUMENT) if are_named else ""
        yield GraphEdge(place[_key(used)], pill, label=name, muted=muted, dashed=dashed)
    for row in table.objects_by_call.get(call_id, ()):
        muted, dashed = bool(call.branch or row.branch), row.role == "pending"
        yield GraphEdge(pill, place[_key(row)], muted=muted, dashed=dashed)


# -- what stands on a node -----------------------------------------------------------------------


def _key(row: CallRow | ObjectRow) -> str:
    """Return what tells a node from others: an object and the call that made it have one id."""
    return f"{'call' if isinstance(row, CallRow) else 'object'}:{row.id}"


def _call_node(call: CallRow, table: _Table) -> GraphNode:
    kinds = (table.objects[key].kind for key in table.uses[call.id])
    short_names = (call.tool.removeprefix(f"{kind}_") for kind in kinds if kind)
    tool = next((tool for tool in short_names if tool != call.tool), call.tool)
    label = f"{call.step} {visible_text(tool, TOOL)}"
    state, stale = _state(call.status), bool(call.outdated)
    if call.result and not call.object:
        label += f" = {short_numbers(printable(' '.join(call.result.split())), RESULT)}"
    marks = (state != "ran") + call.edited + stale
    return GraphNode(
        "call",
        call.id,
        width=even(text_width(label, MONO, mono=True) + 20 + MARK * marks),
        height=PILL,
        label=label,
        state=state,
        edited=call.edited,
        stale=stale,
        muted=bool(call.branch),
    )


def _object_node(row: ObjectRow, maker: CallRow | None, branch: str) -> GraphNode:
    label, detail = visible_text(row.name, NAME), _detail(row, branch)
    wide = max(text_width(label, BOLD), text_width(detail, SMALL)) + 16
    return GraphNode(
        "object",
        row.id,
        width=min(max(BOX[0], even(wide)), WIDEST),
        height=BOX[1],
        label=_cut(label, BOLD),
        detail=_cut(detail, SMALL),
        state="ran" if maker is None else _state(maker.status),
        stale=bool(row.outdated),
        muted=bool(row.branch),
        dashed=row.role in ("pending", "output"),
        flag=row.name if row.role == "output" else row.saved,
        input=row.role == "input",
    )


def _detail(row: ObjectRow, branch: str) -> Text:
    """Return the line below an object's name."""
    # A saved row may hold any text, and XML has no place for control characters.
    caption = row.preview.caption
    caption = caption if isinstance(caption, InterfaceText) else visible_text(caption)
    match row.role:
        case "pending":
            return caption or t("would be made")
        case "output":
            return t("not saved yet")
    if row.saved and not row.branch:
        return t("saved as %1", visible_text(row.saved))
    return joined(" · ", [*filter(None, (branch or visible_text(row.label), caption))])


def _cut(text: Text, size: float) -> Text:
    """Return a text, or as much of it as the widest box has room for."""
    cut: str = text
    while text_width(cut, size) > WIDEST - 16:
        cut = f"{cut[:-2]}…"
    return cut
