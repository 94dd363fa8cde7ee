"""The cards as one HTML file: no script, no network, every text escaped."""

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from selfpref import texts
from selfpref.card import words

if TYPE_CHECKING:
    from selfpref.card.measured import Measured


def html(found: "Measured") -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("selfpref.card"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("card.html.j2").render(
        name=found.name,
        answers=list(found.answers.values()),
        first=words.first(found),
        who=words.who(found),
        cards={judge: words.blocks(found, judge) for judge in found.names.own},
        others={judge: words.others(found, judge) for judge in found.names.alone},
    )
    return texts.visible(page)
