"""What an experiment makes, in the tables that every study reads, and what is true of its texts.

| task | metric | score |
|---|---|---|
| mqm | chrf-mqm | sentence chrF to the reference on the scale of MQM, -25..0; of a language |
| mqm | mqm | by the testbed's grammar, -25..0; of its invented language |
| coverage | coverage-surface, coverage-lemma | 1 if every concept is there, else 0 |
| correctness | correctness | 1 if the boxed answer is right, else 0 |

A neural metric's scores come from a file of the user's own (`selfpref.formats.scores`).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from selfpref.models import Likelihood, Text
from selfpref.studies.xu import lab
from selfpref.studies.xu.chains import BEST
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.refine.loop import PLAIN
from selfpref.studies.xu.truths import MATCHERS, chrf, correct, covers, mqm_of_chrf
from selfpref.tables.schemas import TABLES


def truths_of(item: Item, text: str) -> dict[str, float]:
    """The true scores of a text by metric."""
    if item.task == "coverage":
        return {f"coverage-{name}": covers(text, item.concepts, name) for name in MATCHERS}
    reference = item.reference or ""
    if item.task == "correctness":
        return {"correctness": correct(text, reference)}
    if item.oracle:
        return {"mqm": lab.score(reference, text)}
    return {"chrf-mqm": float(mqm_of_chrf()(np.array(chrf(text, reference))))}


@dataclass(frozen=True)
class Kept:
    """A text that an arm held at a step.

    Attributes:
        item: The item without its condition.
        place: Its name under the condition, step and sample, as in the tables.
        text: The text.
    """

    item: Item
    place: dict[str, object]
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """The item and the text: what a reading of it, or a truth, depends on."""
        return self.item.item_id, self.text


class Rows:
    """The rows of one responder.

    Args:
        study: The study.
        responder: Who wrote the texts.
    """

    def __init__(self, study: str, responder: str) -> None:
        self._common = {"study": study, "responder": responder}
        self._rows: dict[str, list[dict[str, object]]] = {
            name: [] for name in ("responses", "ratings", "perplexities")
        }
        self.kept: list[Kept] = []

    def add(
        self,
        condition: str,
        item: Item,
        step: int,
        text: Text,
        judge: str,
        said: Feedback,
        *,
        sample: int = 0,
        variant: str = PLAIN,
    ) -> None:
        """Add a text and what was said of it; the plain arm has no condition in front."""
        item_id = item.item_id if condition == PLAIN else f"{condition}/{item.item_id}"
        one = Kept(item, {"item_id": item_id, "step": step, "sample": sample}, text.text)
        status = "ok" if text.status == "ok" else "truncated"
        self._rows["responses"].append({**one.place, "text": text.text, "status": status})
        # Candidates at step 0 were only looked at.
        if not (condition.startswith(BEST) and step == 0):
            self.kept.append(one)
        self.add_rating(one, judge, said, variant)

    def add_rating(
        self, kept: Kept, judge: str, said: Feedback, variant: str, repeat: int = 0
    ) -> None:
        """Add one more reading of a text."""
        choice = said.choice
        self._rows["ratings"].append(
            {**kept.place, "judge": judge, "task": kept.item.task, "variant": variant}
            | {"repeat": repeat}
            | {"score": said.score, "marks": said.marks, "reply": said.reply, "stored": None}
            | {"distribution": choice and list(choice.probabilities)}
            | {"mass": choice and choice.mass, "status": said.status}
        )

    def add_likelihood(self, kept: Kept, judge: str, found: Likelihood) -> None:
        """Add the log-likelihood of a kept text, given its request."""
        self._rows["perplexities"].append(
            {**kept.place, "judge": judge, "conditional": True, "sum_nll": found.sum_nll}
            | {"n_tokens": found.n_tokens, "status": found.status}
            | {"n_bytes": len(kept.text.encode())}
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """responses, ratings, truths (of the kept texts) and perplexities."""
        known = {
            one.key: truths_of(one.item, one.text) for one in {k.key: k for k in self.kept}.values()
        }
        truths = [
            {**kept.place, "metric": metric, "score": score}
            for kept in self.kept
            for metric, score in known[kept.key].items()
        ]
        return {
            name: pd.DataFrame(rows, columns=list(TABLES[name].columns)).assign(**self._common)
            for name, rows in {**self._rows, "truths": truths}.items()
        }
