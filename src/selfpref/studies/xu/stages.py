"""The study's stage that asks models: every request written, judged and refined.

**How it stands in the tables.** The arm is the condition in front of the item, as in the recorded
release: `lab-en/12` is the plain arm, `accept-all/lab-en/12` the other. Responses and truths need
no further column. The ratings that drove an arm have that arm as their `variant`; so *own* ratings
are those whose variant is the item's condition (`plain` where it has none). Every text that an arm
kept is also read afresh by its writer and by the external judge: variant `rescored`, and as
`repeat` the number of the draw. Eq. 1 compares the *expected* score of a text with the true one.
The mean of these draws estimates it; the score that drove an arm was selected by its height.

    best-of-4/lab-en/12         step 0, samples 0..3: the candidates; step 1: the first with the
                                greatest standing. Their ratings are `plain`.
    self-consistency/math/3     step r: the current answer before round r (see `refine`)

The items table holds the items without conditions; `items.under_conditions` adds them.

**What is true of a text.**

| task | metric | score |
|---|---|---|
| mqm | chrf-mqm | sentence chrF to the reference on the scale of MQM, -25..0; of a language |
| mqm | mqm | by the testbed's grammar, -25..0; of its invented language |
| coverage | coverage-surface, coverage-lemma | 1 if every concept is there, else 0 |
| correctness | correctness | 1 if the boxed answer is right, else 0 |

A neural metric's scores come from a file of the user's own (`selfpref.formats.own`).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product

import pandas as pd

from selfpref import tables
from selfpref.models import open as models
from selfpref.params import Params
from selfpref.studies.xu import STUDY, lab, prompts
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import RESCORED, Item, Task, from_table
from selfpref.studies.xu.refine import (
    ARMS,
    PLAIN,
    Judge,
    NoiseJudge,
    Participant,
    State,
    best_of,
    refined,
    votes,
    written,
)
from selfpref.studies.xu.truths import MATCHERS, chrf_mqm, correct, covers
from selfpref.tables.schemas import TABLES

LAYOUTS = {"lab": lab.LAB, "authors": prompts.AUTHORS, "plain": prompts.PLAIN}


def refine(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every request written, judged and refined by one model, in every arm.

    Args:
        params: The stage's parameters.
        model: A model of `xu.refine`.
        open_model: Opens the model, and its external judge.

    Returns:
        responses, ratings, truths, and `dropped`: how many items have no rows, by reason: the
        prompt does not fit the context (truncated), or the model refused or failed.
    """
    use = params.xu.refine[model]
    # A release holds no requests to be refined, and its texts are there already.
    asked = tables.read(params.profile, "items", STUDY.name, params.xu.requests)
    items = [item for item in from_table(asked) if item.task in use.tasks]
    with ExitStack() as stack:
        writer, *others = [
            Participant(
                models.responder(params, key),
                stack.enter_context(open_model(params, key, "", f"refine {model}: {key}")),
                LAYOUTS[use.prompts],
                use,
                params.seed,
            )
            for key in dict.fromkeys((model, use.external))
        ]
        return run(items, writer, others)


def run(
    items: Sequence[Item], writer: Participant, others: Sequence[Participant]
) -> dict[str, pd.DataFrame]:
    """Refine, choose and vote; then read every kept text afresh.

    Args:
        items: What is asked.
        writer: Who writes, revises and judges itself, as its `use` says.
        others: The external judge, or nobody: then there is neither its arm nor its readings.

    Returns:
        As `refine`.
    """
    texts = [first for (first,) in writer.write(items)]
    missing = Counter(text.status for text in texts if not written(text))
    firsts = [(item, text) for item, text in zip(items, texts, strict=True) if written(text)]
    asked = [item for item, _ in firsts]
    # The store answers the same questions again when the arms ask them.
    said = writer.rate([(item, text.text, "0") for item, text in firsts])
    pool = defaultdict[Task, list[Feedback]](list)
    for item, one in zip(asked, said, strict=True):
        pool[item.task] += [one] * (one.status == "ok")
    judges: dict[str, Judge] = {"own": writer, "noise": NoiseJudge(pool, writer.seed)}
    judges |= dict(zip(["external"], others, strict=False))
    held = refined(firsts, writer, {arm: judges[ARMS[arm]] for arm in (PLAIN, *writer.use.arms)})
    if writer.use.best_of:
        held += best_of(asked, writer)
    if writer.use.rounds:
        held += votes([item for item in asked if item.task == "correctness"], writer)
    # Candidates at step 0 were only looked at.
    kept = [one for one in held if one.step or not one.best]
    each = {one.key: one for one in kept}
    ratings = [
        _rating(one, one.said, one.judge, PLAIN if one.best else one.condition) for one in held
    ]
    for judge, repeat in product((writer, *others), range(writer.use.repeats)):
        # The first draw is that of stores from before there were more.
        occasion = f"afresh {repeat}" if repeat else "afresh"
        drafts = [(one.item, one.text.text, occasion) for one in each.values()]
        known = dict(zip(each, judge.rate(drafts), strict=True))
        ratings += [_rating(one, known[one.key], judge.name, RESCORED, repeat) for one in kept]
    true = {key: truths_of(one.item, one.text.text) for key, one in each.items()}
    statuses = {"ok": "ok", "cut": "truncated"}
    found = {
        "responses": [
            {**one.place, "text": one.text.text, "status": statuses[one.text.status]}
            for one in held
        ],
        "ratings": ratings,
        "truths": [
            {**one.place, "metric": metric, "score": score}
            for one in kept
            for metric, score in true[one.key].items()
        ],
    }
    named = {"study": STUDY.name, "responder": writer.name}
    made = {
        name: pd.DataFrame(rows, columns=[*TABLES[name].columns]).assign(**named)
        for name, rows in found.items()
    }
    return made | {"dropped": pd.DataFrame([missing], index=[""]).astype(int)}


def _rating(
    one: State, said: Feedback, judge: str, variant: str, repeat: int = 0
) -> dict[str, object]:
    """One reading of a text."""
    row = {**one.place, "judge": judge, "task": one.item.task, "variant": variant}
    row |= {"repeat": repeat, "score": said.score, "marks": said.marks, "reply": said.reply}
    if said.choice:
        row |= {"distribution": [*said.choice.probabilities], "mass": said.choice.mass}
    return {**row, "status": said.status}


def truths_of(item: Item, text: str) -> dict[str, float]:
    """The true scores of a text by metric."""
    if item.task == "coverage":
        return {f"coverage-{name}": covers(text, item.concepts, name) for name in MATCHERS}
    reference = item.reference or ""
    if item.task == "correctness":
        return {"correctness": correct(text, reference)}
    if item.oracle:
        return {"mqm": lab.score(reference, text)}
    return {"chrf-mqm": chrf_mqm(text, reference)}


STAGES = {"refine": refine}
