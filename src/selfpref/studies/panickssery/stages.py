"""The stages of the Panickssery study: articles, summaries, tuned judges, and their answers.

Only articles beyond those set aside for tuning (`articles.<set>.train`) are judged, by every
judge, the untuned ones included: all are compared on the same articles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from selfpref import paths, progress, tables
from selfpref.ask.responding import respond, tallied
from selfpref.errors import SelfprefError
from selfpref.files import atomic
from selfpref.lab.summaries import articles as lab
from selfpref.models import Engine
from selfpref.models import open as models
from selfpref.models.calls import Model
from selfpref.params import Finetune, Params, Verdicts
from selfpref.prompts.summaries import SUMMARY_LAYOUTS, SummaryLayout
from selfpref.seeds import seed_of
from selfpref.studies.panickssery import STUDY
from selfpref.studies.panickssery.finetune.examples import Labelled, chat_lines, labelled, replayed
from selfpref.studies.panickssery.read import articles as news
from selfpref.studies.panickssery.recognition import (
    OrderedPair,
    index,
    ordered_pairs,
    ratings,
    verdicts,
)


def articles(params: Params, dataset: str) -> dict[str, pd.DataFrame]:
    """One data set: its articles with the person's summaries.

    Args:
        params: The stage's parameters.
        dataset: A key of `articles`.

    Returns:
        items, responses, truths and audit.

    Raises:
        SelfprefError: The set is not to be had, or has too few articles.
    """
    entry = params.articles[dataset]
    if entry.reader == "lab":
        drawn = lab.draw_articles(dataset, entry.articles, entry.seed)
        found = lab.tables(STUDY.name, dataset, drawn, entry.seed)
    else:
        assert entry.source is not None, "every set of the Hub is pinned"
        source = paths.root() / entry.source
        found = news.read(dataset, entry, source)
    return {
        name: found.get(name, tables.empty(name))
        for name in ("items", "responses", "truths", "audit")
    }


def summaries(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Every article summarised by one model.

    Args:
        params: The stage's parameters.
        model: A key of `summarise`.
        open_model: Opens the model for a data set.

    Returns:
        The responses table; the truths table; and for each data set, how many articles have no
        summary, by reason, and how many summaries were cut off at their limit.
    """
    use, made, true, counts = params.summarise[model], [], [], {}
    for dataset, entry in params.articles.items():
        items = tables.read(params.profile, "items", STUDY.name, [dataset])
        with open_model(params, model, dataset, f"summarise {model} {dataset}") as asked:
            table, counts[dataset] = respond(
                items,
                model,
                asked,
                SUMMARY_LAYOUTS[use.prompts].forms[entry.reader].respond,
                use,
                seed=params.seed,
            )
        table = table.assign(text=[news.clean(text, entry.reader) for text in table["text"]])
        made.append(table)
        if entry.reader == "lab":
            true.append(lab.truths(items, table))
    return (
        tables.together("responses", made),
        pd.concat(true, ignore_index=True) if true else tables.empty("truths"),
        tallied(counts),
    )


def answers(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One model asked about its own and others' summaries.

    Args:
        params: The stage's parameters.
        model: A key of `recognise`.
        open_model: Opens the model.

    Returns:
        The verdicts and the ratings table.
    """
    use = params.recognise[model]
    judged = _judged(params, use.own or model)
    with open_model(params, model, "", f"recognise {model}") as asked:
        return judged.by(model, asked, SUMMARY_LAYOUTS[use.prompts], use, params.seed)


@dataclass(frozen=True)
class _Judged:
    """What judges of one family are asked about.

    Attributes:
        items: The articles that are judged.
        responses: All summaries.
        pairs: The family's summaries beside the others.
    """

    items: pd.DataFrame
    responses: pd.DataFrame
    pairs: list[OrderedPair]

    def by(
        self, evaluator: str, model: Model, layout: SummaryLayout, use: Verdicts, seed: int
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The verdicts and the ratings of one judge."""
        return (
            verdicts(self.pairs, evaluator, model, layout, use, seed=seed),
            ratings(self.items, self.responses, evaluator, model, layout, use, seed=seed),
        )


def _judged(params: Params, own: str) -> _Judged:
    items, responses = STUDY.read(params, "items"), STUDY.read(params, "responses")
    first = {dataset: entry.train for dataset, entry in params.articles.items()}
    starts = items["item_id"].str.replace(r"/.*", "", regex=True).map(first)
    items = items[items["metadata"].map(index) >= starts]
    pairs = ordered_pairs(items, responses, own)
    if not pairs:
        raise SelfprefError(f"no summaries of {own!r} beside others'; add it to `summarise`")
    return _Judged(items, responses, pairs)


def tuned_answers(params: Params, key: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every judge of an entry of `finetune` asked about its base's and others' summaries.

    Args:
        params: The stage's parameters.
        key: A key of `finetune`.

    Returns:
        The verdicts and the ratings table; without rows where the entry only exports examples.
    """
    use = params.finetune[key]
    if use.method == "export":
        return tables.empty("verdicts"), tables.empty("ratings")
    base, judged, made = params.models[use.model], _judged(params, use.model), []
    layout, read = SUMMARY_LAYOUTS[use.prompts], Verdicts(min_mass=use.min_mass)
    for name in use.evaluators:
        folder = paths.finetuned_dir(params.profile, key) / f"{key}-{name}"
        place = str(folder.relative_to(paths.root()))
        entry = base.model_copy(update={"model": place, "revision": None})
        with models.open_entry(params, use.model, entry, "", f"recognise {folder.name}") as (
            _,
            asked,
        ):
            made.append(judged.by(folder.name, asked, layout, read, params.seed))
    answered, rated = zip(*made, strict=True)
    return tables.together("verdicts", answered), tables.together("ratings", rated)


def examples(
    params: Params, key: str, open_model: models.OpenModel = models.open_model
) -> dict[str, tuple[list[Labelled], list[Labelled]]]:
    """What the judges of an entry are tuned on.

    Args:
        params: The stage's parameters.
        key: A key of `finetune`.
        open_model: Opens the base, which is asked for the answers that are replayed.

    Returns:
        For each judge what it learns, and what is replayed.
    """
    use = params.finetune[key]
    items, responses = STUDY.read(params, "items"), STUDY.read(params, "responses")
    layout, made = SUMMARY_LAYOUTS[use.prompts], {}
    with open_model(params, use.model, "", "") as asked:
        for name, tuning in use.evaluators.items():
            chosen = items["item_id"].str.startswith(f"{tuning.on}/") & (
                items["metadata"].map(index) < tuning.articles
            )
            pairs = ordered_pairs(items[chosen], responses, use.model)
            learned = labelled(pairs, use.model, tuning.variant, layout, params.seed)
            again = round(len(learned) * tuning.replay / (1 - tuning.replay))
            made[name] = (learned, replayed(pairs, layout, again, asked.ask, params.seed))
    return made


def finetune(params: Params, key: str) -> pd.DataFrame:
    """Tune every judge of an entry, and write its examples as chat JSONL beside it.

    Args:
        params: The stage's parameters.
        key: A key of `finetune`.

    Returns:
        One row a judge: `evaluator, variant, on, articles, examples, replayed`, the loss of
        its first and last steps in nats (NaN where nothing is tuned).
    """
    use, folder = params.finetune[key], paths.finetuned_dir(params.profile, key)
    folder.mkdir(parents=True, exist_ok=True)
    made, rows = examples(params, key), []
    with progress.bar(len(use.evaluators), f"finetune {key}") as bar:
        for name, tuning in use.evaluators.items():
            evaluator, (learned, again) = f"{key}-{name}", made[name]
            (folder / f"{evaluator}.jsonl").write_text(
                chat_lines([*learned, *again]), encoding="utf-8"
            )
            losses = [float("nan")]
            if use.method != "export":
                seed = seed_of(params.seed, evaluator)
                base = params.models[use.model]
                with models.open_entry(params, use.model, base, "", "") as (engine, _):
                    losses = _tune(engine, [*learned, *again], use, seed, folder / evaluator)
            rows.append(
                {
                    "evaluator": evaluator,
                    "variant": tuning.variant,
                    "on": tuning.on,
                    "articles": tuning.articles,
                    "examples": len(learned),
                    "replayed": len(again),
                    "first loss": sum(losses[:3]) / len(losses[:3]),
                    "last loss": sum(losses[-3:]) / len(losses[-3:]),
                }
            )
            bar.update()
    return pd.DataFrame(rows)


def _tune(
    engine: Engine, examples: Sequence[Labelled], use: Finetune, seed: int, folder: Path
) -> list[float]:
    """Tune a model, and put it into its folder once it is whole."""
    # torch is loaded only where a model is tuned.
    from selfpref.models.local import LocalModel  # noqa: PLC0415
    from selfpref.studies.panickssery.finetune.training import Settings, tune  # noqa: PLC0415

    assert use.method != "export"
    assert isinstance(engine, LocalModel)
    settings = Settings(use.method, use.rate, use.epochs, use.batch, use.rank, use.alpha)
    with atomic(folder) as scratch:
        return tune(engine, examples, settings, seed, scratch)


# Tuning asks for what is replayed alone.
STAGES = {"summarise": summaries, "recognise": answers, "finetune": examples}
