"""The rule-based oracle: what is correct in a response, and how good the response is.

    quality(item, response) = correct parts / parts asked for          in [0, 1]

It reads the response's words and nothing else, so it judges a trained model's output just as it
judges a hand-written one. A part counts once: repeating a right thing earns nothing, and only the
first ``count`` things of a list are read, so that padding does not pay.
"""

from collections.abc import Sequence

from selfpref.lab.world import ATTRIBUTE_OF, COLOUR_OF, COLOURS, FACTS, NUMBERS, USE_WORDS, Item

TOP_DIGIT = 9
_THINGS = {thing: thing for thing in COLOUR_OF}
# Of each task the words that are checkable content, and what part of a response each stands for.
_CONTENT = {
    "list": _THINGS,
    "filter": _THINGS,
    "words": {word: word for word in USE_WORDS},
    "facts": ATTRIBUTE_OF,
    "people": ATTRIBUTE_OF,
}


def split_words(text: str) -> list[str]:
    """Split a response into words; punctuation is set apart by spaces in this world."""
    return text.lower().split()


def facts_of(item: Item) -> dict[str, str]:
    """The attributes that are asked for and their values (facts and people)."""
    person, *names = item.asked
    pairs = item.pairs if item.task == "people" else [(name, person) for name in names]
    return {name: FACTS[who][name] for name, who in pairs}


def right_words(item: Item) -> list[str]:
    """The words that are right in a response; of a list more than are asked for (not of sums)."""
    if item.task == "list":
        return [thing for colour in item.asked for thing in COLOURS[colour]]
    if item.task == "filter":
        colour, *offered = item.asked
        return [thing for thing in offered if COLOUR_OF[thing] == colour]
    return list(item.asked if item.task == "words" else facts_of(item).values())


def marks(item: Item, words: Sequence[str]) -> list[bool | None]:
    """Judge a response word by word.

    Args:
        item: The prompt.
        words: The response's words.

    Returns:
        One entry per word: True for a right part, False for a wrong, repeated or surplus one,
        None for a word that is no checkable content.
    """
    if item.task == "sum":
        return _sum_marks(item, words)
    content, right = _CONTENT[item.task], right_words(item)
    found: list[bool | None] = []
    seen: list[str] = []
    for word in words:
        part = content.get(word)
        if part is None:
            found.append(None)
            continue
        # Coverage has no limit on the number of words; a list does, or padding would pay.
        surplus = item.task == "list" and len(seen) >= item.count
        found.append(word in right and part not in seen and not surplus)
        seen.append(part)
    return found


def _sum_marks(item: Item, words: Sequence[str]) -> list[bool | None]:
    """Mark the number after each ``a + b =``; an asked-for sum counts as often as it was asked."""
    open_sums = item.pairs
    found: list[bool | None] = [None] * len(words)
    for index in range(4, len(words)):
        left, plus, right, equals, result = words[index - 4 : index + 1]
        if plus != "+" or equals != "=" or not {left, right, result} <= {*NUMBERS}:
            continue
        asked = (left, right) in open_sums
        found[index] = asked and int(left) + int(right) == int(result)
        if found[index]:
            open_sums.remove((left, right))
    return found


def quality(item: Item, response: str) -> float:
    """Share of the asked-for parts that a response gets right, in [0, 1]."""
    return marks(item, split_words(response)).count(True) / item.count


def quality_digit(value: float) -> int:
    """Map a quality in [0, 1] to the score 0 to 9 that the models rate with, halves rounded up."""
    return int(TOP_DIGIT * value + 0.5)
