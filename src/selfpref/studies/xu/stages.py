"""The study's stage that asks models: requests are written, judged and refined, by any engine.

    t = 0         y = write(x)            f = judge(x, y)
    t -> t + 1    if f calls y flawless, or says nothing usable: y and f stay
                  else r = revise(x, y, f), g = judge(x, r);
                  (y, f) becomes (r, g) if the arm's rule accepts them, and stays otherwise

Only the last text and the last feedback are seen. A revision that is empty, or whose feedback says
nothing usable, is never accepted. Every call goes through the store.

**Arms.** An arm is a judge and an accept rule:

    plain           the writer itself       accept if the score rose strictly (the paper's)
    accept-all      the writer itself       accept every revision
    accept-random   the writer itself       accept one in two, by a coin
    external        another model           accept if the score rose strictly
    noise           chance                  accept if the score rose strictly

Arms share their draws: the same text of the same item is revised, and judged by the same judge,
with the same seed at the same step in every arm. What differs between arms is what the rule did:
when a revision takes the place of the text that it revises.

**Chance** is the null of the paper's accept rule: a judge whose scores are distributed like the
model's and say nothing of the text.

**Self-consistency** judges mathematics. A writer solves each problem n times. The current answer is
that of the first sample; round r calls it correct if it equals the majority of the first k_r
samples, then puts that majority in its place.

    step r    text: the current answer before round r    score: 1 if it is the majority, else 0

Samples without an answer do not vote; without any vote the rating is unparsable and the answer
stays. Of equally frequent answers the one that came first wins. Each round counts for itself: in
the release of Xu et al. its differences ran on from round to round, and two missing answers agreed.

**How it stands in the tables.** The arm is the condition in front of the item, as in the recorded
release: `lab-en/12` is the plain arm, `accept-all/lab-en/12` the other. Responses and truths need
no further column. The ratings that drove an arm have that arm as their `variant`; so *own* ratings
are those whose variant is the item's condition (`plain` where it has none). Every text that an arm
kept is also read afresh by its writer and by the external judge: variant `rescored`. Eq. 1 compares
the *expected* score of a text with the true one. The fresh draw estimates it; the score that drove
an arm was selected by its height.

    best-of-4/lab-en/12         step 0, samples 0..3: the candidates; step 1: the first with the
                                greatest standing. Their ratings are `plain`.
    self-consistency/math/3     step r: the current answer before round r

The items table holds the items without conditions; `items.under_conditions` adds them.

**What is true of a text.**

| task | metric | score |
|---|---|---|
| mqm | chrf-mqm | sentence chrF to the reference on the scale of MQM, -25..0; of a language |
| mqm | mqm | by the testbed's grammar, -25..0; of its invented language |
| coverage | coverage-surface, coverage-lemma | 1 if every concept is there, else 0 |
| correctness | correctness | 1 if the boxed answer is right, else 0 |

A neural metric's scores come from a file of the user's own (`selfpref.formats.datasets`).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.models import Generate, Text
from selfpref.models import calls as models
from selfpref.models.calls import Model
from selfpref.params import Params, Refine
from selfpref.seeds import seed_of
from selfpref.studies.xu import STUDY, lab, prompts
from selfpref.studies.xu.feedback import SEVERITIES, VERDICTS, Feedback, read, read_generation
from selfpref.studies.xu.items import (
    BEST,
    MATCHERS,
    RESCORED,
    Item,
    Task,
    answer_of,
    chrf_mqm,
    correct,
    covers,
    from_table,
)

LAYOUTS = {"lab": lab.LAB, "authors": prompts.AUTHORS, "plain": prompts.PLAIN}
PLAIN: Final = "plain"
UNREAD: Final = Feedback("unparsable")


@dataclass(frozen=True)
class State:
    """A text that a condition holds at a step, and what was said of it.

    Attributes:
        item: The item, without its condition.
        condition: The arm, or how else the text came about.
        step: From 0.
        text: The text.
        sample: Among the candidates of one step.
        said: What the condition's judge said of it, once it was asked.
        judge: That judge.
    """

    item: Item
    condition: str
    step: int
    text: Text
    sample: int = 0
    said: Feedback = UNREAD
    judge: str = ""

    @property
    def written(self) -> bool:
        """Whether there is a text, whole or cut off at its limit."""
        return self.text.status in ("ok", "cut")

    @property
    def best(self) -> bool:
        """Whether it is one of several candidates (step 0), or the best of them."""
        return self.condition.startswith(BEST)

    @property
    def occasion(self) -> str:
        """Which reading of a text this is: that of a candidate, or at a step."""
        return f"candidate {self.sample}" if self.best else str(self.step)

    @property
    def place(self) -> dict[str, object]:
        """The text's name in the tables; the plain arm has no condition in front."""
        front = "" if self.condition == PLAIN else f"{self.condition}/"
        return {"item_id": front + self.item.item_id, "step": self.step}


@dataclass(frozen=True)
class Participant:
    """A model behind the store that writes, revises, and gives feedback in words.

    Of a verdict on correctness it also tells the probabilities of yes and no, where its engine
    knows them.

    Attributes:
        name: The responder and judge in the tables.
        model: The model.
        prompts: Its prompts, the same at every step.
        use: What is done, and with which limits and temperature.
        seed: Of every draw.
    """

    name: str
    model: Model
    prompts: prompts.Refinement
    use: Refine
    seed: int

    def write(self, items: Sequence[Item], condition: str, samples: int = 1) -> list[State]:
        """First texts of each item, `samples` draws."""
        drawn = list(product(items, range(samples)))
        made = zip(drawn, self._texts("write", drawn), strict=True)
        return [State(item, condition, 0, text, sample) for (item, sample), text in made]

    def revise(self, states: Sequence[State], step: int) -> list[State]:
        """A better text for each, given what was said of it."""
        asked = [(one.item, step, one.text.text, one.said.reply or "") for one in states]
        made = zip(states, self._texts("revise", asked), strict=True)
        return [replace(one, step=step, text=text) for one, text in made]

    def _texts(self, kind: str, asked: Sequence[tuple[Any, ...]]) -> list[Text]:
        """From item, number of the draw, and what the prompt shows besides."""
        calls = []
        for item, number, *shown in asked:
            seed = seed_of(self.seed, self.name, item.item_id, kind, number)
            prompt = self.prompts.ask(kind, item, *shown)
            calls.append(Generate(prompt, self.use.max_tokens, self.use.temperature, seed))
        return [Text(one.text.strip(), one.status) for one in self.model.ask(calls)]

    def rate(self, states: Sequence[State], occasion: str = "") -> list[State]:
        """Each text with feedback on it; equal texts on one occasion are one call.

        Args:
            states: The texts.
            occasion: Which reading of them this is, if it is not that of their own place; with
                judge and item that is the seed.
        """
        calls = []
        for one in states:
            # Only a verdict has a marker to read probabilities after.
            marker = self.prompts.marker if one.item.task == "correctness" else ""
            labels = VERDICTS if marker else ()
            prompt = self.prompts.ask("feedback", one.item, one.text.text)
            names = self.name, one.item.item_id, "feedback", occasion or one.occasion
            limits = self.use.feedback_tokens, self.use.temperature
            calls.append(Generate(prompt, *limits, seed_of(self.seed, *names), marker, labels))
        found = []
        for one, made in zip(states, self.model.ask(calls), strict=True):
            said = read_generation(one.item.task, made, self.prompts.reply(made.text))
            found.append(replace(one, said=said, judge=self.name))
        return found


@dataclass(frozen=True)
class NoiseJudge:
    """Feedback that says nothing about the text: the null of the paper's accept rule.

    How many errors of which severity it names is what a model said of another item's first text,
    drawn at random; which words it calls wrong is drawn from the text at hand. So its scores are
    distributed like that model's, and independent of quality.

    Attributes:
        pool: By task the model's usable readings of first texts.
        seed: Of all draws.
    """

    pool: Mapping[Task, Sequence[Feedback]]
    seed: int
    name: str = "noise"

    def rate(self, states: Sequence[State]) -> list[State]:
        """Each text with feedback on it."""
        return [replace(one, said=self._said(one), judge=self.name) for one in states]

    def _said(self, state: State) -> Feedback:
        item = state.item
        rng = np.random.default_rng(seed_of(self.seed, self.name, item.item_id, state.occasion))
        if not (pool := self.pool.get(item.task)):
            return UNREAD
        drawn = pool[int(rng.integers(len(pool)))]
        if item.task == "correctness":
            return read(item.task, "[[no]]" if drawn.standing else "[[yes]]")
        marks = np.array(drawn.marks, dtype=int)
        if item.task == "coverage":
            missing = ", ".join(rng.permutation(item.concepts)[: marks[0]])
            return read(item.task, f"[{missing}]" if missing else "all covered")
        lines = [
            f"'{rng.choice(state.text.text.split() or [''])}' is a {severity} accuracy error"
            for severity in np.repeat([*SEVERITIES], marks)
        ]
        return read(item.task, "\n".join(lines) or "no error")


Judge = Participant | NoiseJudge


def accepts(arm: str, old: Feedback, new: Feedback, draw: float) -> bool:
    """Whether an arm accepts a revision; never if its feedback says nothing usable.

    Args:
        arm: `accept-all` accepts every revision, `accept-random` one in two, and any other arm, by
            the paper's rule, one with a strictly higher score.
        old: Of the text.
        new: Of the revision.
        draw: Uniform in [0, 1).
    """
    if old.standing is None or new.standing is None:
        return False
    coins = {"accept-all": True, "accept-random": draw < 0.5}
    return coins.get(arm, new.standing > old.standing)


def refined(
    firsts: Sequence[State], writer: Participant, judges: Mapping[str, Judge]
) -> list[State]:
    """Refine every item in every arm, all in step: one batch of calls a step and judge.

    Args:
        firsts: The first text of each item.
        writer: Who revises, and how often.
        judges: The judge of each arm.

    Returns:
        Every item, arm and step, from 0.
    """
    now = _judged([replace(one, condition=arm) for arm in judges for one in firsts], judges)
    history = list(now)
    for step in range(1, writer.use.steps + 1):
        # There is nothing to mend where a standing is 0, or none.
        revised = writer.revise([one for one in now if one.said.standing], step)
        # An empty revision is no text; there is nothing to judge.
        made = _judged([one for one in revised if one.written and one.text.text], judges)
        offers = {(one.item, one.condition): one for one in made}
        for place, old in enumerate(now):
            now[place] = replace(old, step=step)
            if new := offers.get((old.item, old.condition)):
                coin = np.random.default_rng(seed_of(writer.seed, old.item.item_id, "coin", step))
                if accepts(old.condition, old.said, new.said, float(coin.random())):
                    now[place] = new
        history += now
    return history


def _judged(states: Sequence[State], judges: Mapping[str, Judge]) -> list[State]:
    """Each text with the feedback of its arm's judge; one batch a judge."""
    found = []
    for name, judge in {judge.name: judge for judge in judges.values()}.items():
        found += judge.rate([one for one in states if judges[one.condition].name == name])
    return found


def best_of(items: Sequence[Item], writer: Participant) -> list[State]:
    """Of the first k candidates, the first with the greatest standing; step 1 holds it."""
    found = []
    sizes = writer.use.best_of
    drawn = writer.rate([one for one in writer.write(items, BEST, max(sizes)) if one.written])
    for size, item in product(sizes, items):
        own = [one for one in drawn if one.item is item and one.sample < size]
        own = [replace(one, condition=f"{BEST}{size}") for one in own]
        found += own
        if usable := [one for one in own if one.said.standing is not None]:
            # Of equals the first.
            best = max(usable, key=lambda one: one.said.standing or 0.0)
            found.append(replace(best, step=1, sample=0))
    return found


def votes(items: Sequence[Item], writer: Participant) -> list[State]:
    """Self-consistency: the majority of samples as the judge of the current answer."""
    found = []
    drawn = writer.write(items, "self-consistency", max(writer.use.rounds))
    for item in items:
        current = 0
        samples = [one for one in drawn if one.item is item and one.written]
        answers = [answer_of(one.text.text) for one in samples]
        for step, count in enumerate(writer.use.rounds):
            cast = [answer for answer in answers[:count] if answer is not None]
            # Of equally frequent answers the one that came first.
            winner = max(cast, key=cast.count, default=None)
            said = Feedback("ok", float(answers[current] == winner)) if cast else UNREAD
            vote = replace(samples[current], step=step, sample=0, said=said, judge=writer.name)
            found.append(vote)
            # Without any vote that is the first, as before.
            current = answers.index(winner)
    return found


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
    firsts = writer.write(items, PLAIN)
    missing = Counter(one.text.status for one in firsts if not one.written)
    firsts = [one for one in firsts if one.written]
    asked = [one.item for one in firsts]
    # The store answers the same questions again when the arms ask them.
    pool = defaultdict[Task, list[Feedback]](list)
    for one in writer.rate(firsts):
        pool[one.item.task] += [one.said] * (one.said.status == "ok")
    judges: dict[str, Judge] = {"noise": NoiseJudge(pool, writer.seed)}
    judges |= dict.fromkeys((PLAIN, "accept-all", "accept-random"), writer)
    judges |= dict(zip(["external"], others, strict=False))
    held = refined(firsts, writer, {arm: judges[arm] for arm in (PLAIN, *writer.use.arms)})
    if writer.use.best_of:
        held += best_of(asked, writer)
    if writer.use.rounds:
        held += votes([item for item in asked if item.task == "correctness"], writer)
    # Candidates at step 0 were only looked at.
    kept = [one for one in held if one.step or not one.best]
    ratings = [_rating(one, PLAIN if one.best else one.condition) for one in held]
    for judge in (writer, *others):
        ratings += [_rating(one, RESCORED) for one in judge.rate(kept, "afresh")]
    found = {
        "responses": [
            {
                **one.place,
                "sample": one.sample,
                "text": one.text.text,
                "status": "truncated" if one.text.status == "cut" else "ok",
            }
            for one in held
        ],
        "ratings": ratings,
        "truths": [
            {**one.place, "metric": metric, "score": score}
            for one in kept
            for metric, score in truths_of(one.item, one.text.text).items()
        ],
    }
    made = {
        name: tables.fill(rows, name, study=STUDY.name, responder=writer.name)
        for name, rows in found.items()
    }
    return made | {"dropped": pd.DataFrame([missing], index=[""]).astype(int)}


def _rating(one: State, variant: str) -> dict[str, object]:
    """The reading of a text."""
    said = one.said
    choice = said.choice
    return {
        **one.place,
        "sample": one.sample,
        "judge": one.judge,
        "task": one.item.task,
        "variant": variant,
        "score": said.score,
        "marks": said.marks,
        "reply": said.reply,
        "status": said.status,
        "distribution": choice and [*choice.probabilities],
        "mass": choice and choice.mass,
    }


@cache
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
