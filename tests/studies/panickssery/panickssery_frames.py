"""The frames of the metrics notebook of Panickssery et al., and verdicts written by hand."""

from types import SimpleNamespace

from study_frames import metrics_of

from selfpref import tables
from selfpref.formats.datasets import written
from selfpref.params.studies import Bootstrap, Panickssery
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.pairs import confidences
from selfpref.studies.panickssery.read.articles import article_items

BOOTSTRAP = ClusterBootstrap(200, seed=1)
NOBODY = {key: {} for key in ("datasets", "respond", "finetune", "recognise")}
PARAMS = SimpleNamespace(
    profile="recorded",
    seed=1,
    bootstrap=Bootstrap(resamples=200, level=0.95, method="percentile"),
    figures=["svg"],
    panickssery=Panickssery(**NOBODY, min_mass=0.0, unusable=0.05),
)
WHO = evaluators.from_names(["me", "set_2_ft_me"])


def frames_of(folder, found, params=PARAMS):
    """The frames of tables, in a folder that is taken for the repository."""

    def read(study, profile, name, columns):
        whole = tables.validate(found.get(name, tables.empty(name)), name, "here")
        return tables.lean(whole, name, "here")[columns]

    return metrics_of("panickssery", folder, params, tables__parts__StudyTables__read=read)


def items(count=4):
    return article_items("set", [f"set/{number}" for number in range(count)], [""] * count)


def summarised(texts):
    """Two articles, and these texts of both by who wrote them."""
    found = article_items("news", ["news/1", "news/2"], ["article 1", "article 2"])
    said = [(item, *said) for item in found["item_id"] for said in texts.items()]
    return found, written(said, "panickssery")


def verdict(first, second, pair, item=0, **more):
    """One answer: probabilities of the text read first and second, the larger one chosen."""
    row = {
        "study": "panickssery",
        "item_id": f"set/{item}",
        "judge": "me",
        "task": "preference",
        "variant": "plain",
        "candidates": [first, second],
        "probabilities": pair,
        "mass": pair and sum(pair),
        "status": "ok",
    }
    if pair is not None:
        row["choice"] = "tie" if pair[0] == pair[1] else [first, second][pair[0] < pair[1]]
    return row | more


def both(own_first, own_second, other="other", **more):
    """Both orders of one pair; probabilities in presented order."""
    orders = (("me", other, own_first), (other, "me", own_second))
    return [verdict(*order, **more) for order in orders]


def paired(*rows, who=WHO, min_mass=0.0, count=4):
    found = tables.fill([row for part in rows for row in part], "verdicts")
    found = tables.validate(found, "verdicts", "here")
    return confidences(found, items(count), who, min_mass)
