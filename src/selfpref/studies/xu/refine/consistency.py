"""Self-consistency as a judge of mathematics: the majority of samples says what is correct.

A writer solves each problem n times. The current answer is that of the first sample; round r calls
it correct if it equals the majority of the first k_r samples, then puts that majority in its place.

    step r    text: the current answer before round r    score: 1 if it is the majority, else 0

Samples without an answer do not vote; without any vote the rating is unparsable and the answer
stays. Of equally frequent answers the one that came first wins. Each round counts for itself: in
the release of Xu et al. its differences ran on from round to round, and two missing answers agreed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from selfpref.studies.xu.truths import answer_of


@dataclass(frozen=True)
class Round:
    """One round.

    Attributes:
        sample: The sample whose answer is the current one before the round.
        score: 1 if the majority agrees with it, 0 if not; None without a majority.
    """

    sample: int
    score: float | None


def majority(answers: Sequence[str | None]) -> str | None:
    """The most frequent answer, the earliest of equals; None if nobody answered."""
    votes = Counter(answer for answer in answers if answer is not None)
    # Counter keeps the order of first votes, and max takes the first of equals.
    return max(votes, key=lambda answer: votes[answer]) if votes else None


def rounds(samples: Sequence[str], prefixes: Sequence[int]) -> list[Round]:
    """The rounds of one problem.

    Args:
        samples: Solutions, at least as many as the longest prefix.
        prefixes: How many of them vote in each round.
    """
    answers = [answer_of(sample) for sample in samples]
    current, found = 0, []
    for count in prefixes:
        winner = majority(answers[:count])
        agrees = None if winner is None else float(answers[current] == winner)
        found.append(Round(current, agrees))
        if winner is not None:
            current = answers.index(winner)
    return found
