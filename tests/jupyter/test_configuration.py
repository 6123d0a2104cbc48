"""What an option is where a cell does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.jupyter.magics import ToolChat, apply_project_settings, project_settings
from jupyter_toolcall.jupyter.options import parse_options


def test_a_setting_is_what_an_option_is_where_the_line_does_not_say() -> None:
    settings = ToolChat(approve="all", scheme="flat", model="scripted:kitchen", max_turns=3)
    left_out = parse_options("-t Potato", settings.settings())
    assert (left_out.approve, left_out.scheme, left_out.max_turns) == ("all", "flat", 3)
    assert (left_out.model, left_out.default_model) == ("", "scripted:kitchen")
    assert parse_options("--approve none", settings.settings()).approve == "none"


def test_a_default_model_alone_does_not_open_a_session() -> None:
    assert not parse_options("", ToolChat(model="scripted:kitchen").settings()).opens


def test_a_setting_that_is_none_of_the_choices_is_refused_where_it_is_used() -> None:
    with pytest.raises(UsageError, match=r"'al' is not one of ask, read-only, all, none"):
        parse_options("", ToolChat(approve="al").settings())


def test_a_project_sets_what_its_pyproject_says(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jupyter-toolcall]\napprove = "none"\n')
    (tmp_path / "deep" / "er").mkdir(parents=True)
    settings = ToolChat()
    apply_project_settings(settings, project_settings(tmp_path / "deep" / "er"))
    assert settings.approve == "none"


def test_what_the_person_has_set_stands_before_the_projects_word() -> None:
    settings = ToolChat(approve="read-only")
    apply_project_settings(settings, {"approve": "ask", "max_turns": 9})
    assert (settings.approve, settings.max_turns) == ("read-only", 9)


def test_a_file_does_not_approve_for_whoever_opens_its_notebooks() -> None:
    with pytest.raises(UsageError, match="is not taken from a file"):
        apply_project_settings(ToolChat(), {"approve": "all"})


@pytest.mark.parametrize(
    ("table", "said"), [({"modle": "x"}, "no setting 'modle'"), ({"max_turns": "x"}, "wrong type")]
)
def test_a_projects_mistake_is_named(table: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        apply_project_settings(ToolChat(), table)


def test_a_project_file_that_cannot_be_read_sets_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[[[")
    assert project_settings(tmp_path) == {}
