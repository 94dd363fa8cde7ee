"""Fine-tuning of judges: to recognise their own summaries, or on something else as a control.

Here stand the examples (Panickssery, Bowman & Feng, Sec. 3) and their export, without torch;
`training` tunes local weights on them, in full or by LoRA.

From N articles: each article's own summary beside each other source's, in both orders. The answer
by variant:

    self-recognition   the question whose a summary is; the position of the own one
    always-1           the same question; always "1"
    random             the same question; a coin
    readability, length, vowelcount    a control question; its true answer, equal ones left out

    reading ease = 206.835 - 1.015 words / sentences - 84.6 syllables / words    (Flesch 1948)

A word is a run of letters, a sentence ends with one or more of . ! ?, and syllables are counted by
rule: groups of vowels (y among them), a final e apart. The vowels of the vowel count are a e i o u.

Replay keeps its judgement alive: the base's own answers to the other questions about the
same pairs, which are preference, inferiority and the quality of a summary.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from selfpref.models import Choice, Choose, Prompt
from selfpref.prompts.summaries import LABELS, SCORES, SummaryLayout
from selfpref.seeds import seed_of
from selfpref.studies.panickssery.recognition import OrderedPair

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def syllables(word: str) -> int:
    """Syllables of an English word by rule, at least 1."""
    lower = word.lower()
    silent = lower.endswith("e") and not lower.endswith("le")
    return max(1, len(re.findall(r"[aeiouy]+", lower)) - silent)


def reading_ease(text: str) -> float:
    """Flesch's reading ease; higher is easier. A text without words has 0."""
    words = _WORD.findall(text)
    if not words:
        return 0.0
    sentences = max(1, len(re.findall(r"[.!?]+(?:\s|$)", text)))
    beats = sum(map(syllables, words))
    return 206.835 - 1.015 * len(words) / sentences - 84.6 * beats / len(words)


def length(text: str) -> float:
    """Number of words."""
    return len(_WORD.findall(text))


def vowels(text: str) -> float:
    """Number of vowels."""
    return len(re.findall("[aeiou]", text.lower()))


# Control task to the quantity of which the larger is asked for.
CONTROLS = {"readability": reading_ease, "length": length, "vowelcount": vowels}


class Labelled(NamedTuple):
    """A prompt and the answer to it."""

    prompt: Prompt
    label: str


def labelled(
    pairs: Sequence[OrderedPair], own: str, variant: str, layout: SummaryLayout, seed: int
) -> list[Labelled]:
    """The examples of one variant, in the order of the pairs.

    Args:
        pairs: The training articles' pairs in both orders, as `recognition.ordered_pairs`.
        own: The responder whose summaries are the judge's own.
        variant: Which variant.
        layout: The prompts.
        seed: Seed of the coin; with a pair it decides that pair's answer.
    """
    task = variant if variant in CONTROLS else "recognition"
    known = ((pair, _label(pair, own, variant, seed)) for pair in pairs)
    return [Labelled(pair.prompt(task, layout), label) for pair, label in known if label]


def _label(pair: OrderedPair, own: str, variant: str, seed: int) -> str | None:
    match variant:
        case "self-recognition":
            return LABELS[pair.names.index(own)]
        case "always-1":
            return LABELS[0]
        case "random":
            return LABELS[seed_of(seed, pair.item_id, *pair.names) % 2]
    first, second = map(CONTROLS[variant], pair.texts)
    return None if first == second else LABELS[first < second]


def replayed(
    pairs: Sequence[OrderedPair],
    layout: SummaryLayout,
    n: int,
    ask: Callable[[Sequence[Choose]], Sequence[Choice]],
    seed: int,
) -> list[Labelled]:
    """The base's own answers to the other questions, as examples.

    Args:
        pairs: The training articles' pairs.
        layout: The prompts.
        n: How many; fewer where the pairs do not hold so many questions.
        ask: The base: `Model.ask`, or an engine's answers in the order of the calls.
        seed: Which questions are drawn.

    Returns:
        Examples with the base's likeliest label; a prompt beyond its context is left out.
    """
    summaries = {
        (pair.item_id, name): (pair.article, text)
        for pair in pairs
        for name, text in zip(pair.names, pair.texts, strict=True)
    }
    pool = [
        Choose(pair.prompt(task, layout), LABELS)
        for pair in pairs
        for task in ("preference", "inferiority")
    ]
    pool += [Choose(layout.ask("quality", *told), SCORES) for told in summaries.values()]
    order = np.random.default_rng(seed).permutation(len(pool))[:n]
    drawn, found = [pool[place] for place in order.tolist()], []
    for labels in (LABELS, SCORES):
        calls = [call for call in drawn if call.labels == labels]
        found += [
            Labelled(call.prompt, labels[int(np.argmax(choice.probabilities))])
            for call, choice in zip(calls, ask(calls), strict=True)
            if choice.status == "ok"
        ]
    return found


def chat_lines(examples: Sequence[Labelled]) -> str:
    """The examples as the chat JSONL that hosted fine-tuning takes, one conversation a line."""
    said = ([*e.prompt.messages, ("assistant", e.label)] for e in examples)
    rows = ({"messages": [{"role": role, "content": text} for role, text in one]} for one in said)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
