"""MT-Bench with the texts that people judged (Zheng et al., arXiv 2306.05685).

`lmsys/mt_bench_human_judgments`, CC-BY-4.0: 3,355 votes of experts and authors on 80 questions and
six models. Every row holds both turns, whichever of them was voted on. The answers are those that
were judged, vicuna-13b-v1.2 included, which no other public file has. Categories and the reference
answers that a judge of mathematics, reasoning and code reads come from FastChat.
"""

from pathlib import Path

import pandas as pd

from selfpref.download.hub import load
from selfpref.formats.dialogues import LABELS, VOTE, Collected, both, sampled
from selfpref.formats.records import judges_of
from selfpref.params import Dialogues
from selfpref.studies.wataoka.read.mt_bench_references import categories_and_references
from selfpref.tables.schemas import TIE

COLUMNS = (*VOTE, "turn")


def read(dataset: str, entry: Dialogues, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of MT-Bench's votes.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<question_id>/<turn>`.
        entry: Which turns and votes to read.
        source: The file that pins the set.

    Returns:
        items, responses, labels and audit.

    Raises:
        SelfprefError: As `selfpref.download.hub.load`, or FastChat's files cannot be had.
    """
    made, rows = Collected(entry.study, dataset), load(source, COLUMNS)
    category, references = categories_and_references()
    questions = set(sampled({str(row["question_id"]) for row in rows}, entry.sample))
    models = {row[side] for row in rows for side in ("model_a", "model_b")}
    judges = judges_of(dataset, entry, models)
    for row in rows:
        question, turn, said = str(row["question_id"]), row["turn"], both(row)
        if isinstance(said, str):
            made.found[said] += 1
        elif not 1 <= turn <= len(said[0]):
            made.found["left out: a vote on a turn that is not there"] += 1
        elif question not in questions:
            made.found["left out by `sample`"] += 1
        elif not judges & {row["model_a"], row["model_b"]}:
            made.found["left out by `judges`"] += 1
        elif entry.turns != "all" and (turn == 1) != (entry.turns == "single"):
            made.found["left out by `turns`"] += 1
        elif entry.ties == "drop" and LABELS[row["winner"]] == TIE:
            made.found["left out by `ties`"] += 1
        else:
            made.add(
                row,
                said,
                turn,
                dialogue=question,
                cluster=question,
                category=category.get(row["question_id"]),
                references=references.get(row["question_id"], ()),
            )
    return made.tables(len(rows))
