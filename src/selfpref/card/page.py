"""The cards as one HTML file: no script, no network, every text escaped."""

from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import texts
from selfpref.card import words
from selfpref.card.numbers import Card


def html(found: Card) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("selfpref.card"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("card.html.j2")
    parts = words.parts(found.numbers)
    return texts.visible(page.render(**found.numbers, **parts._asdict()))


def framed(found: Card) -> str:
    """The page in a frame of its own, for a notebook, whose looks it leaves alone."""
    style = "width:100%;height:40rem;border:0"
    return f'<iframe srcdoc="{escape(html(found))}" style="{style}"></iframe>'
