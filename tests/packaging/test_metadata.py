"""The two manifests, the workflows and the citation file agree with each other."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import jupyter_toolcall

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/jupyter-toolcall/jupyter-toolcall"
CORE_DEPENDENCIES = {"anthropic", "graphviz", "ipywidgets", "nbformat", "pygraphviz"}


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pyproject() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


def package_json() -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(read("labextension/package.json"))
    return manifest


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}


def test_the_version_is_in_one_file_and_the_others_repeat_it() -> None:
    version = package_json()["version"]
    assert pyproject()["project"]["dynamic"] == ["readme", "version"]
    assert jupyter_toolcall.__version__ == version
    lock = json.loads(read("labextension/package-lock.json"))
    assert [lock["version"], lock["packages"][""]["version"]] == [version, version]
    assert f"\nversion: {version}\n" in read("CITATION.cff")
    assert re.search(rf"^## {re.escape(version)} ", read("CHANGELOG.md"), re.MULTILINE)


def test_the_changelog_has_the_markers_of_jupyter_releaser_once() -> None:
    markers = re.findall(r"<!-- <\w+ NEW CHANGELOG ENTRY> -->", read("CHANGELOG.md"))
    assert markers == ["<!-- <START NEW CHANGELOG ENTRY> -->", "<!-- <END NEW CHANGELOG ENTRY> -->"]


def test_both_manifests_can_be_found_as_a_jupyterlab_extension_and_lead_to_the_repository() -> None:
    project, manifest = pyproject()["project"], package_json()
    for keywords in (project["keywords"], manifest["keywords"]):
        assert {"jupyter", "jupyterlab", "jupyterlab-extension"} <= set(keywords)
    assert project["urls"]["Repository"] == manifest["homepage"] == REPOSITORY
    assert project["urls"]["Issues"] == manifest["bugs"]["url"]
    assert manifest["repository"]["url"] == f"{REPOSITORY}.git"
    assert project["license"] == manifest["license"]
    assert "Framework :: Jupyter :: JupyterLab :: Extensions :: Prebuilt" in project["classifiers"]


def test_the_readme_of_the_package_has_no_relative_link_or_picture() -> None:
    text = read("README.md")
    for rule in pyproject()["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"][
        "substitutions"
    ]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
    assert f"{REPOSITORY}/blob/main/docs/mcp.md" in targets
    assert [target for target in targets if not target.startswith("https://")] == []


def test_each_python_of_the_classifiers_is_tested_by_the_workflow() -> None:
    classifiers = "\n".join(pyproject()["project"]["classifiers"])
    versions = re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)
    assert versions == ["3.11", "3.12", "3.13", "3.14"]
    tested = re.search(r"python-version: \[(.*)\]", read(".github/workflows/build.yml"))
    assert tested is not None
    assert tested[1] == ", ".join(f'"{version}"' for version in versions)


def test_an_installation_has_what_every_user_needs_and_extras_have_the_others() -> None:
    project = pyproject()["project"]
    extras = {name: names(needed) for name, needed in project["optional-dependencies"].items()}
    assert names(project["dependencies"]) >= CORE_DEPENDENCIES
    assert extras["lab"] == {"jupyterlab"}
    assert "tidy" not in extras
    lessons = ("lab", "graphql", "mcp", "tables")
    assert extras["demo"] >= set().union(*(extras[name] for name in lessons))


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = import_module("yaml").safe_load(read("docs/conda/recipe.yaml"))
    project = pyproject()["project"]
    needed = {}
    for requirement in map(Requirement, project["dependencies"]):
        # On conda-forge `graphviz` is the program.
        name = {"graphviz": "python-graphviz"}.get(requirement.name, requirement.name)
        needed[name] = requirement.specifier
    listed = (line.partition(" ") for line in recipe["requirements"]["run"])
    assert {name: SpecifierSet(bounds) for name, _, bounds in listed if name != "python"} == needed
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    assert recipe["context"]["version"] == jupyter_toolcall.__version__
    entry_points = [command.split(" = ") for command in recipe["build"]["python"]["entry_points"]]
    assert dict(entry_points) == project["scripts"]


def test_the_workflow_leaves_out_tests_that_exist() -> None:
    left_out = set(re.findall(r"--ignore=([\w/.]+)", read(".github/workflows/build.yml")))
    assert left_out
    assert [path for path in sorted(left_out) if not (ROOT / path).exists()] == []
