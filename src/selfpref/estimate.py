"""What served models will be asked, and the price of it, before anything is spent.

Only calls that are not in the store count. Tokens are guessed (`models.served.tokens`) and replies
counted at their limit, so the price is near its upper end; text in other scripts than Latin takes
more tokens than guessed. A refinement is counted as if every judge found fault to the last step,
without the calls of its external judge. A stage above its model's `budget` does not start.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.models.served.tokens import Meter
from selfpref.params import Finetune, Hosted, Params, hosted
from selfpref.store import Store, store_path
from selfpref.studies import registry
from selfpref.studies.xu.refine.ceiling import Ceiling

# What stages read, as far as a study has it, by task.
READ = {
    "respond": ("items",),
    "refine": ("items",),
    "tie_break": ("items", "responses", "verdicts"),
}
READ_BY_OTHERS = ("items", "responses", "labels")
REMEDY = (
    "nothing was asked.\nRaise the budget, or ask less: `selfpref estimate` shows where it goes"
)
COUNTS = ("calls", "prompt tokens", "reply tokens")
COLUMNS = ("model", "stage", *COUNTS, "USD", "budget", "remark")


def measure(params: Params, study: str, task: str, key: str) -> Meter:
    """What a stage of a served model would ask now.

    Args:
        params: The stage's parameters, or the whole.
        study: Which study.
        task: A task of it, a key of `registry.estimates()`.
        key: The entry's key there; its model has `engine: openai`.

    Raises:
        SelfprefError: A table that the stage reads is not there yet.
    """
    meter, model = Meter(), _asked(params, study, task, key)

    @contextmanager
    def open_meter(_: Params, name: str, __: str, ___: str) -> Iterator[Model]:
        with Store(store_path(paths.root())) as store:
            entry = hosted(params.models[name])
            calls = None
            # A refinement opens its external judge too, which others pay for.
            if entry is not None and name == model:
                calls = Model(HostedModel(name, entry, meter), store, offline=False, title="")
            if task == "refine":
                yield Ceiling(calls)
            else:
                assert calls is not None
                yield calls

    registry.estimates()[study, task](params, key, open_meter)
    return meter


def _asked(params: Params, study: str, task: str, key: str) -> str:
    """The model that a stage asks: its key, but for entries of `finetune`, which name it."""
    use = getattr(params.study(study), task)[key]
    return use.model if isinstance(use, Finetune) else key


def within_budget(params: Params, study: str, task: str, key: str) -> None:
    """Refuse a stage that may cost more than its model's budget.

    Args:
        params: The stage's parameters.
        study: Which study.
        task: A task of it.
        key: The entry's key there.

    Raises:
        SelfprefError: It may; names the sums.
    """
    model = _asked(params, study, task, key)
    entry = hosted(params.models[model])
    # A server of one's own may have no price.
    if entry is None or entry.price is None or entry.budget is None or params.offline:
        return
    meter = measure(params, study, task, key)
    if (price := meter.tokens.price(entry.price)) > entry.budget:
        raise SelfprefError(
            f"models.{model}.budget: {study}.{task}.{key} may cost ${price:.2f} ({meter.calls} "
            f"calls), the budget is ${entry.budget:.2f}; {REMEDY}"
        )


def estimate(params: Params) -> pd.DataFrame:
    """Calls, tokens and price of every stage that asks a served model.

    Returns:
        One row a model and stage with `COLUMNS`, all null but the remark where a table that the
        stage reads is not there yet; USD is null also where the model has no price.
    """
    rows = []
    for study, task, uses in params.tasks():
        for key in uses:
            model = _asked(params, study, task, key)
            if entry := hosted(params.models[model]):
                found = _row(params, (study, task, key), entry)
                rows.append({"model": model, "stage": f"{study}.{task}", **found})
    table = pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(["model", "stage"])
    kinds = dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(("USD", "budget"), "Float64")
    return table.astype(kinds).reset_index(drop=True)


def _row(params: Params, stage: tuple[str, str, str], entry: Hosted) -> dict[str, Any]:
    study, task, _ = stage
    tables = registry.tables_of(study)
    read = [name for name in READ.get(task, READ_BY_OTHERS) if name in tables.filled]
    # A table is what lies in its folder; of half of it less would be asked.
    if missing := tables.missing(params, read):
        return {"remark": f"not known yet: {missing[0]} is not there; run `dvc repro`"}
    meter = measure(params, *stage)
    tokens = meter.tokens
    row = dict(zip(COUNTS, (meter.calls, tokens.prompt, tokens.reply), strict=True))
    if entry.price is None:
        return row | {"remark": "no price in params.yaml"}
    price = tokens.price(entry.price)
    over = entry.budget is not None and price > entry.budget
    remark = "above the budget" if over else ""
    return row | {"USD": price, "budget": entry.budget, "remark": remark}


def text(table: pd.DataFrame) -> str:
    """The estimate as a table for the terminal, with the sum."""
    if table.empty:
        return "no model of `engine: openai` is asked anything"
    shown = table.assign(
        USD=table["USD"].map("{:.2f}".format, na_action="ignore"),
        budget=table["budget"].map("{:.2f}".format, na_action="ignore"),
    )
    body = (
        shown.astype(object)
        .where(shown.notna(), "")
        .to_markdown(index=False, tablefmt="simple", disable_numparse=True)
    )
    return f"{body}\n\nat most ${table['USD'].sum():.2f} in all for what is priced"
