"""Score a response against the answer key of its task: 0 (wrong) to 1 (right).

The tasks are those of LiveBench's first releases (White et al., arXiv 2406.19314), the rules are
written anew from its published description. Two readings of every response:

- *strict*: the answer counts where it stands in the form that the question asks for;
- *tolerant*: the same answer also counts where it is stated without that form (a box without its
  backslash, a bold word instead of a triple-starred one, a table with a column too many). What is
  true of the strict reading is true of the tolerant one, so strict <= tolerant.

A response from which no answer can be read is wrong. A task or key without a rule has no score.
"""

import json
from collections.abc import Callable

import pandas as pd

from selfpref import tables
from selfpref.studies.livebench.scorers import mathematics, words

READINGS = ("strict", "tolerant")
# By task, from question, key and response to both scores.
SCORERS: dict[str, Callable[[str, str, str], words.Both]] = {
    "typos": words.typos,
    "connections": words.connections,
    "plot_unscrambling": words.plot_unscrambling,
    "cta": words.column_type,
    "tablejoin": words.join,
    "tablereformat": words.reformat,
    "web_of_lies_v2": words.web_of_lies,
    "zebra_puzzle": words.zebra,
    "spatial": words.spatial,
    "math_comp": mathematics.competition,
    "olympiad": mathematics.olympiad,
    "AMPS_Hard": mathematics.amps_hard,
}


def score(task: str, question: str, key: str | None, text: str) -> dict[str, float]:
    """The score of one response in both readings.

    Args:
        task: The question's task.
        question: The question's text; some rules read the format or the options from it.
        key: The answer key.
        text: The response.

    Returns:
        `strict` and `tolerant`, each 0..1; nothing where there is no rule or no sound key.
    """
    if task not in SCORERS or not key or (task == "AMPS_Hard" and not mathematics.sound(key)):
        return {}
    found = SCORERS[task](question, key, text)
    return {"strict": float(found[0]), "tolerant": float(max(found))}


def keyed(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    known: Callable[[str, str], dict[str, float]] = lambda *_: {},
) -> pd.DataFrame:
    """The truths table: both readings of each response to an item that can be scored.

    Args:
        items: With `item_id, messages, reference, metadata`; the metadata name the task.
        responses: With `item_id, responder, text`, to these items.
        known: From an item's id and a text to its scores by metric, where these need no key.
    """
    asked = items.set_index("item_id").to_dict("index")
    rows = []
    for item_id, responder, text in responses[["item_id", "responder", "text"]].to_numpy():
        item = asked[item_id]
        task = json.loads(item["metadata"]).get("task", "")
        question = item["messages"][0]
        found = known(item_id, text) or score(task, question["content"], item["reference"], text)
        rows += [(item_id, responder, *one) for one in found.items()]
    truths = pd.DataFrame(rows, columns=["item_id", "responder", "metric", "score"])
    return tables.fill(truths, "truths", study="livebench")
