"""The stages of the Panickssery study: articles, summaries, tuned judges, and their answers.

Only articles beyond those set aside for tuning (`articles.<set>.train`) are judged, by every
judge, the untuned ones included: all are compared on the same articles.
"""

from collections.abc import Callable
from functools import partial

import pandas as pd

from selfpref import paths, tables
from selfpref.ask import NO_EXAMPLE, example, tallied
from selfpref.ask import respond as answered
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder, write_text
from selfpref.formats.records import Frames
from selfpref.models import calls as models
from selfpref.models.calls import Model
from selfpref.params import Params, Verdicts
from selfpref.processes import each
from selfpref.prompts.summaries import SUMMARY_LAYOUTS
from selfpref.seeds import seed_of
from selfpref.studies.panickssery import STUDY, lab, recognition
from selfpref.studies.panickssery.finetune import chat_lines, labelled, replayed
from selfpref.studies.panickssery.read import articles as news


def respond(params: Params, model: str, open_model: models.OpenModel) -> Frames:
    """Every article summarised by one model.

    Args:
        params: The stage's parameters.
        model: A model of `panickssery.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, truths, and `dropped`: for each data set how many articles have no summary, by
        reason, and how many summaries were cut off at their limit.
    """
    use, made, true, counts = params.panickssery.respond[model], [], [], {}
    for dataset, entry in params.panickssery.articles.items():
        items = tables.read(params.profile, "items", STUDY.name, [dataset])
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            form = partial(SUMMARY_LAYOUTS[use.prompts].ask, entry.kind)
            table, counts[dataset] = answered(items, model, asked, form, use, seed=params.seed)
        table = table.assign(text=[news.clean(text, entry.kind) for text in table["text"]])
        made.append(table)
        if entry.reader == "lab":
            true.append(lab.truths(items, table))
    return {
        "responses": tables.together("responses", made),
        "truths": tables.together("truths", true),
        "dropped": tallied(counts),
    }


def recognise(params: Params, model: str, open_model: models.OpenModel) -> Frames:
    """One model asked about its own and others' summaries.

    Args:
        params: The stage's parameters.
        model: A model of `panickssery.recognise`.
        open_model: Opens the model.

    Returns:
        verdicts and ratings.
    """
    use = params.panickssery.recognise[model]
    with open_model(params, model, "", f"recognise {model}") as asked:
        return _judged(params, use.own or model, model, asked, use.prompts, use)


def _judged(
    params: Params, own: str, evaluator: str, model: Model, prompts: str, use: Verdicts
) -> Frames:
    """The verdicts and ratings of one judge of the family `own`, on articles not for tuning."""
    items, responses = STUDY.whole(params.profile, ("items", "responses")).values()
    first = {dataset: entry.train for dataset, entry in params.panickssery.articles.items()}
    starts = items["item_id"].str.partition("/")[0].map(first)
    items = items[recognition.article_index(items) >= starts]
    pairs = recognition.ordered_pairs(items, responses, own)
    if not pairs:
        raise SelfprefError(
            f"no summaries of {own!r} beside others'; add it to `panickssery.respond`"
        )
    asked = recognition.Evaluator(evaluator, model, SUMMARY_LAYOUTS[prompts], use, params.seed)
    return {"verdicts": asked.verdicts(pairs), "ratings": asked.ratings(items, responses)}


def recognise_tuned(params: Params, key: str) -> Frames:
    """Every judge of an entry of `finetune` asked about its base's and others' summaries.

    Args:
        params: The stage's parameters.
        key: A key of `panickssery.finetune`.

    Returns:
        verdicts, ratings, and `example`: the first question with its answer; without rows where
        the entry only exports examples.
    """
    export = params.panickssery.finetune[key].method == "export"
    found = each(_recognise_tuned, [] if export else _evaluators(params, key))
    made = {
        name: tables.together(name, [part[name] for part in found])
        for name in ("verdicts", "ratings")
    }
    return made | {"example": found[0]["example"] if found else NO_EXAMPLE}


def _evaluators(params: Params, key: str) -> list[tuple[Params, str, str, str, str]]:
    """For every judge of an entry its name, its base and its key in `evaluators`."""
    use = params.panickssery.finetune[key]
    return [
        (params, key, f"{named}-{name}", base, name)
        for named, base in params.tuned_from(key, use).items()
        for name in use.evaluators
    ]


def _recognise_tuned(params: Params, key: str, evaluator: str, base: str, name: str) -> Frames:
    use = params.panickssery.finetune[key]
    folder = paths.finetuned_dir(params.profile, key) / evaluator
    # The tuned weights, wherever the base's own are.
    tuned = dict.fromkeys(("revision", "gguf", "sha256"))
    tuned |= {"model": str(folder.relative_to(paths.root()))}
    entry, read = params.models[base].model_copy(update=tuned), Verdicts(min_mass=use.min_mass)
    with models.open_model(params, base, "", f"recognise {evaluator}", entry) as asked:
        made = _judged(params, base, evaluator, asked, use.prompts, read)
        return made | {"example": example(asked)}


def finetune(params: Params, key: str) -> Frames:
    """Tune every judge of an entry, and write its examples as chat JSONL beside it.

    Args:
        params: The stage's parameters.
        key: A key of `panickssery.finetune`.

    Returns:
        `tuned`: one row a judge: `evaluator, variant, on, articles, examples, replayed`, the loss
        of its first and last steps in nats (NaN where nothing is tuned).
    """
    paths.finetuned_dir(params.profile, key).mkdir(parents=True, exist_ok=True)
    return {"tuned": pd.DataFrame(each(_finetune, _evaluators(params, key)))}


def _finetune(params: Params, key: str, evaluator: str, base: str, name: str) -> dict[str, object]:
    use, folder = params.panickssery.finetune[key], paths.finetuned_dir(params.profile, key)
    tuning, layout = use.evaluators[name], SUMMARY_LAYOUTS[use.prompts]
    items, responses = STUDY.whole(params.profile, ("items", "responses")).values()
    first = recognition.article_index(items) < tuning.articles
    items = items[items["item_id"].str.startswith(f"{tuning.on}/") & first]
    pairs = recognition.ordered_pairs(items, responses, base)
    learned = labelled(pairs, base, tuning.variant, layout, params.seed)
    n, losses = round(len(learned) * tuning.replay / (1 - tuning.replay)), [float("nan")]
    with models.open_model(params, base, "", "") as asked:
        again = replayed(pairs, layout, n, asked.ask, params.seed)
        write_text(folder / f"{evaluator}.jsonl", chat_lines([*learned, *again]))
        if use.method != "export":
            # torch is loaded only where a model is tuned.
            from selfpref.studies.panickssery.finetune.training import tune  # noqa: PLC0415

            seed = seed_of(params.seed, evaluator)
            with atomic_folder(folder / evaluator) as scratch:
                losses = tune(asked.engine, [*learned, *again], use, seed, scratch)
    return {
        "evaluator": evaluator,
        **tuning.model_dump(include={"variant", "on", "articles"}),
        "examples": len(learned),
        "replayed": len(again),
        "first loss": sum(losses[:3]) / len(losses[:3]),
        "last loss": sum(losses[-3:]) / len(losses[-3:]),
    }


STAGES: dict[str, Callable[..., Frames]] = {
    "respond": respond,
    "recognise": recognise,
    "finetune": finetune,
    "recognise-tuned": recognise_tuned,
}
