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
from selfpref.studies.xu.items import from_table
from selfpref.studies.xu.read import requests

datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")

YORUBA = Sentences(
    reader="flores", source="flores.csv", code="yor_Latn", language="Yoruba", first=2
)


def flores_row(number, code, text):
    """One row of openlanguagedata/flores_plus, with every column of the real set."""
    iso, script = code.split("_")
    return {
        "id": number,
        "iso_639_3": iso,
        "iso_15924": script,
        "glottocode": "yoru1245",
        "text": text,
        "url": "https://en.wikinews.org/wiki/Page",
        "domain": "wikinews",
        "topic": "science",
        "has_image": "no",
        "has_hyperlink": "no",
        "last_updated": "1.0",
    }


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A hub that has configurations, as folders of this machine; each source pins one set."""

    def serve(name, split, configurations):
        folder = tmp_path / "hub" / name
        for configuration, rows in configurations.items():
            (folder / configuration).mkdir(parents=True)
            (folder / configuration / f"{split}.jsonl").write_text(lines(*rows))
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
    return {name: tables.validate(table, name, name) for name, table in found.items()}


def test_a_sentence_and_its_translation_have_one_id(served):
    # The languages list their sentences in different orders.
    source = served(
        "flores",
        "devtest",
        {
            "yor_Latn": [flores_row(n, "yor_Latn", f"gbolohun {n}") for n in (2, 0, 1)],
            "eng_Latn": [flores_row(n, "eng_Latn", f"sentence {n}") for n in (0, 1, 2)],
        },
    )
    found = read(YORUBA, source, "yor-en")
    items = from_table(found["items"])
    assert [item.item_id for item in items] == ["yor-en/1", "yor-en/2"]
    assert [(item.request, item.reference) for item in items] == [
        ("gbolohun 0", "sentence 0"),
        ("gbolohun 1", "sentence 1"),
    ]
    assert [item.cluster for item in items] == ["flores/0", "flores/1"]
    assert {(item.task, item.language, item.target) for item in items} == {
        ("mqm", "Yoruba", "English")
    }
    assert not any(item.oracle for item in items)


def test_languages_that_do_not_fit_together_are_refused(served):
    source = served(
        "flores",
        "devtest",
        {
            "yor_Latn": [flores_row(n, "yor_Latn", "x") for n in (0, 1)],
            "eng_Latn": [flores_row(n, "eng_Latn", "y") for n in (1, 2)],
        },
    )
    with pytest.raises(SelfprefError, match="yor_Latn and eng_Latn have different sentences"):
        read(YORUBA, source)


def test_a_gated_set_says_what_to_do(tmp_path, monkeypatch):
    def gated(*_, **__):
        raise datasets.exceptions.DatasetNotFoundError(
            "Dataset 'openlanguagedata/flores_plus' is a gated dataset on the Hub."
        )

    monkeypatch.setattr(datasets, "load_dataset", gated)
    source = tmp_path / "flores.csv"
    pinned = f"openlanguagedata/flores_plus,{'0' * 40},devtest"
    source.write_text(f"repository,revision,split\n{pinned}\n")
    with pytest.raises(SelfprefError, match="accept the terms on") as raised:
        read(YORUBA, source)
    assert "HF_TOKEN" in str(raised.value)


def test_the_answer_of_a_problem_is_its_last_box(served):
    def rows(subject):
        return [
            {
                "problem": f"{subject} {n}?",
                "level": "Level 1",
                "type": subject,
                "solution": rf"Not \boxed{{0}}, but \boxed{{\frac{{{n}}}{{2}}}}.",
            }
            for n in (1, 3)
        ]

    sets = {subject: rows(subject) for subject in requests.SUBJECTS}
    sets["algebra"][1]["solution"] = "The proof is left to the reader."
    source = served("math", "test", sets)
    found = read(Problems(reader="math", source="math.csv"), source, "math")
    items = from_table(found["items"].sort_values("item_id", key=_number))
    assert [item.request for item in items][:2] == ["algebra 1?", "counting_and_probability 1?"]
    assert items[0].reference == r"\frac{1}{2}"
    assert len(items) == 13
    assert found["audit"][["finding", "affected"]].values.tolist() == [
        ["left out: no answer in a box", 1]
    ]
    with pytest.raises(
        SelfprefError, match=r"14 asked for, 13 there; lower xu.datasets.math.first"
    ):
        read(Problems(reader="math", source="math.csv", first=14), source, "math")


def _number(column):
    return column.str.rpartition("/")[2].astype(int)


def test_concepts_come_from_the_pinned_release(tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    body = lines({"concepts": ["dog", "frisbee"]}, {"concepts": ["lake"]}, {"concepts": ["x"]})
    source = pin(
        tmp_path / "mirror", "owner/release", {"srcs/c.jsonl": body}, tmp_path / "commongen.csv"
    )
    entry = Problems(reader="commongen-hard", source="commongen.csv", first=2)
    items = from_table(read(entry, source, "commongen")["items"])
    assert [(item.item_id, item.concepts) for item in items] == [
        ("commongen/1", ("dog", "frisbee")),
        ("commongen/2", ("lake",)),
    ]
    assert items[0].request == "dog, frisbee"


def test_the_laboratory_draws_its_own(tmp_path):
    draw = partial(LabRequests, reader="lab", source="lab", translations=3, concepts=2, sums=1)
    first, again, other = (
        read(draw(seed=seed), None)["items"].set_index("item_id") for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(first, again)
    assert sorted(first.index) == ["coverage/1", "coverage/2", "lab-en/1", "lab-en/2", "lab-en/3",
                                   "math/1"]  # fmt: skip
    assert first.loc["lab-en/1", "reference"] != other.loc["lab-en/1", "reference"]
    assert json.loads(first.loc["lab-en/1", "metadata"])["oracle"] is True
    with pytest.raises(
        SelfprefError, match=r"xu.datasets: 9999 of the task correctness.*lower sums"
    ):
        read(draw(seed=0, sums=9999), None)


def test_the_pinned_sets_are_whole_commits():
    for name in ("flores", "math"):
        source = pd.read_csv(f"{requests.__file__.rpartition('/')[0]}/{name}.csv")
        assert list(source.columns) == hub.PINNED
        assert source["revision"].str.fullmatch("[0-9a-f]{40}").all()
