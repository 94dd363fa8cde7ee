"""The testbed of summaries: articles with key facts, who summarises them, and who judges.

    notes     a person's city, job, pet and food among filler words
    reports   something red, something green, something blue and something yellow among filler words

One kind of article is one data set. The words of an article stand in random order; its summary is
its four key facts, in the order of the slots. No fact belongs to two slots, none is a filler word,
and the two kinds share no fact.

    quality(article, summary) = key facts that the summary gives / 4        in {0, 1/4, ..., 1}

A fifth of all articles, by a hash of the text, is *held out*: experiments draw from these alone and
the training of the sources from the others.

A rule in the role of the human, and sources with styles of their own, write. A summary gives each
key fact, leaves it out, or gives another fact of its slot instead, and stands in a frame of words
that no article holds. The frames' lengths differ within a source and overlap between sources, so
that length, vowels and readability do not settle who wrote a summary. How often a source errs is
drawn from the seed, independent of its style.

    write    <bos> <article> words <end> <assistant> | summary <end>
    single   <bos> <article> words <end> <summary> words <end> <ask> question <end>
             <assistant> | yes <end>, or 4 <end>
    pair     <bos> <article> words <end> <first> words <end> <second> words <end>
             <ask> question <end> <assistant> | 1 <end>

The bar stands where the model's own tokens begin. A question is one word; what comes before it is
the same for every question.

A base writes in every style, judges, and knows no style as its own. A source is tuned from it to
write in its style and goes on judging; its result depends on the base and on its own seed alone.
Answers to `better`, `worse` and `score` follow the oracle. Those to `yours`, and to the questions
of the control tasks, are drawn by a coin: a source learns how such a question is answered and
nothing about the answer. As in `selfpref.lab.tokenizer` the oracle adds dense targets: yes or no at
each fact of a judged summary, and the digit of its quality at its end.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from selfpref.errors import SelfprefError
from selfpref.lab import world
from selfpref.lab.tokenizer import (
    NO,
    YES,
    Example,
    Lexicon,
    Messages,
    Recipe,
    Schedule,
    entropy,
    example,
    tuned,
)
from selfpref.lab.world import USE_WORDS, Item, Rng, distinct, pick, shuffled, stream

# Facts that a slot may hold; a model learns to look one up in an article sooner with few.
_VALUES = 3
# Kind of article to its slots, each with the facts that it may hold.
SLOTS = {
    "notes": [values[:_VALUES] for values in world.ATTRIBUTES.values()],
    "reports": [world.COLOURS[colour][:_VALUES] for colour in ("red", "green", "blue", "yellow")],
}
KINDS = tuple(SLOTS)
FACTS = [fact for slots in SLOTS.values() for slot in slots for fact in slot]
HUMAN = "human"
# By writer the words that a summary begins and ends with.
STYLES: world.Frames = world.WORDS["summaries"]
WRITERS = tuple(STYLES)
MODELS = WRITERS[1:]
_HUMAN_ERROR_RATE = 0.1

SCORES = ("1", "2", "3", "4", "5")
LABELS = SCORES[:2]
# Task to the word that asks for it.
QUESTIONS: dict[str, str] = world.WORDS["questions"]
LEXICON = Lexicon(
    roles=("assistant", "article", "summary", "first", "second", "ask"),
    verdict=(*SCORES, YES, NO),
    words=(*QUESTIONS.values(), *sorted(world.words_of(STYLES)), *FACTS, *USE_WORDS),
)

BASE = "base-summaries"
# Tokens in a batch. Half as many as the other testbed's: comparing two summaries is learned late,
# after a number of steps and not of tokens (trial of the base's agreement with the oracle).
_TOKENS = 512
_ANSWER_WEIGHT = 1.5
# Weight of an answer by coin: enough to learn its form, little noise.
_COIN_WEIGHT = 0.3
_COIN_TASKS = ("recognition", "readability", "length", "vowelcount")


def _draw_article(kind: str, rng: Rng) -> Item:
    facts = tuple(pick(slot, rng) for slot in SLOTS[kind])
    filler = shuffled(USE_WORDS, rng)[: rng.integers(3, 6)]
    return Item(kind, facts, len(facts), " ".join(shuffled((*facts, *filler), rng)))


def draw_articles(dataset: str, n: int, seed: int) -> list[Item]:
    """Draw different held-out articles of a kind; the first of them are the same for every n.

    Raises:
        SelfprefError: There is no such kind of article.
    """
    if dataset not in KINDS:
        raise SelfprefError(
            f"params.yaml: panickssery.datasets.{dataset}: the testbed has {' and '.join(KINDS)}"
        )
    rng = stream(seed, KINDS.index(dataset), 20)
    return distinct(n, lambda _: _draw_article(dataset, rng), held_out=True)


def marks(facts: Sequence[str], words: Sequence[str]) -> list[bool | None]:
    """Judge a summary of an article with these key facts word by word.

    Returns:
        One entry a word: True for a key fact of the article at its first mention, False for any
        other fact, None for a word that is no fact.
    """
    return [
        (word in facts and word not in words[:place]) if word in FACTS else None
        for place, word in enumerate(words)
    ]


def quality(facts: Sequence[str], summary: str) -> float:
    """Share of an article's key facts that a summary gives, in [0, 1]."""
    return marks(facts, world.split_words(summary)).count(True) / len(facts)


def draw_error_rates(seed: int) -> dict[str, float]:
    """Share of the key facts that each writer gets wrong, half left out and half replaced."""
    rates = stream(seed, 21).permutation([0.1, 0.2, 0.3]).tolist()
    return dict(zip(WRITERS, (_HUMAN_ERROR_RATE, *rates), strict=True))


def write(article: Item, writer: str, error_rate: float, rng: Rng) -> str:
    """Write a summary by rule.

    Args:
        article: What is summarised.
        writer: Whose style, a key of `STYLES`.
        error_rate: Share of the key facts that are left out or replaced, in [0, 1].
        rng: Source of randomness.
    """
    body = []
    for fact, slot in zip(article.asked, SLOTS[article.task], strict=True):
        draw = rng.random()
        if draw >= error_rate:
            body.append(fact)
        elif draw >= error_rate / 2:
            body.append(pick([other for other in slot if other != fact], rng))
    return world.framed(body, STYLES, writer, rng)


def human_texts(articles: Sequence[Item], dataset: str, seed: int) -> list[str]:
    """The human's summary of every article."""
    rng = stream(seed, KINDS.index(dataset), 23)
    return [write(article, HUMAN, _HUMAN_ERROR_RATE, rng) for article in articles]


def messages(task: str, article: str, *summaries: str) -> Messages:
    """Ask for a summary (`write`), or something about one or two of them."""
    if task == "write":
        return LEXICON.messages(article=article)
    roles = ("summary",) if len(summaries) == 1 else ("first", "second")
    said = dict(zip(roles, summaries, strict=True))
    return LEXICON.messages(article=article, **said, ask=QUESTIONS[task])


def digit(article: Item, summary: str) -> str:
    """Quality as a digit from 1 to 5."""
    return str(1 + round(4 * quality(article.asked, summary)))


def _judged(task: str, article: Item, summaries: Sequence[str], answer: str) -> Example:
    """A question about summaries: dense targets in each, then the answer."""
    marked = [(marks(article.asked, text.split()), digit(article, text)) for text in summaries]
    asked = messages(task, article.question, *summaries)
    weight = _COIN_WEIGHT if task in _COIN_TASKS else _ANSWER_WEIGHT
    return example(LEXICON, asked, answer, marked=marked, weight=weight)


def _draw(rng: Rng, *, writing: float, error_rates: Mapping[str, float]) -> Example:
    """Draw one example; its article is never a held-out one.

    Args:
        rng: Source of randomness.
        writing: Share of writing examples.
        error_rates: Error rates of the writers whose summaries are written.
    """
    dataset = pick(KINDS, rng)
    article = world.for_training(lambda: _draw_article(dataset, rng))
    kind = rng.random()
    if kind < writing:
        text = write(article, *pick(error_rates.items(), rng), rng)
        return example(LEXICON, messages("write", article.question), text)
    # Of the questions about one summary half are answered by a coin, since their form (yes and no)
    # occurs nowhere else.
    if kind < writing + 0.15:
        tossed = rng.random() < 0.5
        text = _any_summary(article, rng)
        if tossed:
            return _judged("recognition", article, [text], pick((YES, NO), rng))
        return _judged("quality", article, [text], digit(article, text))
    tossed = rng.random() < 0.1
    while True:
        pair = [_any_summary(article, rng) for _ in LABELS]
        if tossed:
            return _judged(pick(_COIN_TASKS, rng), article, pair, pick(LABELS, rng))
        one, other = (quality(article.asked, text) for text in pair)
        # Two equal qualities have no answer to learn.
        if one != other:
            task = pick(("preference", "inferiority"), rng)
            return _judged(task, article, pair, LABELS[(one > other) != (task == "preference")])


def _any_summary(article: Item, rng: Rng) -> str:
    """One to be judged, of any error rate up to .8, to spread the qualities."""
    return write(article, pick(WRITERS, rng), rng.uniform(0.0, 0.8), rng)


def recipes(seed: int, base_steps: int, tune_steps: int) -> list[Recipe]:
    """The base, and after it every source.

    Args:
        seed: Seed of weights, examples and error rates.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """
    rates = draw_error_rates(seed)
    weights, examples, *tunings = entropy(2 + len(MODELS), seed, 22)
    learned = partial(_draw, writing=0.3, error_rates=dict.fromkeys(STYLES, 0.15))
    schedule = Schedule(examples, base_steps, ((1.0, learned),), _TOKENS)
    # Deviation of the initial weights. At .12, the other testbed's, the base learned to look a fact
    # up in an article about 200 steps later (trial of 1,000 steps, one seed).
    found = [Recipe(BASE, LEXICON, (schedule,), weights=weights, shape={"spread": 0.2})]
    for name, own in zip(MODELS, tunings, strict=True):
        learned = partial(_draw, writing=0.5, error_rates={name: rates[name]})
        how = (LEXICON, own, tune_steps, learned)
        found.append(tuned(name, BASE, *how, batch_tokens=_TOKENS, learning_rate=2e-3))
    return found
