"""A notebook as one page, and as a notebook of a book."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall.cli import main
from jupyter_toolcall.teaching.lesson_page import lesson_page
from jupyter_toolcall.teaching.sphinx_extension import with_panels

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSON = NOTEBOOKS / "00_first_call.ipynb"


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": text}


def code(text: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": text, "outputs": list(outputs), "metadata": {}}


def saved_rows(page: str) -> list[Any]:
    """Return what a page's script reads of its sessions."""
    return [json.loads(text) for text in re.findall(r'class="toolcall-rows">(.*?)</script>', page)]


def test_markdown_is_rendered_and_of_its_html_only_plain_tags_are_markup() -> None:
    page = lesson_page(
        [
            markdown("# A & B\n\n| a | b |\n|---|---|\n| 1 | **2** |"),
            markdown("<details><summary>Then</summary>\n\nopen\n\n</details>"),
            markdown("`<details>` <img src=x onerror=alert()> [a](javascript:alert())"),
        ],
        "name",
    )
    assert "<title>A &amp; B</title>" in page
    assert "<strong>2</strong></td>" in page
    assert "<details><summary>Then</summary>" in page
    assert "<code>&lt;details&gt;</code>" in page
    assert "<img src=x" not in page
    assert "javascript:" not in page.partition("<main>")[2].partition("<script>")[0]


def test_outputs_are_text_markdown_or_a_picture_and_nothing_in_them_is_markup() -> None:
    page = lesson_page(
        [
            code("1 < 2", {"data": {"text/plain": ["<b>", "x</b>"], "text/html": "<i>y</i>"}}),
            code("print()", {"text": "</script><script>z"}),
            code("plot()", {"data": {"image/png": "AAAA\nBBBB", "text/plain": "<Figure>"}}),
            code("1 / 0", {"ename": "ZeroDivisionError", "evalue": "division", "traceback": []}),
        ],
        "name",
    )
    assert "<title>name</title>" in page
    body = page.partition("<main>")[2].partition("</main>")[0]
    for text in ("1 &lt; 2</pre>", "&lt;b&gt;x&lt;/b&gt;</pre>", "&lt;/script&gt;&lt;script&gt;z"):
        assert text in body
    assert 'src="data:image/png;base64,AAAABBBB"' in body
    assert "ZeroDivisionError: division" in body
    assert "<i>" not in body
    assert "Figure" not in body


def test_the_command_writes_one_page_beside_the_notebook_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk-1234567890abcdef")
    notebook = json.loads(LESSON.read_text())
    notebook["cells"].append(code("key = 'sk-1234567890abcdef'"))
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    assert main(["export", str(tmp_path / "a.ipynb"), "--to", "lesson"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "sk-1234567890abcdef" not in page
    assert len(saved_rows(page)) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.ipynb"]
    # A page that a person has changed is theirs.
    (tmp_path / "a.html").write_text(page.replace("<main>", "<main>mine"))
    assert main(["export", str(tmp_path / "a.ipynb"), "--to", "lesson"]) == 1
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        *(("no notebook", "", "is no notebook"), ('{"cells": [{"source": ""}]}', "", "is damaged")),
        ('{"cells": []}', "--session 4", "leave out --session"),
    ],
)
def test_what_cannot_be_a_page_is_refused_in_one_line(
    text: str, options: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    assert main(["export", str(path), "--to", "lesson", *options.split()]) == 1
    assert error in capsys.readouterr().err
    assert not (tmp_path / "a.html").exists()


def test_a_notebook_of_a_book_has_its_panels_as_html_and_no_data_that_a_book_cannot_show() -> None:
    shown = json.loads(with_panels(LESSON.read_text()))
    outputs = [output for cell in shown["cells"] for output in cell.get("outputs", ())]
    bundles = [output["data"] for output in outputs if "data" in output]
    assert not any("jupyter-toolcall" in mime for data in bundles for mime in data)
    panels = [data["text/html"] for data in bundles if "toolcall-rows" in data.get("text/html", "")]
    assert len(panels) == 4
    assert all("<svg" in panel and "Potato#1" in panel for panel in panels)
    plain = json.dumps({"cells": [markdown("Text.")]}, indent=3)
    assert with_panels(plain) == plain
