"""Steps of a browser test, as plain functions: start, open, run, wait, look.

Nothing here knows what is tested; a step returns when what it did can be seen.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

App = Literal["jupyterlab", "notebook"]
ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUIET = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}
}
FRONT_ENDS = ("lab", pytest.param("notebook7", marks=pytest.mark.long))
"""The fixtures of both front ends, as parameters of a test."""
START = 90.0
"""Seconds that a server, a page or a kernel may take on a busy machine of two cores."""
SETTLE = 5.0
"""Seconds in which a page comes to rest after a change of its size."""

CURRENT = "window.jupyterapp.shell.currentWidget"
KERNEL = f"{CURRENT}?.sessionContext?.session?.kernel"

expect.set_options(timeout=30_000)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a running server."""

    app: App
    url: str
    served: Path
    folder: str = "."

    @property
    def root(self) -> Path:
        return self.served / self.folder

    def path(self, name: str) -> str:
        """A file of this folder, as the front end's commands name it."""
        return f"{self.folder}/{name}"

    def address(self, name: str) -> str:
        front_end = "lab/tree" if self.app == "jupyterlab" else "notebooks"
        return f"{self.url}/{front_end}/{self.path(name)}"


def chromium_path() -> str:
    """Where Chromium is; the test fails, and says so, where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError("The browser tests need Chromium on the PATH: apt-get install chromium")


@contextmanager
def served(app: App, folder: Path, python: str | Path = sys.executable) -> Iterator[Place]:
    """A server on loopback for as long as it lasts; all that it writes is in the folder."""
    root = folder / "root"
    root.mkdir()
    (folder / "data").mkdir()
    _spare_builds(folder / "config")
    place = Place(app, f"http://127.0.0.1:{free_port()}", root)
    env, start = environment(folder), ["-m"]
    if python == sys.executable:
        start = ["-c", "from tests.forked_kernels import run_module; run_module()"]
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *sys.path])
    command = [str(python), *start, *arguments(place)]
    with running(command, folder, env, lambda: answers(f"{place.url}/api/status")):
        yield place


@contextmanager
def running(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str], is_up: Callable[[], bool]
) -> Iterator[None]:
    """A program in a folder for as long as it lasts; begins when it is up.

    Raises with its log where it does not start.
    """
    log, deadline = folder / "log", time.monotonic() + START
    with log.open("w") as file:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=file, stderr=file, start_new_session=True
        )
    try:
        while not is_up():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"It did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        # A server ends its kernels first, one after the other.
        process.wait(90)


def _spare_builds(config: Path) -> None:
    """JupyterLab would ask at each load of a page whether it is to be built again, with Node."""
    (config / "labconfig").mkdir(parents=True)
    (config / "labconfig" / "page_config.json").write_text(json.dumps({"buildCheck": False}))


def arguments(place: Place) -> list[str]:
    """How Python starts the server: no password, for this machine alone."""
    return [
        *(place.app, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        f"--port={place.url.rpartition(':')[2]}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={place.served}",
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]


def environment(folder: Path) -> dict[str, str]:
    """This process's, with every place where Jupyter and our package keep something moved."""
    kept = {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTER_DATA_DIR": "data",
        "IPYTHONDIR": "ipython",
        "XDG_DATA_HOME": "share",
        "XDG_CACHE_HOME": "cache",
    }
    return {**os.environ, **{name: str(folder / place) for name, place in kept.items()}}


def write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Settings by `package/plugin`, as JupyterLab keeps them."""
    for name, values in settings.items():
        at = folder / f"{name}.jupyterlab-settings"
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(json.dumps(values))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def write_notebook(
    place: Place,
    name: str,
    cells: Sequence[str],
    outputs: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
) -> Path:
    """A notebook with these cells; `outputs` are MIME bundles by the cell's number."""
    outputs = outputs or {}
    made = [
        nbformat.v4.new_code_cell(
            source,
            execution_count=number + 1 if number in outputs else None,
            outputs=[
                nbformat.v4.new_output("display_data", data=dict(data))
                for data in outputs.get(number, ())
            ],
        )
        for number, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    at = place.root / name
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel}), at)
    return at


def open_notebook(
    page: Page,
    place: Place,
    name: str,
    cells: Sequence[str] | None = None,
    outputs: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
) -> None:
    """Open a notebook, written first where cells are given; returns with its kernel idle."""
    if cells is not None:
        write_notebook(place, name, cells, outputs)
    if page.evaluate(f"window.emptyLab === '{place.url}'") and has_default_settings(place):
        _open_in_empty_lab(page, place.path(name))
    else:
        page.goto(place.address(name) + ("?reset" if place.app == "jupyterlab" else ""))
    wait_ready(page)


def _open_in_empty_lab(page: Page, path: str) -> None:
    page.evaluate("window.emptyLab = undefined")
    run_command(page, "docmanager:open", path=path)
    page.wait_for_function(f"path => {CURRENT}?.context?.path === path", arg=path)
    # JupyterLab puts a launcher into an empty main area.
    page.evaluate(
        f"""() => {{
            for (const widget of [...window.jupyterapp.shell.widgets('main')])
                if (widget !== {CURRENT}) widget.dispose();
        }}"""
    )


def has_default_settings(place: Place) -> bool:
    """Whether no setting was written but those of every test, and the theme."""
    written = (place.served.parent / "settings").rglob("*.jupyterlab-settings")
    return {path.stem for path in written} <= {"notification", "themes"}


def empty_lab(page: Page, place: Place) -> None:
    """Close all that is open in a JupyterLab, so that the next test can use its page.

    A page that a dialog covers, or whose settings were changed, is left as it is: the next test
    gets another. Loading JupyterLab takes longer than most tests.
    """
    if not page.url.startswith(f"{place.url}/lab") or not has_default_settings(place):
        return
    page.evaluate(
        """async url => {
            const { commands, restored, shell } = window.jupyterapp ?? {};
            if (!(await restored, shell) || document.querySelector('.jp-Dialog')) return;
            for (const area of ['main', 'down'])
                for (const widget of [...shell.widgets(area)]) widget.dispose();
            shell.collapseRight();
            shell.expandLeft();
            if (document.body.dataset.jpThemeLight === 'false')
                await commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' });
            await commands.execute('apputils:dismiss-notification');
            // One that waits for a cell that was closed may end while the next test runs.
            window.commandsUnderWay = undefined;
            window.emptyLab = url;
        }""",
        place.url,
    )


def wait_ready(page: Page) -> None:
    """Returns when the notebook is drawn and its kernel is connected and idle."""
    wait_drawn(page)
    wait_idle(page)


def wait_drawn(page: Page) -> None:
    """Returns when the notebook's cells are on the page, whatever its kernel does."""
    page.wait_for_function("window.jupyterapp?.restored", timeout=START * 1000)
    page.evaluate("window.jupyterapp.restored.then(() => null)")
    wait_splash(page)
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=START * 1000)


def wait_idle(page: Page, timeout: float = START) -> None:
    """Returns when every command that was started has ended, and the kernel is idle."""
    page.wait_for_function(
        f"""() => {{
            const kernel = {KERNEL};
            return !window.commandsUnderWay?.size
                && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
        }}""",
        timeout=timeout * 1000,
    )


def run_command(page: Page, command: str, **arguments: object) -> None:
    """Start a command of the front end; does not wait for what it does."""
    page.evaluate(
        """([id, args]) => {
            const underWay = window.commandsUnderWay ??= new Set();
            const command = window.jupyterapp.commands.execute(id, args);
            underWay.add(command);
            command.finally(() => underWay.delete(command));
        }""",
        [command, arguments],
    )


def run_all(page: Page) -> None:
    """Start running every cell as soon as there is a kernel; returns when they are asked for."""
    # Of a page that was loaded again the notebook is drawn a little before it is the current one.
    page.wait_for_function(f"Boolean({CURRENT}?.sessionContext)", timeout=START * 1000)
    page.evaluate(f"async () => {{ await {CURRENT}.sessionContext.ready; }}")
    run_command(page, "notebook:run-all-cells")


def run_cell(page: Page, number: int) -> None:
    """Start running one cell; returns at once."""
    page.evaluate(f"number => {{ {CURRENT}.content.activeCellIndex = number; }}", number)
    run_command(page, "notebook:run-cell")


def restart_kernel(page: Page) -> None:
    """Restart without asking; returns when the new kernel is idle."""
    page.evaluate(f"async () => {{ await {CURRENT}.sessionContext.session.kernel.restart(); }}")
    wait_idle(page)


def interrupt(page: Page) -> None:
    run_command(page, "notebook:interrupt-kernel")


def save(page: Page) -> None:
    """Returns when the notebook is on disk."""
    page.evaluate(f"async () => {{ await {CURRENT}.context.save(); }}")


def saved_notebook(place: Place, name: str) -> Any:
    """The notebook as it is on disk."""
    return nbformat.read(place.root / name, as_version=4)


def wait_kept(page: Page, *parts: str) -> None:
    """Returns when JupyterLab has written a layout with all of these parts in it."""
    page.evaluate(
        """async parts => {
            const { workspaces } = window.jupyterapp.serviceManager;
            for (let tries = 0; tries < 300; tries++) {
                const kept = JSON.stringify(await workspaces.fetch('default'));
                if (parts.every(part => kept.includes(part))) return;
                await new Promise(done => setTimeout(done, 100));
            }
            throw new Error(`The layout was not kept with ${parts}`);
        }""",
        parts,
    )


def reload(page: Page) -> None:
    """Load the page again, as a person would; the kernel runs on, and may be busy."""
    page.reload()
    wait_drawn(page)


@contextmanager
def fresh_folder(server: Place) -> Iterator[Place]:
    """An empty folder of a server, whose settings are as at first; its kernels end with it."""
    settings = server.served.parent / "settings"
    shutil.rmtree(settings, ignore_errors=True)
    write_settings(settings, QUIET)
    folder = Path(tempfile.mkdtemp(dir=server.served)).name
    yield replace(server, folder=folder)
    shut_down_kernels(server)


def shut_down_kernels(place: Place) -> None:
    """End every kernel of the server, as closing for the day would."""
    with urllib.request.urlopen(f"{place.url}/api/sessions") as answer:
        sessions = json.load(answer)
    for session in sessions:
        request = urllib.request.Request(
            f"{place.url}/api/sessions/{session['id']}", method="DELETE"
        )
        urllib.request.urlopen(request).close()


def cell(page: Page, number: int) -> Locator:
    """A cell of the notebook, the first is 0."""
    return page.locator(".jp-Notebook .jp-Cell").nth(number)


def outputs(page: Page, number: int) -> Locator:
    """What a cell shows below its source."""
    return cell(page, number).locator(".jp-Cell-outputArea")


def dark_theme(page: Page) -> None:
    """Returns when the page is dark."""
    run_command(page, "apputils:change-theme", theme="JupyterLab Dark")
    page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    wait_splash(page)


def show_alone(page: Page, width: int, theme: str) -> None:
    """Show the notebook without the side panel, its cells so wide, in a theme."""
    if theme == "dark":
        dark_theme(page)
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": width + 140, "height": 1000})


def wait_splash(page: Page) -> None:
    """Returns when the splash screen, which covers all of the page, is gone."""
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def show_side_panel(page: Page) -> Locator:
    """Open the side panel; returns it when it is on show."""
    run_command(page, "jupyter-toolcall:show-panel")
    side = page.locator("#jupyter-toolcall-side")
    expect(side).to_be_visible()
    return side


@contextmanager
def quiet_page(page: Page) -> Iterator[list[str]]:
    """A page that loads nothing but files, and has nothing to complain of; gives what it loads."""
    loaded: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield loaded
    assert complaints == []
    assert [url for url in loaded if not url.startswith(("file://", "data:"))] == []


def expect_nothing(part: Locator, problems: str) -> None:
    """A script finds nothing in a part, once the page has settled.

    It asks again in the next frame: JupyterLab lays its cells out after a change of size, and an
    update of the panel can take the part out of the page before it is measured.
    """
    deadline = time.monotonic() + SETTLE
    while (found := part.evaluate(problems)) and time.monotonic() < deadline:
        part.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert not found, found


def screenshot(page: Page, name: str) -> None:
    """A picture of the page in the folder that SCREENSHOTS names, if it names one."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")
