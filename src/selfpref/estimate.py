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
from selfpref.params import Hosted, Params, hosted
from selfpref.store import Store, store_path
from selfpref.studies import registry
from selfpref.studies.xu.refine.ceiling import Ceiling

COUNTS = ("calls", "prompt tokens", "reply tokens")
COLUMNS = ("model", "stage", *COUNTS, "USD", "budget", "remark")


def _asked(params: Params, key: str, stage: str) -> str:
    """The model that a stage asks: its key, but for entries of `finetune`, which name it."""
    return str(params.finetune[key].model) if stage == "finetune" else key


def measure(params: Params, key: str, stage: str) -> Meter:
    """What a stage of a served model would ask now.

    Args:
        params: The stage's parameters, or the whole.
        key: The stage's key in its section; the model has `engine: openai`.
        stage: A key of `registry.stages()`.

    Raises:
        SelfprefError: A table that the stage reads is not there yet.
    """
    meter, model = Meter(), _asked(params, key, stage)

    @contextmanager
    def open_meter(_: Params, name: str, __: str, ___: str) -> Iterator[Model]:
        with Store(store_path(paths.root())) as store:
            entry = hosted(params.models[name])
            calls = None
            # A refinement opens its external judge too, which others pay for.
            if entry is not None and name == model:
                calls = Model(HostedModel(name, entry, meter), store, offline=False, title="")
            if stage == "refine":
                yield Ceiling(calls)
            else:
                assert calls is not None
                yield calls

    registry.stages()[stage](params, key, open_meter)
    return meter


def within_budget(params: Params, key: str, stage: str) -> None:
    """Refuse a stage that may cost more than its model's budget.

    Args:
        params: The stage's parameters.
        key: Its key in its section.
        stage: A key of `registry.stages()`.

    Raises:
        SelfprefError: It may; names both sums.
    """
    model = _asked(params, key, stage)
    entry = hosted(params.models[model])
    if entry is None or entry.budget is None or params.offline:
        return
    assert entry.price is not None
    meter = measure(params, key, stage)
    price = meter.tokens.price(entry.price, batch=entry.batch)
    if price > entry.budget:
        raise SelfprefError(
            f"models.{model}.budget: {stage}@{key} may cost ${price:.2f} ({meter.calls} calls), "
            f"the budget is ${entry.budget:.2f}; nothing was asked.\n"
            "Raise the budget, or ask less: `selfpref estimate` shows where it goes"
        )


def estimate(params: Params) -> pd.DataFrame:
    """Calls, tokens and price of every stage that asks a served model.

    Returns:
        One row a model and stage with `COLUMNS`, all null but the remark where a table that the
        stage reads is not there yet; USD is null also where the model has no price.
    """
    rows = []
    for stage in registry.stages():
        for key in getattr(params, stage):
            model = _asked(params, key, stage)
            if entry := hosted(params.models[model]):
                rows.append({"model": model, "stage": stage, **_row(params, key, stage, entry)})
    table = pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(["model", "stage"])
    kinds = dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(("USD", "budget"), "Float64")
    return table.astype(kinds).reset_index(drop=True)


def _row(params: Params, key: str, stage: str, entry: Hosted) -> dict[str, Any]:
    try:
        meter = measure(params, key, stage)
    except SelfprefError as error:
        return {"remark": f"not known yet: {error}"}
    tokens = meter.tokens
    row = dict(zip(COUNTS, (meter.calls, tokens.prompt, tokens.reply), strict=True))
    if entry.price is None:
        return row | {"remark": "no price in params.yaml"}
    price = tokens.price(entry.price, batch=entry.batch)
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
