"""Every reader that the parameters know is there; a stage makes every model of its entry."""

import typing

from conftest import STAGED, pin, refused, xu_files

from selfpref.params import TASKS, Articles, Dataset, LabPrompts, Sentences, load
from selfpref.studies import registry

PARAMS = load(STAGED / "params.yaml")


def test_every_study_and_reader_is_registered():
    fields = [one.model_fields["reader"] for one in (Articles, Dataset, LabPrompts, Sentences)]
    known = {name for field in fields for name in typing.get_args(field.annotation)}
    assert set().union(registry.FILES, *registry.READERS.values()) == known
    assert {*registry.READERS} == {*registry.STUDIES} == {*registry.STAGES} == {*TASKS}


def test_only_a_reader_of_the_study_with_its_source_fills_its_tables(repository, monkeypatch):
    def read(reader):
        entry = Dataset(reader=reader, source="a.csv")
        section = PARAMS.xu.model_copy(update={"datasets": {"own": entry}})
        return registry.read(PARAMS.model_copy(update={"xu": section}), "xu", "own")

    told = {"mt-bench": r"own\.reader: the readers of xu are xu,"}
    for reader, wrong in (told | {"xu": r"xu\.datasets\.own\.source: a\.csv is not"}).items():
        with refused(match=wrong):
            read(reader)
    pin(repository, "owner/name", xu_files(), repository / "a.csv")
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(repository))
    studies = {name: {*rows["study"]} for name, rows in read("xu").items()}
    assert studies == {name: {"xu"} for name in registry.STUDIES["xu"].filled}


def test_each_model_of_an_entry_stands_alone():
    found = registry._of_members(PARAMS, "wataoka", "judge", "judges")
    assert [name for name, _ in found] == PARAMS.models["judges"].names
    for name, part in found:
        assert part.wataoka.judge == {name: PARAMS.wataoka.judge["judges"]}
        assert part.models[name].model == f"data/lab/models/{{dataset}}/{name}"
        assert part.wataoka.perplexity == PARAMS.wataoka.perplexity
    # Tuned evaluators are made of their entry whole.
    for task in registry.OF_ENTRIES:
        ((key, part),) = registry._of_members(PARAMS, "panickssery", task, "readers")
        assert (key, part.panickssery) == ("readers", PARAMS.panickssery)


def test_the_external_judge_of_a_group_is_its_first_other_model():
    found = registry._of_members(PARAMS, "xu", "refine", "translators")
    external = {name: part.xu.refine[name].external for name, part in found}
    assert external == {"fair": "small", "small": "fair", "partial": "fair"}
    # An entry that names itself, of one model, has nobody else.
    ((name, part),) = registry._of_members(PARAMS, "xu", "refine", "solver")
    assert part.xu.refine[name].external == "solver"
