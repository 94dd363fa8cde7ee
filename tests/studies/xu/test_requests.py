"""Requests from data sets, on small files of the same schema that are written here."""

from functools import partial

import pytest
from conftest import REPOSITORY, lines
from study_frames import released

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.params import Dataset, LabRequests, Sentences
from selfpref.studies.xu.items import Item, from_table
from selfpref.studies.xu.read import requests

datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")
PROBLEMS = partial(Dataset, source="pinned.csv")


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


def test_a_sentence_and_its_translation_have_one_id(served):
    # The languages list their sentences in different orders.
    parts = {
        "yor_Latn": [{"id": n, "text": f"gbolohun {n}"} for n in (2, 0, 1)],
        "eng_Latn": [{"id": n, "text": f"one {n}"} for n in range(3)],
    }
    entry = Sentences(reader="flores", source="f.csv", code="yor_Latn", language="Yoruba", first=2)
    first, second = read(entry, served(parts), "yor-en")[0]
    named = ("gbolohun 0", "one 0", "Yoruba", "English")
    assert first == Item("yor-en/1", "mqm", *named, cluster="flores/0")
    assert (second.reference, second.cluster) == ("one 1", "flores/1")


def test_the_answer_of_a_problem_is_its_last_box(served):
    row = {"problem": "1/4 + 1/4?", "solution": r"Not \boxed{0}, but \boxed{\frac{1}{2}}."}
    sets = {name: [row] for name in requests.SUBJECTS}
    sets["algebra"] = [{"problem": "?", "solution": "The proof is left to the reader."}]
    entry, source = PROBLEMS(reader="math"), served(sets)
    items, audit = read(entry, source, "math")
    assert len(items) == 6
    assert items[0] == Item("math/1", "correctness", "1/4 + 1/4?", r"\frac{1}{2}", cluster="math/1")
    left_out = audit[["finding", "rows", "affected"]].values.tolist()
    assert left_out == [["left out: no answer in a box", 6, 1]]
    with pytest.raises(SelfprefError, match=r"7 asked for, 6 there; lower xu.datasets.math"):
        read(entry.model_copy(update={"first": 7}), source, "math")


def test_concepts_come_from_the_pinned_release(tmp_path):
    body = lines({"concepts": ["dog", "frisbee"]}, {"concepts": ["lake"]})
    files, asked = {"srcs/c.jsonl": body}, ("xu", "commongen-hard")
    items = from_table(released(tmp_path, requests.read, files, *asked)["items"])
    two = Item("set/1", "coverage", "dog, frisbee", concepts=("dog", "frisbee"), cluster="set/1")
    assert items == [two, Item("set/2", "coverage", "lake", concepts=("lake",), cluster="set/2")]


def test_the_laboratory_draws_its_own():
    draw = partial(LabRequests, reader="lab", source="lab", translations=3, concepts=2, sums=1)
    first, again, other = [read(draw(seed=seed), None)[0] for seed in (0, 0, 1)]
    assert first == again != other
    wanted = dict.fromkeys(("lab-en/1", "lab-en/2", "lab-en/3"), True)
    wanted |= dict.fromkeys(("coverage/1", "coverage/2", "math/1"), False)
    assert {item.item_id: item.oracle for item in first} == wanted


SUM = {"request": "1 + 1?", "reference": "2"}


def test_a_users_own_requests_are_of_the_task_that_their_keys_tell(tmp_path):
    path, entry = tmp_path / "mine.jsonl", PROBLEMS(reader="requests")
    text = {"request": "Bonjour.", "reference": "Hello.", "language": "French", "target": "English"}
    path.write_text(lines(text, {"concepts": ["dog", "frisbee"]}, SUM))
    assert read(entry, path)[0] == [
        Item("key/1", "mqm", **text, cluster="key/1"),
        Item("key/2", "coverage", "dog, frisbee", concepts=("dog", "frisbee"), cluster="key/2"),
        Item("key/3", "correctness", **SUM, cluster="key/3"),
    ]
    # The file that ships is read.
    shipped = REPOSITORY / "profiles/examples/requests.jsonl"
    assert [item.task for item in read(entry, shipped)[0]] == ["mqm"] * 3 + ["correctness"] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        SUM | {"reference": 2},
        SUM | {"request": " "},
        SUM | {"concepts": ["dog"]},
        {"concepts": "dog"},
    ],
)
def test_a_request_that_lacks_something_is_named_by_its_line(tmp_path, wrong):
    path = tmp_path / "mine.jsonl"
    path.write_text(lines(SUM, wrong))
    with pytest.raises(SelfprefError, match=r"mine\.jsonl, line 2: give texts as request"):
        read(PROBLEMS(reader="requests"), path)
