"""What an option is where a cell does not say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Toolbox, tool
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.jupyter.magics import (
    TIGHTENED,
    ToolChat,
    apply_project_settings,
    project_settings,
)
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.rules.approval_policy import approval_policy
from jupyter_toolcall.sources.table_sharing import check_sharing, table_text


def test_a_setting_is_what_an_option_is_where_the_line_does_not_say() -> None:
    settings = ToolChat(approve="all", scheme="flat", model="scripted:kitchen", max_turns=3)
    left_out = parse_options("-t Potato", settings.settings())
    assert (left_out.approve, left_out.scheme, left_out.max_turns) == ("all", "flat", 3)
    assert (left_out.model, left_out.default_model) == ("", "scripted:kitchen")
    assert parse_options("--approve none", settings.settings()).approve == "none"
    # A default model alone opens no session.
    assert not parse_options("", ToolChat(model="scripted:kitchen").settings()).opens
    with pytest.raises(UsageError, match=r"'al' is not one of ask, read-only, all, none"):
        parse_options("", ToolChat(approve="al").settings())


def test_a_project_sets_what_its_pyproject_says_and_the_person_has_not(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.jupyter-toolcall]\napprove = "none"\n')
    (tmp_path / "deep" / "er").mkdir(parents=True)
    settings = ToolChat()
    apply_project_settings(settings, project_settings(tmp_path / "deep" / "er"))
    assert settings.approve == "none"
    settings = ToolChat(approve="read-only")
    apply_project_settings(settings, {"approve": "ask", "max_turns": 9})
    assert (settings.approve, settings.max_turns) == ("read-only", 9)
    file.write_text("[[[")
    assert project_settings(tmp_path) == {}


def test_what_a_file_would_loosen_is_ignored_and_named_in_one_line() -> None:
    settings = ToolChat()
    table = {"approve": "all", "share": "values", "max_turns": 500, "withhold": ["ssn"]}
    ignored = apply_project_settings(settings, table)
    assert "approve = 'all' (it stays 'ask')" in ignored
    assert "share = 'values' (it stays 'sample')" in ignored
    assert "max_turns = 500 (it stays 50)" in ignored
    assert ("withhold" in ignored, "\n" in ignored) == (False, False)
    left = settings.settings()
    assert [left[name] for name in TIGHTENED] == ["ask", 50, "sample", ["ssn"]]


VALUES: dict[str, Any] = {
    "approve": st.sampled_from(["ask", "read-only", "all", "none"]),
    "share": st.sampled_from(["schema", "sample", "values"]),
    "withhold": st.lists(st.sampled_from(["a", "b", "c"])),
    "max_turns": st.integers(1, 99),
    "jobs": st.integers(1, 9),
    "scheme": st.sampled_from(["flat", "select"]),
    "language": st.sampled_from(["", "de"]),
    "model": st.sampled_from(["", "person"]),
}
TABLES = st.fixed_dictionaries({}, optional=VALUES)
TABLE = pl.DataFrame({name: [f"{name}{row}" for row in range(40)] for name in "abc"})


def look() -> None:
    """Look."""


def write() -> None:
    """Write."""


@given(TABLES, TABLES)
def test_with_a_projects_file_no_more_is_sent_and_no_more_runs_than_without(
    own: dict[str, Any], of_file: dict[str, Any]
) -> None:
    """The order of decisions, for any tool: run, ask, reject."""

    def effects(settings: ToolChat) -> tuple[set[str], list[int], int]:
        options = parse_options("", settings.settings())
        sharing = check_sharing(options.share, options.withhold)
        sent = set(re.findall(r"[abc]\d+", table_text(TABLE, sharing)))
        policy, box = approval_policy(options.approve), Toolbox(tool(read_only=True)(look), write)
        verdicts = [policy(one, {})[0] for one in box]
        return sent, [["approve", "ask", "reject"].index(v) for v in verdicts], options.max_turns

    before = effects(ToolChat(**own))
    settings = ToolChat(**own)
    apply_project_settings(settings, of_file)
    after = effects(settings)
    assert after[0] <= before[0]
    assert all(now >= then for now, then in zip(after[1], before[1], strict=True))
    assert after[2] <= before[2]
    assert settings.mcp_servers == {}


def test_every_setting_is_one_that_a_file_tightens_or_one_that_shares_and_runs_nothing() -> None:
    free = {"model", "scheme", "language", "jobs", "mcp_servers"}
    assert {*ToolChat().settings()} == {*TIGHTENED, *free}


def test_a_file_below_takes_nothing_away_of_what_one_above_withholds(tmp_path: Path) -> None:
    head = "[tool.jupyter-toolcall]\n"
    above = f'{head}share = "schema"\nwithhold = ["ssn"]\nscheme = "flat"\n'
    (tmp_path / "pyproject.toml").write_text(above)
    below = tmp_path / "below"
    below.mkdir()
    for text in (f'{head}share = "values"\nwithhold = ["city"]\n', "[project]\n", "tool = 1\n"):
        (below / "pyproject.toml").write_text(text)
        settings = ToolChat()
        apply_project_settings(settings, project_settings(below))
        assert (settings.share, settings.scheme) == ("schema", "select")
        assert "ssn" in settings.withhold


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"modle": "x"}, "no setting 'modle'; there are .*share, withhold$"),
        ({"max_turns": "x"}, "wrong type"),
        ({"share": "value"}, "Did you mean values"),
        ({"approve": "al"}, "Did you mean all"),
    ],
)
def test_a_projects_mistake_is_named(table: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        apply_project_settings(ToolChat(), table)
