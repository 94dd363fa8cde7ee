"""The cards as one HTML file: no script, no network, every text escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import texts
from selfpref.card.words import Card, parts


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
    return texts.visible(page.render(**found.numbers, **parts(found.numbers)))
