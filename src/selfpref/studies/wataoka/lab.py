"""The testbed's side of the study: its prompts, and an annotator that knows the truth."""

import json
from pathlib import Path

import pandas as pd

from selfpref import paths, tables
from selfpref.lab import experiment
from selfpref.lab.injected import load_families
from selfpref.params import LabPrompts, Params
from selfpref.studies.wataoka import STUDY


def read(dataset: str, entry: LabPrompts, source: Path) -> dict[str, pd.DataFrame]:
    """The prompts of one data set.

    Args:
        dataset: Its key.
        entry: Seed and number.
        source: The testbed's folder in `src`, which makes them.
    """
    items = experiment.draw(dataset, entry.seed, entry.prompts)
    return {"items": experiment.items_table(STUDY.name, entry.seed, items)}


def label(params: Params, dataset: str) -> dict[str, pd.DataFrame]:
    """Pairs of responses to a data set's prompts, labelled by the oracle with noise.

    Args:
        params: With `wataoka.label.<dataset>`.
        dataset: The data set; its models lie in the folder of its name.

    Returns:
        labels, and truths: the quality of every response, and what each judge's rule makes of it.
    """
    use = params.wataoka.label[dataset]
    assert use.pairs is not None
    assert use.noise is not None
    table = tables.read(params.profile, "items", STUDY.name, [dataset])
    responses = STUDY.read(params.profile, "responses")
    seed = int(json.loads(table["metadata"].iloc[0])["seed"])
    labels, truths = experiment.annotate(
        STUDY.name,
        dataset,
        seed,
        experiment.draw(dataset, seed, len(table)),
        responses[responses["item_id"].str.startswith(f"{dataset}/")],
        load_families(paths.models_dir(params.profile) / dataset),
        pairs=use.pairs,
        noise=use.noise,
    )
    return {"labels": labels, "truths": truths}
