"""The wheel and the sdist, built from a clean checkout on a machine without Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NODE = {"node", "nodejs", "npm", "npx", "corepack", "yarn", "yarnpkg"}
EXTENSION = "share/jupyter/labextensions/jupyter-toolcall"

pytestmark = [pytest.mark.slow, pytest.mark.long]

RUN = """
from jupyter_toolcall import Scripted, Session, Toolbox, tool

def run(tools, call, **options):
    model = Scripted([call, "Done."])
    session = Session(tools, model, scheme="flat", approve="all", **options).tell("Go.")
    assert [call.status for call in session.calls] == ["succeeded"], session.calls
    assert "<svg" in session.graph._repr_mimebundle_()["image/svg+xml"]
"""
EXTRAS = {
    "": """
from jupyter_toolcall.kitchen import Potato
run(Toolbox(Potato), ("Potato_peel", {}), inputs={"potato": Potato()})
""",
    "dask": """
@tool(executor=True, read_only=True)
def double(n: int) -> int:
    return 2 * n
if __name__ == "__main__":
    run(Toolbox(double), ("double", {"n": 2}), executor="dask")
""",
    "graphql": """
from jupyter_toolcall import from_graphql
assert len(from_graphql("type Query { hello: String }", endpoint="https://example.org")) == 1
""",
    "lab": "import jupyterlab.labapp",
    "mcp": """
from mcp.server.mcpserver import MCPServer
from jupyter_toolcall import from_mcp
server = MCPServer("math")
@server.tool()
def double(n: int) -> int:
    return 2 * n
run(from_mcp(server), ("double", {"n": 2}))
""",
    "openai": """
session = Session(Toolbox(), "openai:gpt-5", scheme="flat")
assert session.cursor.context.model.name == "openai:gpt-5"
""",
    "tables": """
import pyarrow
from jupyter_toolcall.toolsets import tables
inputs = {"t": pyarrow.table({"n": [1, 2]})}
run(Toolbox(tables), ("tables_filter", {"where": "n > 1"}), inputs=inputs)
""",
}
"""For each extra a program that uses it; "" is an installation without any."""
RENDER = """
import json, sys
from rattler_build import Stage0Recipe
[variant] = Stage0Recipe.from_file(sys.argv[1]).render()
print(json.dumps(variant.recipe.to_dict()))
"""


def run(command: Sequence[str | Path], env: Mapping[str, str], cwd: Path) -> str:
    """What the command printed; fails with all of it where the command fails."""
    env = {**env, "PYTHONPATH": ""}  # A checkout there would be tested in place of the package.
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def no_node(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment like this one, on whose PATH is no Node."""
    folder = tmp_path_factory.mktemp("path")
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / program.name
            if program.name not in NODE and not link.is_symlink():
                link.symlink_to(program)
    assert shutil.which("node", path=str(folder)) is None
    return {**os.environ, "PATH": str(folder)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, no_node: dict[str, str]) -> Path:
    """A folder with the two packages; the wheel is built from the sdist."""
    checkout = tmp_path_factory.mktemp("checkout")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in filter(None, run(listed, no_node, ROOT).split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    dist = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--outdir", dist, checkout], no_node, checkout)
    return dist


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    [found] = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def sdist(built: Path) -> Path:
    [found] = built.glob("*.tar.gz")
    return found


def test_the_wheel_holds_the_package_the_panel_and_the_extension(wheel: Path) -> None:
    assert wheel.stat().st_size <= 1_500_000
    names = zipfile.ZipFile(wheel).namelist()
    data = f"{wheel.name.split('-py3')[0]}.data/data/{EXTENSION}"
    for name in (
        "jupyter_toolcall/__init__.py",
        "jupyter_toolcall/py.typed",
        "jupyter_toolcall/static/widget.js",
        "jupyter_toolcall/static/widget.css",
        "jupyter_toolcall/static/page.js",
        "jupyter_toolcall/static/page.css",
        f"{data}/package.json",
        f"{data}/install.json",
        f"{data}/static/style.js",
        f"{data}/schemas/jupyter-toolcall/plugin.json",
    ):
        assert name in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"jupyter_toolcall"}
    assert not [name for name in names if name.startswith("jupyter_toolcall/labextension")]


def test_the_sdist_holds_what_is_built_and_its_sources(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in (
        "LICENSE",
        "hatch_build.py",
        "labextension/package-lock.json",
        "labextension/src/index.ts",
        "jupyter_toolcall/labextension/static/style.js",
        "jupyter_toolcall/static/widget.js",
        "jupyter_toolcall/static/page.js",
    ):
        assert name in names
    assert not [name for name in names if "node_modules" in name]


@pytest.mark.parametrize("package", ["wheel", "sdist"])
def test_it_installs_without_node_and_jupyterlab_knows_the_extension(
    package: str, request: pytest.FixtureRequest, no_node: dict[str, str], tmp_path: Path
) -> None:
    python = environment_without_it(tmp_path / "env", no_node)
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--no-deps"]
    built: Path = request.getfixturevalue(package)
    run([*install, built], no_node, tmp_path)
    prints_file = "import jupyter_toolcall; print(jupyter_toolcall.__file__)"
    where = run([python, "-c", prints_file], no_node, tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path / "env")
    extension = tmp_path / "env" / EXTENSION
    entry = json.loads((extension / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    assert (extension / entry).is_file()
    listed = subprocess.run(
        [python, "-m", "jupyterlab.labextensions", "list"],
        env=no_node,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    [line] = [line for line in listed.stderr.splitlines() if "jupyter-toolcall" in line]
    assert "enabled" in line
    assert "OK" in line


def test_a_book_shows_panels_by_the_extension_in_the_wheel_without_a_warning(
    wheel: Path, no_node: dict[str, str], tmp_path: Path
) -> None:
    book, python = tmp_path / "book", environment_without_it(tmp_path / "env", no_node)
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", wheel], no_node, tmp_path)
    book.mkdir()
    extensions = ["myst_nb", "jupyter_toolcall.teaching.sphinx_extension"]
    (book / "conf.py").write_text(f"extensions = {extensions}\nnb_execution_mode = 'off'\n")
    (book / "index.md").write_text("# Course\n\n```{toctree}\nlesson\n```\n")
    lesson = (ROOT / "notebooks" / "00_first_call.ipynb").read_text()
    # The lesson that this one leads to is not in the book.
    (book / "lesson.ipynb").write_text(lesson.replace("](01_live_objects.ipynb)", "](index.md)"))
    run([python, "-m", "sphinx", "-W", "--keep-going", book, tmp_path / "site"], no_node, tmp_path)
    assert (tmp_path / "site" / "lesson.html").read_text().count("toolcall-rows") == 4
    assert (tmp_path / "site" / "_static" / "toolcall_page.js").stat().st_size > 10_000


def test_the_conda_recipe_builds_the_package_with_what_it_lists(
    sdist: Path, no_node: dict[str, str], tmp_path: Path
) -> None:
    """No channel of conda is asked: PyPI has what the recipe's host environment lists."""
    run([sys.executable, "-m", "venv", "env"], no_node, tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    run([*install, "py-rattler-build"], no_node, tmp_path)
    render: list[str | Path] = [python, "-c", RENDER, ROOT / "docs" / "conda" / "recipe.yaml"]
    recipe = json.loads(run(render, no_node, tmp_path))
    host = recipe["requirements"]["host"]
    run([*install, *(name for name in host if not name.startswith("python "))], no_node, tmp_path)
    build = recipe["build"]["script"].replace("${{ PYTHON }}", str(python))
    run(build.replace(" . ", f" {sdist} ").split(), no_node, tmp_path)
    assert (tmp_path / "env" / "bin" / "jupyter-toolcall").is_file()


def test_each_extra_of_a_user_has_a_program_here() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert EXTRAS.keys() - {""} == project["optional-dependencies"].keys() - {"demo", "dev", "docs"}


@pytest.fixture(scope="module")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installer that can also choose the oldest versions that are allowed."""
    folder = tmp_path_factory.mktemp("uv")
    run([sys.executable, "-m", "venv", folder], os.environ, folder)
    run([folder / "bin" / "pip", "install", "--quiet", "uv"], os.environ, folder)
    return folder / "bin" / "uv"


@pytest.mark.parametrize("versions", ["highest", "lowest-direct"])
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_alone_is_enough_with_the_newest_and_the_oldest_versions_allowed(
    extra: str, versions: str, wheel: Path, uv: Path, tmp_path: Path
) -> None:
    env = {**os.environ, "OPENAI_API_KEY": "none", "XDG_DATA_HOME": str(tmp_path / "share")}
    run([uv, "venv", "--quiet", "--python", sys.executable, "env"], env, tmp_path)
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", "env/bin/python"]
    package = f"{wheel}[{extra}]" if extra else wheel
    run([*install, "--resolution", versions, package], env, tmp_path)
    (tmp_path / "program.py").write_text(RUN + EXTRAS[extra])
    run([tmp_path / "env" / "bin" / "python", "program.py"], env, tmp_path)


def environment_without_it(folder: Path, env: Mapping[str, str]) -> Path:
    """The Python of a new environment that has what we depend on, but not us."""
    run([sys.executable, "-m", "venv", folder], env, folder.parent)
    python = folder / "bin" / "python"
    site = Path(
        run([python, "-c", "import site; print(site.getsitepackages()[0])"], env, folder).strip()
    )
    (site / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
