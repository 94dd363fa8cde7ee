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
from selfpref.files import write_text
from selfpref.studies.xu.items import chrf, quantile_map

KEY = ["item_id", "responder", "step"]


def texts() -> pd.DataFrame:
    """Every released translation once: `language, sentence, model, text, reference, chrf, mqm`."""
    items, responses, truths = (
        pd.read_parquet(paths.table_dir(paths.RELEASED, name, "xu") / "xu.parquet")
        for name in ("items", "responses", "truths")
    )
    found = truths.query("metric == 'bleurt-mqm'").merge(responses[[*KEY, "text"]], on=KEY)
    found = found.merge(items[["item_id", "reference"]], on="item_id")
    # Of the paper's own rule alone: an item's name is its pair of languages and its number.
    found[["language", "sentence"]] = found.pop("item_id").str.extract(r"^([^/]+)/(\d+)$")
    found = found.dropna(subset="language").astype({"sentence": int})
    found = found.rename(columns={"responder": "model", "score": "mqm"})
    found = found.drop_duplicates(["language", "sentence", "model", "text"])
    return found.assign(chrf=[*map(chrf, found["text"], found["reference"])])


def main() -> None:
    """Write the map, and how far it is from the released score of sentences it was not made of."""
    found = texts()
    half = found["sentence"].mod(2).eq(0)
    scale = quantile_map(found.loc[half, "chrf"].to_numpy(), found.loc[half, "mqm"].to_numpy())
    held_out = found[~half].assign(mapped=np.interp(found.loc[~half, "chrf"], *scale))
    held_out["error"] = held_out["mapped"] - held_out["mqm"]
    groups = pd.concat([held_out, held_out.assign(language="all", model="all")])
    groups = groups.groupby(["language", "model"])
    table = groups["error"].agg(n="size", mean_error="mean")
    table["mean_absolute_error"] = groups["error"].agg(lambda errors: errors.abs().mean())
    table["r"] = groups[["mapped", "mqm"]].corr().iloc[::2, 1].to_numpy()
    made = {"chrf_mqm": pd.DataFrame({"chrf": scale[0], "mqm": scale[1]})}
    for name, one in (made | {"chrf_mqm_errors": table.reset_index()}).items():
        text = one.to_csv(index=False, float_format="%.4f", lineterminator="\n")
        write_text(paths.published_file(name), text)
        print(text)


if __name__ == "__main__":
    main()
