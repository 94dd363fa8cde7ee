"""Requests from data sets, on small files of the same schema that are written here."""

import json
from functools import partial

import pandas as pd
import pytest
from conftest import lines, pin

from selfpref import tables
from selfpref.download import hub
from selfpref.errors import SelfprefError
from selfpref.params import LabRequests, Problems, Sentences
from selfpref.studies.xu.items import Item, from_table, to_table
from selfpref.studies.xu.read import requests

datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")

SENTENCES = partial(Sentences, reader="flores", source="f.csv", code="yor_Latn", language="Yoruba")
PROBLEMS = partial(Problems, reader="math", source="math.csv")


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A hub that has configurations, as folders of this machine; a source pins one set."""

    def serve(name, split, configurations):
        for configuration, rows in configurations.items():
            folder = tmp_path / "hub" / name / configuration
            folder.mkdir(parents=True)
            (folder / f"{split}.jsonl").write_text(lines(*rows))
        source = tmp_path / f"{name}.csv"
        source.write_text(f"repository,revision,split\nowner/{name},{'0' * 40},{split}\n")
        return source

    load = datasets.load_dataset

    def local(repository, configuration, *, revision, split, cache_dir):
        assert revision == "0" * 40
        folder = tmp_path / "hub" / repository.partition("/")[2] / configuration
        files = {split: str(folder / f"{split}.jsonl")}
        return load("json", data_files=files, split=split, cache_dir=cache_dir)

    monkeypatch.setattr(datasets, "load_dataset", local)
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
    items, _ = read(SENTENCES(first=2), served("flores", "devtest", parts), "yor-en")
    texts = [
        ("yor-en/1", "gbolohun 0", "sentence 0", 0),
        ("yor-en/2", "gbolohun 1", "sentence 1", 1),
    ]
    assert items == [
        Item(name, "mqm", one, two, "Yoruba", "English", cluster=f"flores/{n}")
        for name, one, two, n in texts
    ]
    parts = {"yor_Latn": flores("x", 0, 1), "eng_Latn": flores("y", 1, 2)}
    with pytest.raises(SelfprefError, match="yor_Latn and eng_Latn have different sentences"):
        read(SENTENCES(), served("others", "devtest", parts))


def test_a_gated_set_says_what_to_do(tmp_path, monkeypatch):
    def gated(*_, **__):
        raise datasets.exceptions.DatasetNotFoundError("'x/y' is a gated dataset on the Hub.")

    monkeypatch.setattr(datasets, "load_dataset", gated)
    source = tmp_path / "flores.csv"
    source.write_text(f"repository,revision,split\nx/y,{'0' * 40},devtest\n")
    with pytest.raises(SelfprefError, match=r"(?s)accept the terms on.*HF_TOKEN"):
        read(SENTENCES(), source)


def test_the_answer_of_a_problem_is_its_last_box(served):
    solution = r"Not \boxed{{0}}, but \boxed{{\frac{{{}}}{{2}}}}."
    sets = {
        name: [{"problem": f"{name} {n}?", "solution": solution.format(n)} for n in (1, 3)]
        for name in requests.SUBJECTS
    }
    sets["algebra"][1]["solution"] = "The proof is left to the reader."
    source = served("math", "test", sets)
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
    assert items == [
        Item(
            "commongen/1",
            "coverage",
            "dog, frisbee",
            None,
            "",
            "",
            ("dog", "frisbee"),
            False,
            "commongen/1",
        ),
        Item("commongen/2", "coverage", "lake", None, "", "", ("lake",), False, "commongen/2"),
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
