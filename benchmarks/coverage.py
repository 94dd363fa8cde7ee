"""How often the intervals hold what they should: simulated, on the designs that they stand for.

    nice python benchmarks/coverage.py [draws]

Sets of judgments are drawn from a known world, measured as `selfpref measure` does, and each 95 %
interval is held against the truth: that of a set of twenty times as many prompts. The designs:

- *panel*, as Vicuna-80: 80 prompts, five judges who are the five responders, both orders, three
  votes a pair that agree little. `ada` writes best and is the sharpest.
- *alone*, as MT-Bench: one judge of six responders, votes that agree more.
- *beside*: the same with a second judge, who wrote nothing, three responders of different quality
  and one vote a pair; *few* is that with 25 prompts, *many* with 400.
- *outside*: as *beside*, with three judges who wrote nothing; *five*: so, with five responders,
  none far below the others, and 240 prompts.
- *marks*, as LiveBench: three judges who mark their own and each other's answers to 150 questions
  in 75 clusters, beside a key.

Each with nobody who favours itself (*none*), with `ada` who does (*planted*, 2.2 times the odds),
and with half of that (*half*, 1.5 times). It prints a Markdown table: coverage of each statistic
of `ada`; how often the first line said that it favours itself, that it does not or by at most x,
and that it cannot be told; and how often the truth lay above that x. A million verdicts' worth of
work: three hours on one core.
"""

import sys
from collections import Counter
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
from scipy.special import expit

import selfpref
from selfpref.card import marks, measured
from selfpref.statistics import latent
from selfpref.statistics.bootstrap import ClusterBootstrap

DRAWS, RESAMPLES, LARGER = 200, 1000, 20
NAMES = ("ada", "bea", "cyd", "dot", "eve", "fay", "gus", "hal", "ivy")
# What a writer's texts are worth, a judge's scale, the pull of the first place, and its tie width.
WORTH = dict(zip(NAMES, (1.2, 0.4, 0.3, 0.1, -0.2, -0.9, 0.3, -0.2, 0.1), strict=True))
READERS = ((2.0, 0.5, 0.3), (1.2, -0.4, 0.2), (1.0, 0.3, 0.3), (0.7, 0.0, 0.2), (0.4, 1.0, 0.1))
READER = dict(zip(NAMES, READERS, strict=False))
# Responders, judges, the scale at which people read, votes a pair, and prompts.
BESIDE = (("ada", "bea", "fay"), ("ada", "eve"), 1.3, 1)
OUTSIDE = ("ada", "cyd", "dot", "eve")
DESIGNS = {
    "panel": (NAMES[:5], NAMES[:5], 0.6, 3, 80),
    "alone": (NAMES[:6], NAMES[:1], 1.3, 3, 80),
    "beside": (*BESIDE, 80),
    "few": (*BESIDE, 25),
    "many": (*BESIDE, 400),
    "outside": (BESIDE[0], OUTSIDE, 1.3, 1, 80),
    "five": (("ada", "bea", "gus", "ivy", "hal"), OUTSIDE, 1.3, 1, 240),
}
# An answer worth less than 0 is wrong, and to one worth less than this the key gives nothing.
HALF_RIGHT = -0.7
PLANTED = {"none": 0.0, "half": 0.405, "planted": 0.8}
STATISTICS = {
    "equal_opportunity": "EO",
    "beyond_no_preference": "EO beyond another person's",
    "excess": "excess over the other judges",
    "regression_scaled": "own term, linear with scales",
    "latent_quality": "own term, latent quality",
    "harmful": "share: harmful choices",
    "agreement": "share: agreement with people",
}


def answer(rng, x, width):
    """1 for the first text, 0 for the second, 1/2 a tie, by an ordered logit."""
    draw = rng.random(x.shape)
    return np.select([draw < expit(x - width), draw < expit(x + width)], [1.0, 0.5], 0.0)


def judgments(rng, times, design, taste):
    """So many times a set of one design: verdicts and votes, as `selfpref.measure` takes them."""
    responders, judges, people, voters, prompts = DESIGNS[design]
    prompts *= times
    pairs = list(combinations(responders, 2))
    quality = rng.normal([[WORTH[a] - WORTH[b] for a, b in pairs]] * prompts)
    quality += rng.normal(scale=0.5, size=(prompts, 1))
    said = np.array(["b", "tie", "a"])
    place = {"item": np.repeat(np.arange(prompts), len(pairs))}
    for at, side in enumerate("ab"):
        place[f"responder_{side}"] = [pair[at] for pair in pairs] * prompts

    def rows(x, width, **more):
        label = said[(2 * answer(rng, x, width)).astype(int)].ravel()
        return pd.DataFrame(place | {more.pop("into"): label} | more)

    votes = [rows(people * quality, 0.2, into="label", annotator=f"p{n}") for n in range(voters)]
    verdicts = []
    for judge in judges:
        scale, pull, width = READER[judge]
        own = (
            np.array([(a == judge) - (b == judge) for a, b in pairs]) * taste * (judge == NAMES[0])
        )
        for order, sign in (("ab", 1), ("ba", -1)):
            x = scale * quality + sign * pull + own
            verdicts.append(rows(x, width, into="verdict", judge=judge, order=order))
    return pd.concat(verdicts).assign(label=None), pd.concat(votes)


def marked(rng, taste, questions):
    """A file of marks of three judges, as `selfpref.card.marks.read` returns it."""
    hard = np.repeat(rng.normal(size=(questions + 1) // 2), 2)[:questions]
    worth = rng.normal(-hard[:, None], size=(questions, 3))
    frames = []
    for judge, responder in np.ndindex(3, 3):
        value, own = worth[:, responder], judge == responder == 0
        mark = 8 + 1.5 * value + taste * own * (value < 0) + rng.normal(size=questions)
        rows = {"item": np.arange(questions), "cluster": np.arange(questions) // 2, "score": mark}
        key = np.select([value >= 0, value >= HALF_RIGHT], [1.0, 0.5], 0.0)
        rows |= {"judge": NAMES[judge], "responder": NAMES[responder], "key": key}
        frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True).assign(task="")


def of_pairs(rng, times, design, taste):
    """The estimates of `ada`, and the answer."""
    verdicts, votes = judgments(rng, times, design, taste)
    card = selfpref.measure(verdicts, votes=votes, judge=NAMES[0]).to_dict()["judges"][NAMES[0]]
    return {name: card[name] for name in STATISTICS}, card["favours_itself"]


def of_marks(rng, times, taste):
    """The same of D, by kind."""
    bootstrap = ClusterBootstrap(RESAMPLES, seed=1)
    found = marks.measure(marked(rng, taste, 150 * times), "marks", NAMES[0], bootstrap)
    rows = found.to_dict()["judges"][NAMES[0]]["third_judge"]
    kinds = {f"third judge: {row['kind']}": row for row in rows if row["scale"] == "marks"}
    return kinds, found.answers[NAMES[0]].favours


def coverage(draw, draws):
    """By statistic, how often the interval held the truth; and the answers."""
    truth = {name: row["value"] for name, row in draw(np.random.default_rng(0), LARGER)[0].items()}
    held, counted, answers = Counter(), Counter(), Counter()
    own = truth.get("regression_scaled")
    for seed in range(1, draws + 1):
        found, favours = draw(np.random.default_rng(seed), 1)
        answers[favours] += 1
        if favours is False and own is not None:
            answers["x too low"] += (found["regression_scaled"]["hi"] or 0.0) < own
        for name, row in found.items():
            if row["lo"] is not None and truth[name] is not None and np.isfinite(row["lo"]):
                counted[name] += 1
                held[name] += row["lo"] <= truth[name] <= row["hi"]
    return truth, held, counted, answers


def main() -> None:
    """Print the table."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    measured.RESAMPLES = RESAMPLES
    # The truth is read from larger sets than a user is asked to wait for.
    latent.MOST_PAIRS = 10**6
    print("| design | statistic | truth | coverage | draws |\n|---|---|---|---|---|")
    for (planted, taste), name in product(PLANTED.items(), (*DESIGNS, "marks")):
        more = {} if name == "marks" else {"design": name}
        draw = partial(of_pairs if more else of_marks, taste=taste, **more)
        truth, held, counted, answers = coverage(draw, draws)
        for statistic, n in counted.items():
            label = STATISTICS.get(statistic, statistic)
            numbers = f"{truth[statistic]:.3f} | {held[statistic] / n:.3f} | {n}"
            print(f"| {name}, {planted} | {label} | {numbers} |")
        said = ", ".join(f"{answers[key]} {key}" for key in (True, False, None, "x too low"))
        print(f"| {name}, {planted} | favours itself? | | {said} | {draws} |", flush=True)


if __name__ == "__main__":
    main()
