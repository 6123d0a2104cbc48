"""The names that the README of commit 670ad30 documents stay, and so do those added since."""

from __future__ import annotations

import importlib

import pytest

import jupyter_toolcall
from jupyter_toolcall import Session, cli
from jupyter_toolcall.jupyter.options import parser
from jupyter_toolcall.jupyter.subcommands import subcommands
from jupyter_toolcall.models.named import PROVIDERS
from jupyter_toolcall.rules.approval_policy import PRESETS
from jupyter_toolcall.schemes import SCHEMES
from jupyter_toolcall.teaching import register_teaching

EXPORTS = """Scripted Session Tool Toolbox from_definition from_graphql load_ipython_extension
    to_definition tool"""
ADDED_EXPORTS = "Rule from_definitions from_mcp verify"
MEMBERS = """call_tool calls came_out checkout decide decide_anew deps diff edit export fork
    generate hide_branch name_branch outdated pending query replay reply run step tell
    tool_call_result tool_calls transform users verify why"""
ADDED_MEMBERS = "graph panel value"
OPTIONS = """-m --model -t --tools -i --input -o --output --scheme --native --system --approve
    --break --step --wait --no-wait --record --replay -n --session --fresh --max-turns --predict
    --no-predict --quiet --help"""
ADDED_OPTIONS = "--executor --share --withhold --force --rules"
SUBCOMMANDS = """answer approve branch break call check checkout config diff edit exercise export
    fork guess help models next objects outdated reject replay say sessions solution status tools
    values verify why"""
ADDED_SUBCOMMANDS = "serve rules"
ELSEWHERE = """kitchen.Fries kitchen.Oven kitchen.Plate kitchen.Potato kitchen.Sink models.Reply
    models.Request models.openai.OpenAI schemes.Native toolsets.files
    toolsets.tables"""


@pytest.mark.parametrize("name", [*EXPORTS.split(), *ADDED_EXPORTS.split()])
def test_the_package_exports(name: str) -> None:
    assert getattr(jupyter_toolcall, name) is not None
    assert name in dir(jupyter_toolcall) == sorted(jupyter_toolcall.__all__)


@pytest.mark.parametrize("path", ELSEWHERE.split())
def test_a_module_of_the_package_exports(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert hasattr(importlib.import_module(f"jupyter_toolcall.{module}"), name)


@pytest.mark.parametrize("name", [*MEMBERS.split(), *ADDED_MEMBERS.split()])
def test_a_session_has(name: str) -> None:
    assert hasattr(Session, name)


@pytest.mark.parametrize("name", [*OPTIONS.split(), *ADDED_OPTIONS.split()])
def test_a_cell_has_the_option(name: str) -> None:
    register_teaching()
    assert name in {option for action in parser()._actions for option in action.option_strings}


@pytest.mark.parametrize("name", [*SUBCOMMANDS.split(), *ADDED_SUBCOMMANDS.split()])
def test_toolchat_has_the_subcommand(name: str) -> None:
    register_teaching()
    importlib.import_module("jupyter_toolcall.jupyter.serve_command").register_serving()
    assert name in subcommands()


@pytest.mark.parametrize(
    "name", ["run", "show", "verify", "check", "export", "eval", "serve", "rules"]
)
def test_the_command_line_has(name: str) -> None:
    assert f"    {name} " in cli.parser().format_help()


def test_models_schemes_and_policies_have_their_names() -> None:
    assert {"anthropic", "openai", "person", "recorded", "scripted"} <= set(PROVIDERS)
    assert {"select", "current", "flat"} <= set(SCHEMES)
    assert {"ask", "read-only", "all", "none"} <= set(PRESETS)
