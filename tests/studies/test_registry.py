"""Every reader that the parameters know is there; a stage makes every model of its entry."""

import typing

import pytest
from conftest import STAGED

from selfpref.errors import SelfprefError
from selfpref.params import TASKS, Articles, Dataset, LabPrompts, Sentences, load
from selfpref.studies import registry

PARAMS = load(STAGED / "params.yaml")


def test_every_study_and_reader_is_registered():
    known = {
        name
        for entry in (Articles, Dataset, LabPrompts, Sentences)
        for name in typing.get_args(entry.model_fields["reader"].annotation)
    }
    assert set().union(registry.FILES, *registry.READERS.values()) == known
    lists = (registry.READERS, registry.STUDIES, registry.STAGES)
    assert all({*names} == {*TASKS} for names in lists)


def test_another_studys_reader_and_a_lost_source_are_refused():
    told = {"mt-bench": r"own\.reader: the readers of xu are xu,"}
    for reader, wrong in (told | {"xu": r"xu\.datasets\.own\.source: a\.csv is not"}).items():
        entry = Dataset(reader=reader, source="a.csv")
        section = PARAMS.xu.model_copy(update={"datasets": {"own": entry}})
        with pytest.raises(SelfprefError, match=wrong):
            registry.read(PARAMS.model_copy(update={"xu": section}), "xu", "own")


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
