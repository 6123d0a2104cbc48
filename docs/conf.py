"""The configuration of the documentation: `make docs` builds it into build/docs."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "jupyter-toolcall"
REPOSITORY = "https://github.com/jupyter-toolcall/jupyter-toolcall"
author = "jupyter-toolcall contributors"
project_copyright = "jupyter-toolcall contributors"
release = version = version_of("jupyter-toolcall")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "jupyter_toolcall.teaching.sphinx_extension",
    "api_docstrings",
    "lessons",
    "generated_reference",
    "toolchat_lexer",
]
exclude_patterns = ["_ext"]
nitpicky = True
# Types in signatures: those of other packages, and internal ones, have no page to lead to.
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# The lessons are saved as executed, and a test executes them again.
nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Dashes and ellipses; quotation marks stay as they are written.
smartquotes_action = "De"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
python_trailing_comma_in_multi_line_signatures = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

pygments_dark_style = "a11y-high-contrast-dark"

html_theme = "furo"
html_title = "jupyter-toolcall"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "footer_icons": [
        {"name": "Repository", "url": REPOSITORY, "html": "<small>Repository</small>", "class": ""}
    ],
    "light_css_variables": {"color-brand-primary": "#1565c0", "color-brand-content": "#1565c0"},
    "dark_css_variables": {"color-brand-primary": "#64b5f6", "color-brand-content": "#64b5f6"},
}
copybutton_exclude = ".linenos, .gp"
linkcheck_ignore = [r"https?://(127\.0\.0\.1|localhost|(api\.)?example\.org).*"]
