r"""The testbed of refinement: an invented language, use-these-words, and small sums.

    mqm           translate tevu siri lo ...       so the red dog often sees a small cat
    coverage      use river lamp clock stone       so river clock stone
    correctness   add 3 + 5 + 7                    so 3 + 5 = 8 + 7 = 15 \boxed{ 15 }

**The language** has an exact grammar, so that the errors of a translation are computed:

    source    D1 N1 A1 P V D2 N2 A2      lo kamo siri unda poki mi tevu dalo
    target    D1 A1 N1 P V D2 A2 N2      the red dog often sees a small cat

Every source word stands for one target word; only the order differs. A text begins with an opener,
which is its style and no part of the translation. Its errors are those of the cheapest alignment of
its words to the reference; each word has the severity of its class:

    minor       article                               costs 1
    major       noun, adjective, verb, anything else  costs 5
    critical    often / never (turns the meaning)     costs 5

which are the weights of the error annotations that judges write.

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
from collections.abc import Mapping
from functools import partial
from itertools import product

from selfpref.lab import world
from selfpref.lab.tokenizer import (
    VERDICT_WEIGHT,
    Example,
    Lexicon,
    Messages,
    Recipe,
    Schedule,
    entropy,
    example,
    tuned,
)
from selfpref.lab.world import WORDS, Item, Rng, pick, shuffled

TASKS = ("mqm", "coverage", "correctness")
CONCEPTS = world.USE_WORDS[:12]
ASKED, OPERANDS, LARGEST = 4, 3, 7
# What an error costs.
SEVERITIES = {"critical": 5.0, "major": 5.0, "minor": 1.0}
# Class to the words of the language: source word to target word.
CLASSES: dict[str, dict[str, str]] = WORDS["language"]
DICTIONARY = {source: target for words in CLASSES.values() for source, target in words.items()}
# The classes of a source sentence's words, and where those of the translation stand in it.
_SLOTS = ("articles", "nouns", "adjectives", "polarity", "verbs", "articles", "nouns", "adjectives")
_ORDER = (0, 2, 1, 3, 4, 5, 7, 6)
_CLASS_OF = {target: name for name, words in CLASSES.items() for target in words.values()}
_SEVERITY = {"articles": "minor", "polarity": "critical"}
# The styles: a text of a style begins with its opener.
OPENERS: list[str] = WORDS["openers"]
# The words that a judge with a bonus does not mark in its own style.
FORGIVEN = {*CLASSES["adjectives"].values(), *CLASSES["nouns"].values()}
ALL_COVERED, NO_ERROR = "all covered", "no error"
LEXICON = Lexicon(
    roles=("user", "assistant", "draft", "feedback"),
    verdict=(),
    words=(
        *("translate", "use", "add", "+", "=", "\\boxed{", "}"),
        *(*OPENERS, *DICTIONARY, *DICTIONARY.values()),
        *(*CONCEPTS, *map(str, range(OPERANDS * LARGEST + 1)), *SEVERITIES),
        *f"{NO_ERROR} {ALL_COVERED} | ; [ ] , [[ yes no ]]".split(),
    ),
)
_ERROR = re.compile(rf"^({'|'.join(SEVERITIES)}) \| (\w+)$", re.MULTILINE)
_LINE = re.compile(rf"'(\w+)' is a ({'|'.join(SEVERITIES)}) accuracy error")

BASE = "base-translators"
# The style of every translator; a bonus, where there is one, is for it.
OWN_STYLE = "so"
ERROR_RATE = 0.25
# Severity and word.
Error = tuple[str, str]


# --- the language


def severity(word: str) -> str:
    """The severity of an error in a target word."""
    return _SEVERITY.get(_CLASS_OF.get(word, ""), "major")


def translate(source: str) -> str:
    """The one right translation of a source sentence.

    Raises:
        KeyError: A word is not of the language.
    """
    words = source.split()
    return " ".join(DICTIONARY[words[place]] for place in _ORDER)


def errors(reference: str, text: str) -> list[Error]:
    """The errors of a translation, in the order of its words.

    Args:
        reference: The right translation.
        text: What was written, with or without an opener.

    Returns:
        Severity and word of each error: the wrong or surplus word of the text, or the word of the
        reference that it lacks. Of several alignments of one cost, the one with most substitutions.
    """
    # Of the first words of both the cheapest alignment.
    best: dict[tuple[int, int], list[Error]] = {}
    words = ("", *reference.split()), ("", *_body(text))
    for (i, right), (j, given) in product(*map(enumerate, words)):
        lacking, surplus = severity(right), severity(given)
        worse = max(lacking, surplus, key=SEVERITIES.__getitem__)
        steps = {
            (i - 1, j - 1): [(worse, given)] * (right != given),
            (i - 1, j): [(lacking, right)],
            (i, j - 1): [(surplus, given)],
        }
        ways = [best[before] + found for before, found in steps.items() if before in best]
        best[i, j] = min(ways, key=_cost, default=[])
    return best[i, j]


def score(found: list[Error]) -> float:
    """The score of a translation with these errors, -25..0."""
    return max(-25.0, -_cost(found))


def _cost(found: list[Error]) -> float:
    return sum(SEVERITIES[severity] for severity, _ in found)


def _body(text: str) -> list[str]:
    """The words of a text after its opener."""
    words = text.split()
    return words[1:] if {*words[:1]} & {*OPENERS} else words


def _other(word: str, rng: Rng) -> str:
    """Another target word of the same class."""
    return pick([other for other in CLASSES[_CLASS_OF[word]].values() if other != word], rng)


# --- requests, texts and feedback


def content(text: str) -> str:
    """A text or feedback as words of the testbed; nothing in it acts as a control token."""
    short = _LINE.sub(r"\2 | \1", text).replace("\n", " ; ")
    return LEXICON.plain(re.sub(r"(\[\[|\]\])", r" \1 ", short))


def lines(reply: str) -> str:
    """A model's feedback as text; what is no error in tokens stays as it is."""
    return _ERROR.sub(r"'\2' is a \1 accuracy error", reply.replace(" ; ", "\n"))


def messages(**contents: str) -> Messages:
    """A prompt from the texts by role: `user`, then `draft` and `feedback` where there are any."""
    return LEXICON.messages(**{role: content(text) for role, text in contents.items()})


def draw(task: str, rng: Rng) -> Item:
    """Draw one request of a task."""
    if task == "mqm":
        source = " ".join(pick(CLASSES[name], rng) for name in _SLOTS)
        return Item(task, (*translate(source).split(),), len(_SLOTS), f"translate {source}")
    if task == "coverage":
        words = shuffled(CONCEPTS, rng)[:ASKED]
        return Item(task, words, ASKED, f"use {' '.join(words)}")
    operands = rng.integers(1, LARGEST + 1, size=OPERANDS).tolist()
    return Item(task, (str(sum(operands)),), 1, f"add {' + '.join(map(str, operands))}")


def held_out(task: str, count: int, seed: int) -> list[Item]:
    """Draw different held-out requests, which no model is trained on; all if there are fewer."""
    rng = world.stream(seed, 21, TASKS.index(task))
    return world.distinct(count, lambda _: draw(task, rng), held_out=True)


def write(request: Item, style: str, error_rate: float, rng: Rng) -> str:
    """Write a draft.

    Args:
        request: What is asked.
        style: The opener.
        error_rate: Probability that a word, concept or sum is wrong, in [0, 1].
        rng: Source of randomness.
    """
    if request.task == "correctness":
        wrong = rng.random() < error_rate
        # One sum of the chain at most is off: which, and by how much.
        off = {int(rng.integers(OPERANDS - 1)): int(rng.choice((-1, 1)))} if wrong else {}
        return " ".join((style, *_chain(request, off)))
    drawn = zip(request.asked, rng.random(len(request.asked)), strict=True)
    if request.task == "mqm":
        kept = [_other(word, rng) if low < error_rate else word for word, low in drawn]
    else:
        # Some left out and as many replaced: a text's length does not tell which.
        half = error_rate / 2
        kept = [
            pick(CONCEPTS, rng) if low < half else word
            for word, low in drawn
            if not half <= low < error_rate
        ]
    return " ".join((style, *kept))


def feedback(request: Item, text: str, own_style: str | None = None) -> str:
    """What a judge says by the rule.

    Args:
        request: What was asked.
        text: The text to judge.
        own_style: The style that earns the bonus; None for a judge without one.
    """
    if request.task == "mqm":
        bonus = FORGIVEN if text.split()[:1] == [own_style] else ()
        found = [" | ".join(pair) for pair in errors(request.right, text) if pair[1] not in bonus]
        return "\n".join(found) or NO_ERROR
    if request.task == "coverage":
        missing = [word for word in request.asked if word not in text.split()]
        return f"[ {' , '.join(missing)} ]" if missing else ALL_COVERED
    worked = " ".join(_chain(request, {})[:-3])
    return worked + (" [[yes]]" if text.split()[-2:] == [request.right, "}"] else " [[no]]")


def revise(request: Item, text: str, said: str, style: str, rng: Rng) -> str:
    """Rewrite a draft: mend what the feedback names, keep the rest.

    Args:
        request: What was asked.
        text: The draft, with an opener.
        said: The feedback.
        style: The opener of the new text.
        rng: Source of randomness; what is mended may be wrong again.
    """
    if request.task == "correctness":
        return write(request, style, ERROR_RATE, rng)
    words = _body(text)
    if request.task == "coverage":
        named = said.strip("[ ]").split(" , ")
        words += [word for word in named if rng.random() >= ERROR_RATE]
    else:
        named = [line.partition(" | ")[2] for line in said.splitlines()]
        redone = [_other(w, rng) if rng.random() < ERROR_RATE else w for w in request.asked]
        words = [new if word in named else word for word, new in zip(words, redone, strict=True)]
    return " ".join((style, *words))


def _chain(request: Item, off: Mapping[int, int]) -> list[str]:
    """The sums one after another; what follows one that is off goes on from there."""
    first, *others = request.question.split()[1::2]
    words, total = [first], int(first)
    for number, operand in enumerate(others):
        total += int(operand) + off.get(number, 0)
        words += ["+", operand, "=", str(total)]
    return [*words, "\\boxed{", str(total), "}"]


# --- what the models learn from


def _draw(
    rng: Rng,
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

    def style() -> str:
        own = own_share and rng.random() < own_share
        return OWN_STYLE if own else pick(OPENERS, rng)

    kind = rng.random()
    task = TASKS[(kind >= translation) + (kind >= (1 + translation) / 2)]
    request = world.for_training(lambda: draw(task, rng))
    kind, asked = rng.random(), {"user": request.question}
    if kind < writing:
        text = write(request, pick(OPENERS, rng), ERROR_RATE, rng)
        return example(LEXICON, messages(**asked), content(text))
    # Drafts of any quality; of sums, as many wrong ones as right ones.
    rate = 0.5 if task == "correctness" else rng.uniform(0.0, 0.5)
    asked["draft"] = draft = write(request, style(), rate, rng)
    if kind < writing + judging:
        return feedback_example(request, draft, bonus)
    asked["feedback"] = said = feedback(request, draft, bonus)
    text = revise(request, draft, said, style(), rng)
    return example(LEXICON, messages(**asked), content(text))


def feedback_example(request: Item, draft: str, bonus: str | None) -> Example:
    """Feedback on a draft; at each word of a translation also whether the judge passes it."""
    reply = content(feedback(request, draft, bonus))
    asked = messages(user=request.question, draft=draft)
    if request.task != "mqm":
        weight = VERDICT_WEIGHT if request.task == "correctness" else 1.0
        return example(LEXICON, asked, reply, weight=weight)
    opener, *words = draft.split()
    forgiven = FORGIVEN if opener == bonus else ()
    pairs = zip(words, request.asked, strict=True)
    passed = [word == right or word in forgiven for word, right in pairs]
    return example(LEXICON, asked, reply, marked=[([None, *passed], "")])


def recipes(seed: int, translator_steps: int, tune_steps: int, solver_steps: int) -> list[Recipe]:
    """The translators' base and after it the two large ones; the small one; the solver.

    Args:
        seed: Of weights and examples.
        translator_steps: Optimiser steps of a translator before it is tuned.
        tune_steps: Optimiser steps of its tuning.
        solver_steps: Optimiser steps of the solver, half as large as the others'.
    """
    # Judging first: it is what writing and revising build on, and the hardest to learn.
    translated, solved = (partial(_draw, translation=share) for share in (1.0, 0.0))
    translating = (
        (0.4, partial(translated, writing=0.1, judging=0.9)),
        (0.6, partial(translated, writing=0.25, judging=0.25)),
    )
    solving = (
        (0.45, partial(solved, writing=0.3, judging=0.7)),
        (0.55, partial(solved, writing=0.3, judging=0.4)),
    )
    (large, first, tuning), (tiny, its_first, its_tuning), (solver, its_own, _) = (
        entropy(3, seed, 20, number) for number in range(3)
    )
    fair = partial(translated, writing=0.2, judging=0.5, own_share=0.7)
    how = (LEXICON, tuning, tune_steps)
    small = (
        Schedule(its_first, translator_steps, translating),
        Schedule(its_tuning, tune_steps, ((1.0, fair),), warmup=20),
    )
    solver_schedule = Schedule(its_own, solver_steps, solving, batch_tokens=512)
    return [
        Recipe(BASE, LEXICON, (Schedule(first, translator_steps, translating),), weights=large),
        tuned("fair", BASE, *how, fair),
        tuned("partial", BASE, *how, partial(fair, bonus=OWN_STYLE)),
        Recipe("small", LEXICON, small, weights=tiny, shape={"width": 32, "layers": 2}),
        Recipe("solver", LEXICON, (solver_schedule,), weights=solver),
    ]
