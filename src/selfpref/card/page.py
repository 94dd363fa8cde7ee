"""The cards as one HTML file: no script, no network, every text escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import texts
from selfpref.card import words
from selfpref.card.numbers import Measured


def html(found: Measured) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("selfpref.card"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    card = found.to_dict()
    page = environment.get_template("card.html.j2").render(
        name=found.name, first=words.first(card), who=words.who(card), cards=words.cards(card)
    )
    return texts.visible(page)
