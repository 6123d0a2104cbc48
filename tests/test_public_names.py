"""The names that the README of commit 670ad30 documents stay, and so do those added since."""

from __future__ import annotations

import importlib
import re

import jupyter_toolcall
from jupyter_toolcall import Session, cli
from jupyter_toolcall.jupyter.options import parser
from jupyter_toolcall.jupyter.serve_command import register_serving
from jupyter_toolcall.jupyter.subcommands import subcommands
from jupyter_toolcall.models.named import PROVIDERS
from jupyter_toolcall.rules.approval_policy import PRESETS
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.teaching import register_teaching

EXPORTS = """Scripted Session Tool Toolbox from_definition from_graphql load_ipython_extension
    to_definition tool Rule from_definitions from_mcp verify"""
MEMBERS = """call_tool calls came_out checkout decide decide_anew deps diff edit export fork
    generate hide_branch name_branch outdated pending query replay reply run step tell
    tool_call_result tool_calls transform users verify why graph panel value"""
OPTIONS = """-m --model -t --tools -i --input -o --output --scheme --native --system --approve
    --break --step --wait --no-wait --record --replay -n --session --fresh --max-turns --predict
    --no-predict --quiet --help --executor --share --withhold --force --rules"""
SUBCOMMANDS = """answer approve branch break call check checkout config diff edit exercise export
    fork guess help models next objects outdated reject replay say sessions solution status tools
    values verify why serve rules"""
COMMANDS = "run show verify check export eval serve rules"
ELSEWHERE = """kitchen.Fries kitchen.Oven kitchen.Plate kitchen.Potato kitchen.Sink models.Reply
    models.Request models.openai.OpenAI schemes.Native toolsets.files
    toolsets.tables"""


def test_every_public_name_is_there() -> None:
    register_teaching()
    register_serving()
    assert {*EXPORTS.split()} <= {*jupyter_toolcall.__all__}
    assert dir(jupyter_toolcall) == sorted(jupyter_toolcall.__all__)
    assert {*MEMBERS.split()} <= {*dir(Session)}
    assert {*OPTIONS.split()} <= {*parser()._option_string_actions}
    assert {*SUBCOMMANDS.split()} <= {*subcommands()}
    assert {*COMMANDS.split()} <= {*re.findall(r"^    (\w+) ", cli.parser().format_help(), re.M)}
    for path in ELSEWHERE.split():
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(f"jupyter_toolcall.{module}"), name)


def test_models_schemes_and_policies_have_their_names() -> None:
    assert {"anthropic", "openai", "person", "recorded", "scripted"} <= set(PROVIDERS)
    assert {"select", "current", "flat"} <= set(SCHEMES)
    assert {"ask", "read-only", "all", "none"} <= set(PRESETS)
