"""Put chrF on the scale of MQM, by the texts of the release that have both.

    python tools/scale.py        # after `make repro PROFILE=recorded`: data/recorded/xu

Xu et al. released translations into English with BLEURT on the scale of MQM. Their sentence chrF to
the reference stands beside it: at equal ranks of the two, over the texts of every second sentence,
lie the knots (data/published/chrf_mqm.csv). On the other sentences the map is held against the
released score (data/published/chrf_mqm_errors.csv).
"""

import numpy as np
import pandas as pd

from selfpref import paths
from selfpref.studies.xu.truths import chrf, quantile_map

KEY = ["item_id", "responder", "step"]


def texts() -> pd.DataFrame:
    """Every released translation once: `language, model, sentence, chrf, mqm`."""
    read = {
        name: pd.read_parquet(paths.table_dir(paths.RELEASED, name, "xu") / "xu.parquet")
        for name in ("items", "responses", "truths")
    }
    known = read["truths"].query("metric == 'bleurt-mqm'").drop(columns="study")
    # Of the paper's own rule alone: an item's name is its pair of languages and its number.
    known = known[known["item_id"].str.count("/").eq(1)]
    items = read["items"][["item_id", "reference"]]
    found = known.merge(read["responses"][[*KEY, "text"]], on=KEY).merge(items, on="item_id")
    found = found.drop_duplicates(["item_id", "responder", "text"])
    named = found["item_id"].str.split("/", expand=True)
    scores = [chrf(text, to) for text, to in zip(found["text"], found["reference"], strict=True)]
    return pd.DataFrame(
        {"language": named[0], "model": found["responder"], "sentence": named[1].astype(int)}
        | {"chrf": scores, "mqm": found["score"]}
    )


def errors(held_out: pd.DataFrame) -> pd.DataFrame:
    """By language and model, and over all: how far the map is from the released score."""
    every = pd.concat([held_out, held_out.assign(language="all", model="all")])
    groups = every.groupby(["language", "model"])
    table = groups.agg(
        n=("error", "size"),
        mean_error=("error", "mean"),
        mean_absolute_error=("error", lambda values: values.abs().mean()),
    )
    return table.assign(r=groups[["mapped", "mqm"]].corr().iloc[::2, 1].to_numpy()).reset_index()


def main() -> None:
    """Write both tables."""
    found = texts()
    half = found["sentence"].mod(2).eq(0)
    scale = quantile_map(found.loc[half, "chrf"].to_numpy(), found.loc[half, "mqm"].to_numpy())
    held_out = found[~half].assign(mapped=np.interp(found.loc[~half, "chrf"], *scale))
    made = {
        "chrf_mqm": pd.DataFrame(dict(zip(["chrf", "mqm"], scale, strict=True))),
        "chrf_mqm_errors": errors(held_out.assign(error=held_out["mapped"] - held_out["mqm"])),
    }
    for name, table in made.items():
        path = paths.published_file(name)
        table.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
        print(table.to_string())


if __name__ == "__main__":
    main()
