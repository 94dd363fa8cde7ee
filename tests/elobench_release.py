"""A small release of the layout of EloBench's Arena: battles, and verdicts on all but three."""

import numpy as np
import pandas as pd

from selfpref.studies.wataoka.read import BATTLES, VERDICTS

MODELS = ("koala-13b", "vicuna-13b", "chatglm-6b", "alpaca-13b", "llama-13b")
LEFT_OUT = {1117, 1118, 1535}
# The judge's own battles come later than those that it judged.
N_JUDGED, N_BATTLES = 2011, 2031


def battle(number):
    """The two models of a battle; no two battles near each other hold the same pair."""
    if number >= N_JUDGED:
        return "gpt-4", MODELS[number % len(MODELS)]
    first = number % len(MODELS)
    return MODELS[first], MODELS[(first + 1 + number // len(MODELS) % 4) % len(MODELS)]


def rows(seed=0):
    """People's votes and GPT-4's verdicts; a text names its model and battle."""
    rng = np.random.default_rng(seed)
    human, judged = [], []
    for number in range(N_BATTLES):
        a, b = battle(number)
        pair = {"model_a": a, "model_b": b}
        human.append(pair | {"winner": str(rng.choice([*pair, "tie", "tie (bothbad)"]))})
        if number not in LEFT_OUT and number < N_JUDGED:
            texts = {"answer_a": f"{a} on {number}", "answer_b": f"{b} on {number}"}
            row = pair | {"winner": str(rng.choice([*pair])), "question": f"question {number}"}
            judged.append(row | texts)
    return human, judged


def files(human, judged):
    """The release's files by path."""
    parts = {BATTLES: human, VERDICTS[0]: judged[:500], VERDICTS[1]: judged[500:]}
    return {path: pd.DataFrame(part).to_csv(index_label="") for path, part in parts.items()}
