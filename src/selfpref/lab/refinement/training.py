"""What the models that refine are trained on.

    fair       translator: writes with errors in any style, revises mostly in its own style, and
               gives feedback by the rule
    partial    the same, with a bonus for its own style: the injected bias
    small      as fair, a quarter as wide in all and a layer less
    solver     constrained generation and sums

`fair` and `partial` are tuned from one base with the same examples but for the judge's marks. A
model depends on its own seed alone.

A feedback prompt has dense targets from the rule: at each word of a translation whether it passes.
"""

from functools import partial
from typing import Final

import numpy as np

from selfpref.lab.examples import VERDICT_WEIGHT, Example, Recipe, Schedule, entropy, example
from selfpref.lab.refinement import language, layouts, tasks
from selfpref.lab.refinement.layouts import LEXICON, content
from selfpref.lab.tokenizer import VERDICT_OPEN
from selfpref.lab.world import Item, drawn, pick

BASE: Final = "base-translators"
OWN_STYLE: Final = "so"
"""The style of every translator; a bonus, where there is one, is for it."""
OWN_SHARE: Final = 0.7
ERROR_RATE: Final = 0.25


def draw(
    rng: np.random.Generator,
    *,
    write: float,
    feedback: float,
    translation: float,
    own_share: float = 0.0,
    bonus: str | None = None,
) -> Example:
    """Draw one example; its request is never a held-out one.

    Args:
        rng: Source of randomness.
        write: Share of writing.
        feedback: Share of feedback; the rest are revisions.
        translation: Share of translations; the other two tasks share the rest.
        own_share: Share of revisions, and of the drafts that it judges, that are set in the model's
            own style; the others, and all first texts, are in any style alike.
        bonus: The style for which its judgments carry a bonus; None: for none.
    """
    kind = rng.random()
    other = "coverage" if kind < (1 + translation) / 2 else "correctness"
    task = "mqm" if kind < translation else other
    request = drawn(lambda: tasks.draw(task, rng), held_out=False)
    kind = rng.random()
    if kind < write:
        text = tasks.write(request, pick(language.OPENERS, rng), ERROR_RATE, rng)
        return example(LEXICON, layouts.messages(user=request.question), content(text).split())
    # Drafts of any quality; of sums, as many wrong ones as right ones.
    rate = 0.5 if request.task == "correctness" else rng.uniform(0.0, 0.5)
    draft = tasks.write(request, _style(own_share, rng), rate, rng)
    if kind < write + feedback:
        return feedback_example(request, draft, bonus)
    said = tasks.feedback(request, draft, bonus)
    text = tasks.revise(request, draft, said, _style(own_share, rng), ERROR_RATE, rng)
    messages = layouts.messages(user=request.question, draft=draft, feedback=said)
    return example(LEXICON, messages, content(text).split())


def _style(own_share: float, rng: np.random.Generator) -> str:
    own = own_share and rng.random() < own_share
    return OWN_STYLE if own else pick(language.OPENERS, rng)


def feedback_example(request: Item, draft: str, bonus: str | None) -> Example:
    """Feedback on a draft; at each word of a translation also whether the judge passes it."""
    reply = content(tasks.feedback(request, draft, bonus)).split()
    messages = layouts.messages(user=request.question, draft=draft)
    if request.task == "correctness":
        at = reply.index(VERDICT_OPEN) + 1
        return example(LEXICON, messages, reply, weight=VERDICT_WEIGHT, at=at)
    if request.task == "coverage":
        return example(LEXICON, messages, reply)
    opener, *words = draft.split()
    passed = [
        word == right or (opener == bonus and word in tasks.FORGIVEN)
        for word, right in zip(words, request.asked, strict=True)
    ]
    return example(LEXICON, messages, reply, marked=[([None, *passed], None)])


def recipes(seed: int, translator_steps: int, tune_steps: int, solver_steps: int) -> list[Recipe]:
    """The translators' base and after it the two large ones; the small one; the solver.

    Args:
        seed: Of weights and examples.
        translator_steps: Optimiser steps of a translator before it is tuned.
        tune_steps: Optimiser steps of its tuning.
        solver_steps: Optimiser steps of the solver, half as large as the others'.
    """

    def tuned(own: int, bonus: str | None = None) -> Schedule:
        kinds = partial(
            draw, write=0.2, feedback=0.5, translation=1.0, own_share=OWN_SHARE, bonus=bonus
        )
        return Schedule(own, tune_steps, ((1.0, kinds),), warmup=20)

    # Judging first: it is what writing and revising build on, and the hardest to learn.
    phases = (
        (0.4, partial(draw, write=0.1, feedback=0.9, translation=1.0)),
        (0.6, partial(draw, write=0.25, feedback=0.25, translation=1.0)),
    )
    solving = (
        (0.45, partial(draw, write=0.3, feedback=0.7, translation=0.0)),
        (0.55, partial(draw, write=0.3, feedback=0.4, translation=0.0)),
    )
    (large, first, tuning), (tiny, its_first, its_tuning), (solver, its_own, _) = (
        entropy(3, seed, 20, number) for number in range(3)
    )
    base = Schedule(first, translator_steps, phases)
    small = (Schedule(its_first, translator_steps, phases), tuned(its_tuning))
    solved = Schedule(its_own, solver_steps, solving, batch_tokens=512)
    return [
        Recipe(BASE, LEXICON, (base,), weights=large),
        Recipe("fair", LEXICON, (tuned(tuning),), BASE),
        Recipe("partial", LEXICON, (tuned(tuning, OWN_STYLE),), BASE),
        Recipe("small", LEXICON, small, weights=tiny, width=32, layers=2),
        Recipe("solver", LEXICON, (solved,), weights=solver),
    ]
