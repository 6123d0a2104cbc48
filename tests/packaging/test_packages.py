"""The wheel and the sdist, built from a clean checkout on a machine without Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NODE = {"node", "nodejs", "npm", "npx", "corepack", "yarn", "yarnpkg"}
EXTENSION = "share/jupyter/labextensions/jupyter-toolcall"

pytestmark = [pytest.mark.slow, pytest.mark.long]


def run(command: Sequence[str | Path], env: Mapping[str, str], cwd: Path) -> str:
    """What the command printed; fails with all of it where the command fails."""
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
    where = run(
        [python, "-c", "import jupyter_toolcall as j; print(j.__file__)"], no_node, tmp_path
    )
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


def environment_without_it(folder: Path, env: Mapping[str, str]) -> Path:
    """The Python of a new environment that has what we depend on, but not us."""
    run([sys.executable, "-m", "venv", folder], env, folder.parent)
    python = folder / "bin" / "python"
    site = Path(
        run([python, "-c", "import site; print(site.getsitepackages()[0])"], env, folder).strip()
    )
    (site / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
