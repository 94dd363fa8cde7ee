"""Requests from data sets, on small files of the same schema that are written here."""

import json
from functools import partial

import pandas as pd
import pytest
from conftest import REPOSITORY, lines, pin

from selfpref import tables
from selfpref.download import hub
from selfpref.errors import SelfprefError
from selfpref.params import Dataset, LabRequests, Sentences
from selfpref.studies.xu.items import Item, from_table, to_table
from selfpref.studies.xu.read import requests

datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")

SENTENCES = partial(Sentences, reader="flores", source="f.csv", code="yor_Latn", language="Yoruba")
PROBLEMS = partial(Dataset, reader="math", source="math.csv")


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A set of a hub by its configurations, and the file that pins it."""

    def serve(configurations):
        def load(repository, configuration, *, revision, split, cache_dir):
            assert (repository, revision, split) == ("owner/set", "0" * 40, "test")
            return datasets.Dataset.from_list(configurations[configuration])

        monkeypatch.setattr(datasets, "load_dataset", load)
        (tmp_path / "set.csv").write_text(f"repository,revision,split\nowner/set,{'0' * 40},test\n")
        return tmp_path / "set.csv"

    return serve


def read(entry, source, key="key"):
    found = requests.read(key, entry, source)
    found = {name: tables.validate(table, name, name) for name, table in found.items()}
    return from_table(found["items"]), found["audit"]


def flores(texts, *numbers):
    return [{"id": n, "text": f"{texts} {n}", "domain": "wikinews"} for n in numbers]


def test_a_sentence_and_its_translation_have_one_id(served):
    # The languages list their sentences in different orders.
    parts = {"yor_Latn": flores("gbolohun", 2, 0, 1), "eng_Latn": flores("sentence", 0, 1, 2)}
    items, _ = read(SENTENCES(first=2), served(parts), "yor-en")
    more = {"task": "mqm", "language": "Yoruba", "target": "English"}
    assert items == [
        Item(
            f"yor-en/{n + 1}",
            request=f"gbolohun {n}",
            reference=f"sentence {n}",
            cluster=f"flores/{n}",
            **more,
        )
        for n in (0, 1)
    ]
    parts = {"yor_Latn": flores("x", 0, 1), "eng_Latn": flores("y", 1, 2)}
    with pytest.raises(SelfprefError, match="yor_Latn and eng_Latn have different sentences"):
        read(SENTENCES(), served(parts))


def test_the_answer_of_a_problem_is_its_last_box(served):
    solution = r"Not \boxed{{0}}, but \boxed{{\frac{{{}}}{{2}}}}."
    sets = {
        name: [{"problem": f"{name} {n}?", "solution": solution.format(n)} for n in (1, 3)]
        for name in requests.SUBJECTS
    }
    sets["algebra"][1]["solution"] = "The proof is left to the reader."
    source = served(sets)
    items, audit = read(PROBLEMS(), source, "math")
    assert len(items) == 13
    by = {item.item_id: (item.task, item.request, item.reference) for item in items}
    assert by["math/1"] == ("correctness", "algebra 1?", r"\frac{1}{2}")
    assert by["math/3"] == ("correctness", "counting_and_probability 3?", r"\frac{3}{2}")
    left_out = audit[["finding", "rows", "affected"]].values.tolist()
    assert left_out == [["left out: no answer in a box", 13, 1]]
    told = r"14 asked for, 13 there; lower xu.datasets.math.first"
    with pytest.raises(SelfprefError, match=told):
        read(PROBLEMS(first=14), source, "math")
    assert len(read(PROBLEMS(first=13), source, "math")[0]) == 13


def test_concepts_come_from_the_pinned_release(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(mirror))
    body = lines(*({"concepts": held} for held in (["dog", "frisbee"], ["lake"], ["x"])))
    source = pin(mirror, "owner/release", {"srcs/c.jsonl": body}, tmp_path / "commongen.csv")
    items, _ = read(PROBLEMS(reader="commongen-hard", first=2), source, "commongen")
    words = (("commongen/1", ("dog", "frisbee")), ("commongen/2", ("lake",)))
    assert items == [
        Item(name, "coverage", ", ".join(held), concepts=held, cluster=name) for name, held in words
    ]


def test_the_laboratory_draws_its_own():
    draw = partial(LabRequests, reader="lab", source="lab", translations=3, concepts=2, sums=1)
    drawn = [read(draw(seed=seed), None)[0] for seed in (0, 0, 1)]
    first, again, other = ({item.item_id: item for item in items} for items in drawn)
    assert first == again
    assert first["lab-en/1"].reference != other["lab-en/1"].reference
    wanted = dict.fromkeys(("lab-en/1", "lab-en/2", "lab-en/3"), True)
    wanted |= dict.fromkeys(("coverage/1", "coverage/2", "math/1"), False)
    assert {name: item.oracle for name, item in first.items()} == wanted
    told = r"xu.datasets: 9999 of the task correctness.*lower sums"
    with pytest.raises(SelfprefError, match=told):
        read(draw(seed=0, sums=9999), None)


def test_an_item_without_a_task_is_named():
    table = to_table("xu", [Item("yor-en/1", "mqm", "x")])
    assert table["category"].tolist() == ["translation"]
    with pytest.raises(SelfprefError, match=r"yor-en/1.*'chess'"):
        from_table(table.assign(metadata=json.dumps({"task": "chess"})))


def test_the_pinned_sets_are_whole_commits():
    for name in ("flores", "math"):
        source = pd.read_csv(f"{requests.__file__.rpartition('/')[0]}/{name}.csv")
        assert list(source.columns) == hub.PINNED
        assert source["revision"].str.fullmatch("[0-9a-f]{40}").all()


TRANSLATION = {"request": "Bonjour.", "reference": "Hello.", "language": "French"}
TRANSLATION |= {"target": "English"}


def test_a_users_own_requests_are_of_the_task_that_their_keys_tell(tmp_path):
    path = tmp_path / "mine.jsonl"
    sum_, words = {"request": "1 + 1?", "reference": "2"}, {"concepts": ["dog", "frisbee"]}
    path.write_text(lines(TRANSLATION, words, sum_))
    entry = Dataset(reader="requests", source="mine.jsonl")
    items, _ = read(entry, path, "mine")
    assert items == [
        Item("mine/1", "mqm", "Bonjour.", "Hello.", "French", "English", cluster="mine/1"),
        Item(
            "mine/2",
            "coverage",
            "dog, frisbee",
            concepts=("dog", "frisbee"),
            cluster="mine/2",
        ),
        Item("mine/3", "correctness", "1 + 1?", "2", cluster="mine/3"),
    ]
    assert len(read(entry.model_copy(update={"first": 2}), path)[0]) == 2
    # The file that ships is read.
    shipped = REPOSITORY / "profiles/examples/requests.jsonl"
    assert [item.task for item in read(entry, shipped)[0]] == ["mqm"] * 3 + ["correctness"] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"request": "1 + 1?"},
        {"request": "1 + 1?", "reference": 2},
        {"request": " ", "reference": "2"},
        {"concepts": "dog"},
        {"concepts": ["dog", 1]},
        {"concepts": ["dog"], "request": "?"},
        {**TRANSLATION, "target": ""},
    ],
)
def test_a_request_that_lacks_something_is_named_by_its_line(tmp_path, wrong):
    path = tmp_path / "mine.jsonl"
    path.write_text(lines({"request": "1?", "reference": "1"}, wrong))
    with pytest.raises(SelfprefError, match=r"mine\.jsonl, line 2: give texts as request"):
        read(Dataset(reader="requests", source="mine.jsonl"), path)
