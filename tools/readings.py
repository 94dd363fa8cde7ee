"""Write how SmolLM2 reads what people compared: data/published/perplexities.csv (`make readings`).

    python tools/readings.py [DATASET ...]       these anew, the others' rows as they are

The profile `live` reads a sample, in the time that a run may take. This reads every response that
people compared, and a sample of LLM-SP, where nobody did: an hour of processor time, kept
call by call, so that it can be stopped and called again. The file holds numbers alone; the profile
`recorded` shows them without a model. Nats are rounded to a thousandth: sums differ in later digits
from processor to processor.
"""

import sys
from collections.abc import Sequence

import pandas as pd

from selfpref import paths
from selfpref.ask.responding import score_responses
from selfpref.models.open import open_model
from selfpref.params import load
from selfpref.prompts import LAYOUTS
from selfpref.seeds import sampled
from selfpref.studies import registry
from selfpref.studies.wataoka import STUDY

READER = "smollm2"
# Whose responses are read without their prompts too.
ALONE = ("vicuna80",)
# Of how many questions the responses are read, drawn by their ids; of the others all are.
QUESTIONS = {"llm-sp": 180}
FILE = paths.root() / "data" / "published" / "perplexities.csv"
COLUMNS = {
    "item_id": "item",
    "responder": "responder",
    "judge": "reader",
    "conditional": "given_prompt",
    "sum_nll": "nats",
    "n_tokens": "tokens",
    "n_bytes": "bytes",
}


def main(wanted: Sequence[str]) -> None:
    """Read what is not read yet, and write the file."""
    live, recorded = (
        load(paths.root() / "profiles" / f"{name}.yaml") for name in ("live", "recorded")
    )
    layout = LAYOUTS[live.wataoka.perplexity[READER].prompts]
    made, asked = [], set[str]()
    for dataset in sorted(wanted or recorded.wataoka.datasets):
        found = registry.read(recorded, STUDY.name, dataset)
        labels, written = found["labels"], found["responses"]
        if labels.empty:
            continue
        compared = {*labels["responder_a"], *labels["responder_b"]}
        asked |= {*found["items"]["item_id"]}
        drawn = sampled(found["items"]["item_id"], QUESTIONS.get(dataset))
        written = written[written["item_id"].isin(drawn)]
        with open_model(live, READER, dataset, f"{READER} reads {dataset}") as model:
            made.append(
                score_responses(
                    found["items"][["study", "item_id", "messages"]],
                    written[written["responder"].isin(compared)],
                    READER,
                    model,
                    layout,
                    alone=dataset in ALONE,
                )
            )
    rows = pd.concat(made)
    # What exceeds the model's context has no number, and so no row.
    rows = rows[rows["status"].eq("ok") & rows["n_tokens"].gt(0)].rename(columns=COLUMNS)
    rows["nats"] = rows["nats"].round(3)
    rows["given_prompt"] = rows["given_prompt"].map({True: "true", False: "false"})
    if wanted:
        before = pd.read_csv(FILE, dtype={"given_prompt": "str"})
        rows = pd.concat([rows, before[~before["item"].isin(asked)]])
    rows[[*COLUMNS.values()]].sort_values(["item", "responder", "given_prompt"]).to_csv(
        FILE, index=False, lineterminator="\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
