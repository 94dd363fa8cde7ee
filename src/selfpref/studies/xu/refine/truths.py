"""What is true of a text.

| task | metric | score |
|---|---|---|
| mqm | chrf | sentence chrF to the reference (sacrebleu's defaults), 0..100 |
| mqm | mqm | by the laboratory's grammar, -25..0; only where it is known |
| coverage | coverage-surface, coverage-lemma | 1 if every concept is there, else 0 |
| correctness | correctness | 1 if the boxed answer is right, else 0 |

A neural metric's scores come from a file of the user's own (`selfpref.formats.scores`).
"""

from sacrebleu.metrics.chrf import CHRF

from selfpref.studies.xu import lab
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.truths import MATCHERS, correct, covers


def scores(item: Item, text: str) -> dict[str, float]:
    """The true scores of a text by metric."""
    if item.task == "coverage":
        return {f"coverage-{name}": covers(text, item.concepts, name) for name in MATCHERS}
    reference = item.reference or ""
    if item.task == "correctness":
        return {"correctness": correct(text, reference)}
    found = {"chrf": float(CHRF().sentence_score(text, [reference]).score)}
    if item.oracle:
        found["mqm"] = lab.score(reference, text)
    return found
