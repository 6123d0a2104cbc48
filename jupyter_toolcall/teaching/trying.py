"""What an exercise asks of a tool that the learner wrote: what it is, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..content.value import describe
from ..errors import ToolcallError
from ..models.scripted import Scripted
from ..session import Session
from ..tools import Tool, Toolbox, nearest
from .conditions import Described, Gives, IsTool, Takes, Word
from .scene import Otherwise, Scene, otherwise
from .values import code, equal, listed, shown

PLAIN = (str, int, float, bool, list, dict, type(None))
"""Values that a call holds itself; all others are objects, which it names."""

Asked = IsTool | Takes | Described | Gives


def demand_tool(wanted: Asked, scene: Scene) -> None:
    """Raise Otherwise, which says what was found, where a tool is not so."""
    match wanted:
        case IsTool(name, read_only):
            tool = _tool(name, scene)[0]
            said = "it is not marked: write @tool(read_only=True) above it"
            otherwise(tool.read_only or not read_only, said)
        case Takes(name, parameter):
            known = _parameters(_tool(name, scene)[0])
            otherwise(parameter in known, f"it takes {listed(known)}")
        case Described(name):
            _demand_words(_tool(name, scene)[0])
        case Gives(name, given, expected):
            tool, box = _tool(name, scene)
            _demand_result(tool, _with_type(box, name, expected, scene), given, expected, scene)


def _tool(name: str, scene: Scene) -> tuple[Tool, Toolbox]:
    """Return a tool, and what it is in: made of a variable, or the session's own."""
    if name in scene.variables:
        try:
            box = Toolbox(scene.variables[name])
        except ToolcallError as error:
            raise Otherwise(code(str(error))) from None
        found = list(box)
        otherwise(len(found) == 1, f"it holds {len(found)} tools; a function is one")
        return found[0], box
    if scene.session is not None and name in scene.session.toolbox:
        return scene.session.toolbox[name], scene.session.toolbox
    functions = [each for each, value in scene.variables.items() if callable(value)]
    raise Otherwise(f"there is no tool `{name}` yet.{nearest(name, functions)}")


def _with_type(box: Toolbox, name: str, expected: Any, scene: Scene) -> Toolbox:
    """Return a toolbox that knows the type of what is expected, where it is one."""
    found = scene.variables.get(expected.text) if isinstance(expected, Word) else None
    if name not in scene.variables or not isinstance(found, type):
        return box
    return Toolbox(scene.variables[name], found)


def _parameters(tool: Tool) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tool.parameters.get("properties", {})
    return found


def _demand_words(tool: Tool) -> None:
    otherwise(bool(tool.description.strip()), "it has no docstring, which a model reads")
    bare = [name for name, part in _parameters(tool).items() if not part.get("description")]
    otherwise(not bare, f"nothing says what {listed(bare)} is")


def _demand_result(
    tool: Tool, box: Toolbox, given: Mapping[str, Any], expected: Any, scene: Scene
) -> None:
    """Call the tool as a model would, on objects that the notebook's variables hold."""
    held = {
        each.text: scene.variables[each.text]
        for each in given.values()
        if isinstance(each, Word) and each.text in scene.variables
    }
    plain = {name: value for name, value in held.items() if isinstance(value, PLAIN)}
    objects = {name: value for name, value in held.items() if name not in plain}
    session = Session(box, scheme="flat", inputs=objects, approve="all")
    made = session.state.opened.inputs
    known = plain | {name: session.state.by_producer[each.producer] for name, each in made}
    arguments = {
        name: known.get(each.text, each.text) if isinstance(each, Word) else each
        for name, each in given.items()
    }
    session.cursor.desk.model = Scripted([(tool.name, arguments), "Done."])
    (call,) = session.tell("Try it.").calls
    otherwise(not call.error, f"it fails: {code(call.error)}")
    found = session[call.object] if call.object else call.result
    kind = isinstance(expected, Word) and type(found).__name__ == expected.text
    said = code(describe(found, 80)) if call.object else shown(found)
    otherwise(kind or equal(found, expected), f"it gives {said}")
