"""Pages: a chapter on its own, which needs no network and no other file, and the book's Markdown.

Every text on a page may come from a model, so it is hostile: templates escape all of it, characters
that no one could see are made visible, and a chapter's own policy lets the browser run only the
script that stands in `table.js` and load pictures only from the disk.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from selfpref.plots import show
from selfpref.texts import visible

TEMPLATES = Path(__file__).with_name("templates")
# What Markdown and HTML read as itself within a line: brackets without a round one make no link.
PLAIN = " .,:;-/%+?[]'\N{MINUS SIGN}\N{RIGHT SINGLE QUOTATION MARK}"


def markdown(text: str) -> str:
    """Markdown as HTML; HTML in it is shown as text."""
    renderer = IPythonRenderer(
        escape=True, allow_harmful_protocols=False, exclude_anchor_links=True
    )
    # The renderer escapes once more what executed notebooks hold escaped.
    return str(MarkdownWithMath(renderer=renderer).render(text.replace("&lt;", "<")))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("selfpref.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    script = (TEMPLATES / "table.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(
        style=(TEMPLATES / "style.css").read_text(encoding="utf-8"), script=script, digest=digest
    )
    environment.filters |= {"inert": inert, "html": show.html}
    return environment


def inert(text: str) -> str:
    """A text that neither Markdown nor HTML reads as more than that."""
    plain = (one if one.isalnum() or one in PLAIN else f"&#{ord(one)};" for one in text)
    return "".join(plain)


def text(template: str, **values: Any) -> str:
    """A filled template.

    Args:
        template: A file of `templates/`.
        values: What it shows.
    """
    return visible(_environment().get_template(template).render(**values))
