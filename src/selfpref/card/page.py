"""The cards as one HTML file: no script, no network, every text escaped."""

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
    page = environment.get_template("card.html.j2").render(name=found.name, **parts)
    return texts.visible(page)
