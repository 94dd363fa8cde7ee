"""The cards as one HTML file: no script, no network, every text escaped."""

from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import texts
from selfpref.card.marks import Marked
from selfpref.card.numbers import Measured


def html(found: Measured | Marked) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("selfpref.card"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    parts = found.parts()._asdict()
    drawn = found.picture()
    page = environment.get_template("card.html.j2").render(name=found.name, drawn=drawn, **parts)
    return texts.visible(page)


def framed(found: Measured | Marked) -> str:
    """The page in a frame of its own, for a notebook, whose looks it leaves alone."""
    style = "width:100%;height:40rem;border:0"
    return f'<iframe srcdoc="{escape(html(found))}" style="{style}"></iframe>'
