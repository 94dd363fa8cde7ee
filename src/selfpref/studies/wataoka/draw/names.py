"""What the pictures of the study call data sets and models, and how they look."""

from collections.abc import Iterable

import pandas as pd

from selfpref.plots.frame import BLACK, BLUE, GREY, PURPLE, Look
from selfpref.statistics.bias import CELLS, FEW, human_sides

# How the data sets are headed; a user's own stand under their key.
TITLES = {
    "mt-bench": "MT-Bench",
    "vicuna80": "Vicuna-80",
    "arena": "Chatbot Arena",
    "chatbot-arena": "Arena (paper)",
    # As the profile of real models names them.
    "arena-read": "Chatbot Arena",
    "mt-bench-read": "MT-Bench",
    "vicuna-80": "Vicuna-80",
}
# What readers call models; others keep the name that the tables have.
MODELS = {
    "gpt-4": "GPT-4",
    "gpt-3.5-turbo": "GPT-3.5",
    "claude-1": "Claude 1",
    "claude-v1": "Claude 1",
    "bard": "Bard",
    "vicuna-13b": "Vicuna-13b",
    "vicuna-13b-v1.2": "Vicuna-13b v1.2",
    "koala-13b": "Koala-13b",
    "alpaca-13b": "Alpaca-13b",
    "llama-13b": "LLaMA-13b",
    "chatglm-6b": "ChatGLM-6b",
    "oasst-pythia-12b": "OASST-Pythia-12b",
    "stablelm-tuned-alpha-7b": "StableLM-7b",
    "dolly-v2-12b": "Dolly-12b",
    "smollm2": "SmolLM2-135M",
    "human": "people",
}
# One look for each who may prefer a response, whatever is drawn.
AUTHOR, OTHERS, PERSON = Look(BLUE), Look(GREY, "D"), Look(PURPLE, "v")
INJECTED, ORACLE = Look(BLACK, "+"), Look(BLACK, "x")
WHY = "ties or unusable answers"
HOLLOW = f"fewer than {FEW} pairs on one human side"
SIDES = "pairs on which people prefer the judge's own response + the other one"


def titled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the heading of their data set in the column `set`."""
    return rows.assign(set=[TITLES.get(name, name) for name in rows["dataset"]])


def called(names: Iterable[str]) -> list[str]:
    """Models by the names that readers know.

    >>> called(["gpt-4", "mine"])
    ['GPT-4', 'mine']
    """
    return [MODELS.get(name, name) for name in names]


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with data sets and models by the names that readers know."""
    models = {
        name: called(rows[name]) for name in ("judge", "responder", "opponent") if name in rows
    }
    sets = {"dataset": titled(rows)["set"]} if "dataset" in rows else {}
    return rows.assign(**models, **sets)


def sides(rows: pd.DataFrame) -> list[str]:
    """Pairs on either human side of each row, from its cells."""
    return [f"{own:g} + {other:g}" for own, other in human_sides(rows[CELLS])]


def none_left(bias: pd.DataFrame) -> str:
    """Why there is no pair to draw."""
    if bias.empty:
        return "no judge has a pair with a response of its own"
    if not bias["n_dropped"].any():
        return "nobody voted on a pair with a judge's own response"
    return (
        f"0 of {bias['n_dropped'].sum():g} labelled own pairs are left; ties or status dropped them"
    )
