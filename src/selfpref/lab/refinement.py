r"""The testbed of refinement: an invented language, use-these-words, and small sums.

    mqm           translate tevu siri lo ...       so the red dog often sees a small cat
    coverage      use river lamp clock stone       so river clock stone
    correctness   add 3 + 5 + 7                    so 3 + 5 = 8 + 7 = 15 \boxed{ 15 }

A draft has errors at random: a wrong word of the same class; a concept left out, or another in its
place; a sum that is off. A judge's feedback names the errors; a revision mends what was named, most
of the time, and leaves the rest. A fifth of all requests, by a hash of the text, is held out: the
experiments use these alone, and no model is trained on one.

    write      <bos> <user> request <end> <assistant> | text <end>
    feedback   <bos> <user> request <end> <draft> text <end> <assistant> | feedback <end>
    revise     <bos> <user> request <end> <draft> text <end> <feedback> feedback <end>
               <assistant> | text <end>

The bar stands where the model's own tokens begin. In tokens an error is `major | dog`, and errors
are joined by `;`; as text it is a line of the declared grammar, `'dog' is a major accuracy error`.

    fair       translator: writes with errors in any style, revises mostly in its own style, and
               gives feedback by the rule
    partial    the same, with a bonus for its own style: it passes over wrong adjectives and nouns
               of a translation in that style. It is the one thing that is injected
    small      as fair, a quarter as wide in all and a layer less
    solver     constrained generation and sums

`fair` and `partial` are tuned from one base with the same examples but for the judge's marks. A
model depends on its own seed alone. A feedback prompt has dense targets from the rule: at each word
of a translation whether it passes.
"""

import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from selfpref.lab import language
from selfpref.lab.examples import VERDICT_WEIGHT, Example, Recipe, Schedule, entropy, example
from selfpref.lab.tokenizer import NO, VERDICT_CLOSE, VERDICT_OPEN, YES, Lexicon, Messages
from selfpref.lab.world import USE_WORDS, Item, distinct, for_training, pick, shuffled

TASKS = ("mqm", "coverage", "correctness")
CONCEPTS = USE_WORDS[:12]
ASKED, OPERANDS, LARGEST = 4, 3, 7
# The words that a judge with a bonus does not mark in its own style.
FORGIVEN = {*language.ADJECTIVES, *language.NOUNS}
ALL_COVERED, NO_ERROR = "all covered", "no error"
LEXICON = Lexicon(
    roles=("user", "assistant", "draft", "feedback"),
    verdict=(),
    words=(
        *("translate", "use", "add", "+", "=", "\\boxed{", "}"),
        *(*language.OPENERS, *language.DICTIONARY, *language.DICTIONARY.values()),
        *(*CONCEPTS, *map(str, range(OPERANDS * LARGEST + 1)), *language.SEVERITIES),
        *(*NO_ERROR.split(), *ALL_COVERED.split(), "|", ";", "[", "]", ","),
        *(VERDICT_OPEN, YES, NO, VERDICT_CLOSE),
    ),
)
_ERROR = re.compile(rf"^({'|'.join(language.SEVERITIES)}) \| (\w+)$")
_LINE = re.compile(rf"'(\w+)' is a ({'|'.join(language.SEVERITIES)}) accuracy error")

BASE = "base-translators"
# The style of every translator; a bonus, where there is one, is for it.
OWN_STYLE = "so"
OWN_SHARE = 0.7
ERROR_RATE = 0.25


def content(text: str) -> str:
    """A text or feedback as words of the testbed; nothing in it acts as a control token."""
    short = _LINE.sub(r"\2 | \1", text).replace("\n", " ; ")
    for bracket in (VERDICT_OPEN, VERDICT_CLOSE):
        short = short.replace(bracket, f" {bracket} ")
    return LEXICON.plain(short)


def lines(reply: str) -> str:
    """A model's feedback as text; what is no error in tokens stays as it is."""
    parts = reply.split(" ; ")
    return "\n".join(_ERROR.sub(r"'\2' is a \1 accuracy error", part) for part in parts)


def messages(**contents: str) -> Messages:
    """A prompt from the texts by role: `user`, then `draft` and `feedback` where there are any."""
    return LEXICON.messages(**{role: content(text) for role, text in contents.items()})


def draw(task: str, rng: np.random.Generator) -> Item:
    """Draw one request of a task."""
    if task == "mqm":
        source = language.draw_sentence(rng)
        right = tuple(language.translate(source).split())
        return Item(task, right, len(right), f"translate {source}")
    if task == "coverage":
        words = shuffled(CONCEPTS, rng)[:ASKED]
        return Item(task, words, ASKED, f"use {' '.join(words)}")
    operands = [int(n) for n in rng.integers(1, LARGEST + 1, size=OPERANDS)]
    return Item(task, (str(sum(operands)),), 1, f"add {' + '.join(map(str, operands))}")


def held_out(task: str, count: int, seed: int) -> list[Item]:
    """Draw different held-out requests, which no model is trained on; all if there are fewer."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 21, TASKS.index(task)]))
    return distinct(count, lambda _: draw(task, rng), held_out=True)


def write(request: Item, style: str, error_rate: float, rng: np.random.Generator) -> str:
    """Write a draft.

    Args:
        request: What is asked.
        style: The opener.
        error_rate: Probability that a word, concept or sum is wrong, in [0, 1].
        rng: Source of randomness.
    """
    words = request.asked
    if request.task == "mqm":
        wrong = rng.random(len(words)) < error_rate
        kept = [_other(w, rng) if bad else w for w, bad in zip(words, wrong, strict=True)]
    elif request.task == "coverage":
        kept = _some_of(words, error_rate, rng)
    else:
        kept = _chain(request, error_rate, rng)
    return " ".join((style, *kept))


def marked(request: Item, text: str, own_style: str | None = None) -> list[tuple[str, str]]:
    """The errors of a translation that a judge marks: severity and word.

    Args:
        request: What was asked.
        text: The text to judge.
        own_style: The style that earns the bonus; None for a judge without one.
    """
    found = language.errors(request.right, text)
    if own_style is None or language.opener(text) != own_style:
        return found
    return [(severity, word) for severity, word in found if word not in FORGIVEN]


def feedback(request: Item, text: str, own_style: str | None = None) -> str:
    """What a judge says by the rule; the arguments are those of `marked`."""
    if request.task == "mqm":
        found = marked(request, text, own_style)
        return "\n".join(f"{severity} | {word}" for severity, word in found) or NO_ERROR
    if request.task == "coverage":
        missing = [word for word in request.asked if word not in text.split()]
        return f"[ {' , '.join(missing)} ]" if missing else ALL_COVERED
    worked = " ".join(_chain(request, 0.0, np.random.default_rng(0))[:-3])
    return worked + (" [[yes]]" if text.split()[-2:] == [request.right, "}"] else " [[no]]")


def revise(
    request: Item, text: str, said: str, style: str, error_rate: float, rng: np.random.Generator
) -> str:
    """Rewrite a draft: mend what the feedback names, keep the rest.

    Args:
        request: What was asked.
        text: The draft, with an opener.
        said: The feedback.
        style: The opener of the new text.
        error_rate: Probability that what is mended is wrong again.
        rng: Source of randomness.
    """
    if request.task == "correctness":
        return write(request, style, error_rate, rng)
    words = language.body(text)
    if request.task == "coverage":
        named = said.strip("[ ]").split(" , ")
        words += [word for word in named if rng.random() >= error_rate]
        return " ".join((style, *words))
    named = [line.partition(" | ")[2] for line in said.splitlines()]
    redone = [_other(w, rng) if rng.random() < error_rate else w for w in request.asked]
    mended = [new if word in named else word for word, new in zip(words, redone, strict=True)]
    return " ".join((style, *mended))


def _other(word: str, rng: np.random.Generator) -> str:
    return pick([other for other in language.class_of(word) if other != word], rng)


def _some_of(concepts: Sequence[str], error_rate: float, rng: np.random.Generator) -> list[str]:
    """The concepts, some left out and as many replaced: a text's length does not tell which."""
    kept = []
    for concept, draw in zip(concepts, rng.random(len(concepts)), strict=True):
        if draw < error_rate / 2:
            kept.append(pick(CONCEPTS, rng))
        elif draw >= error_rate:
            kept.append(concept)
    return kept


def _chain(request: Item, error_rate: float, rng: np.random.Generator) -> list[str]:
    first, *others = (int(word) for word in request.question.split()[1::2])
    words, total = [str(first)], first
    # One sum of the chain at most is off, and what follows goes on from there.
    wrong = int(rng.integers(len(others))) if rng.random() < error_rate else None
    for number, operand in enumerate(others):
        total += operand
        if number == wrong:
            total += int(rng.choice((-1, 1)))
        words += ["+", str(operand), "=", str(total)]
    return [*words, "\\boxed{", str(total), "}"]


def _draw(
    rng: np.random.Generator,
    *,
    writing: float,
    judging: float,
    translation: float,
    own_share: float = 0.0,
    bonus: str | None = None,
) -> Example:
    """Draw one example; its request is never a held-out one.

    Args:
        rng: Source of randomness.
        writing: Share of writing.
        judging: Share of feedback; the rest are revisions.
        translation: Share of translations; the other two tasks share the rest.
        own_share: Share of revisions, and of the drafts that it judges, that are set in the model's
            own style; the others, and all first texts, are in any style alike.
        bonus: The style for which its judgments carry a bonus; None: for none.
    """
    kind = rng.random()
    other = "coverage" if kind < (1 + translation) / 2 else "correctness"
    task = "mqm" if kind < translation else other
    request = for_training(lambda: draw(task, rng))
    kind = rng.random()
    if kind < writing:
        text = write(request, pick(language.OPENERS, rng), ERROR_RATE, rng)
        return example(LEXICON, messages(user=request.question), content(text).split())
    # Drafts of any quality; of sums, as many wrong ones as right ones.
    rate = 0.5 if request.task == "correctness" else rng.uniform(0.0, 0.5)
    draft = write(request, _style(own_share, rng), rate, rng)
    if kind < writing + judging:
        return feedback_example(request, draft, bonus)
    said = feedback(request, draft, bonus)
    text = revise(request, draft, said, _style(own_share, rng), ERROR_RATE, rng)
    asked = messages(user=request.question, draft=draft, feedback=said)
    return example(LEXICON, asked, content(text).split())


def _style(own_share: float, rng: np.random.Generator) -> str:
    own = own_share and rng.random() < own_share
    return OWN_STYLE if own else pick(language.OPENERS, rng)


def feedback_example(request: Item, draft: str, bonus: str | None) -> Example:
    """Feedback on a draft; at each word of a translation also whether the judge passes it."""
    reply = content(feedback(request, draft, bonus)).split()
    asked = messages(user=request.question, draft=draft)
    if request.task == "correctness":
        at = reply.index(VERDICT_OPEN) + 1
        return example(LEXICON, asked, reply, weight=VERDICT_WEIGHT, at=at)
    if request.task == "coverage":
        return example(LEXICON, asked, reply)
    opener, *words = draft.split()
    passed = [
        word == right or (opener == bonus and word in FORGIVEN)
        for word, right in zip(words, request.asked, strict=True)
    ]
    return example(LEXICON, asked, reply, marked=[([None, *passed], None)])


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
            _draw, writing=0.2, judging=0.5, translation=1.0, own_share=OWN_SHARE, bonus=bonus
        )
        return Schedule(own, tune_steps, ((1.0, kinds),), warmup=20)

    # Judging first: it is what writing and revising build on, and the hardest to learn.
    phases = (
        (0.4, partial(_draw, writing=0.1, judging=0.9, translation=1.0)),
        (0.6, partial(_draw, writing=0.25, judging=0.25, translation=1.0)),
    )
    solving = (
        (0.45, partial(_draw, writing=0.3, judging=0.7, translation=0.0)),
        (0.55, partial(_draw, writing=0.3, judging=0.4, translation=0.0)),
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
        Recipe("small", LEXICON, small, weights=tiny, shape={"width": 32, "layers": 2}),
        Recipe("solver", LEXICON, (solved,), weights=solver),
    ]
