"""What the control tasks ask of two summaries: readability, length, vowels.

    reading ease = 206.835 - 1.015 words / sentences - 84.6 syllables / words    (Flesch 1948)

A word is a run of letters, a sentence ends with one or more of . ! ?, and syllables are counted by
rule: groups of vowels (y among them), a final e apart. The vowels of the vowel count are a e i o u.
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE = re.compile(r"[.!?]+(?:\s|$)")
_SYLLABLE = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """Syllables of an English word by rule, at least 1."""
    lower = word.lower()
    silent = lower.endswith("e") and not lower.endswith("le")
    return max(1, len(_SYLLABLE.findall(lower)) - silent)


def reading_ease(text: str) -> float:
    """Flesch's reading ease; higher is easier. A text without words has 0."""
    words = _WORD.findall(text)
    if not words:
        return 0.0
    sentences = max(1, len(_SENTENCE.findall(text)))
    beats = sum(map(syllables, words))
    return 206.835 - 1.015 * len(words) / sentences - 84.6 * beats / len(words)


def length(text: str) -> float:
    """Number of words."""
    return len(_WORD.findall(text))


def vowels(text: str) -> float:
    """Number of vowels."""
    return sum(text.lower().count(vowel) for vowel in "aeiou")


CONTROLS = {"readability": reading_ease, "length": length, "vowelcount": vowels}
"""Control task to the quantity of which the larger is asked for."""
