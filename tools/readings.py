"""Write how SmolLM2 reads what people compared: data/published/perplexities.csv (`make readings`).

The profile `live` reads a sample, in the time that a run may take. This reads every response that
people compared, and a sample of LLM-SP, where nobody did: an hour of processor time, kept
call by call, so that it can be stopped and called again. The file holds numbers alone; the profile
`recorded` shows them without a model. Nats are rounded to a thousandth: sums differ in later digits
from processor to processor.
"""

import pandas as pd

from selfpref import paths
from selfpref.ask import score_responses
from selfpref.formats.datasets import READ
from selfpref.models.calls import open_model
from selfpref.params import Params, load
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
# The columns of a user's file of perplexities, by those of the table.
TABLE = ("item_id", "responder", "judge", "conditional", "sum_nll", "n_tokens", "n_bytes")
COLUMNS = dict(zip(TABLE, READ, strict=True))


def read(params: Params, live: Params, dataset: str) -> pd.DataFrame:
    """How probable the reader finds what people compared in a data set."""
    found = registry.read(params, STUDY.name, dataset)
    items, labels, written = found["items"], found["labels"], found["responses"]
    if labels.empty:
        return pd.DataFrame()
    compared = {*labels["responder_a"], *labels["responder_b"]}
    drawn = sampled(items["item_id"], QUESTIONS.get(dataset))
    written = written[written["item_id"].isin(drawn) & written["responder"].isin(compared)]
    asked = items[["study", "item_id", "messages"]]
    layout = LAYOUTS[live.wataoka.perplexity[READER].prompts]
    with open_model(live, READER, dataset, f"{READER} reads {dataset}") as model:
        return score_responses(asked, written, READER, model, layout, alone=dataset in ALONE)


def main() -> None:
    """Read what is not read yet, and write the file."""
    live, recorded = (load(paths.profile_file(name)) for name in ("live", "recorded"))
    rows = pd.concat([read(recorded, live, one) for one in sorted(recorded.wataoka.datasets)])
    # What exceeds the model's context has no number, and so no row.
    rows = rows[rows["status"].eq("ok") & rows["n_tokens"].gt(0)].rename(columns=COLUMNS)
    told = rows["given_prompt"].map({True: "true", False: "false"})
    rows = rows.assign(nats=rows["nats"].round(3), given_prompt=told)[[*COLUMNS.values()]]
    rows = rows.sort_values(["item", "responder", "given_prompt"])
    rows.to_csv(FILE, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
