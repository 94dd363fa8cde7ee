"""Every reader that the parameters know is there; a stage makes every model of its entry."""

import typing

import pytest
from conftest import STAGED

from selfpref.params import TASKS, load
from selfpref.params.data import JUDGMENTS
from selfpref.params.section import Section
from selfpref.params.whole import Params
from selfpref.studies import registry


def entries(study):
    """The kinds of entries of a study's `datasets`."""
    kind = Params.model_fields[study].annotation.model_fields["datasets"].annotation
    left, found = [kind], []
    while left:
        one = left.pop()
        if isinstance(one, type) and issubclass(one, Section):
            found.append(one)
        left += typing.get_args(one)
    return found


@pytest.mark.parametrize("study", TASKS)
def test_every_reader_of_the_parameters_is_registered(study):
    known = {
        name
        for entry in entries(study)
        for name in typing.get_args(entry.model_fields["reader"].annotation)
    }
    readers = registry.READERS[study] | registry.FILES
    # Files of judged pairs are Wataoka's form, and it reads perplexities; scores are any study's.
    of_pairs = {"perplexities", *JUDGMENTS}
    assert {*readers} - known <= (set() if study == "wataoka" else of_pairs)
    assert known <= {*readers}


PARAMS = load(STAGED / "params.yaml")


def test_of_an_entry_for_several_models_each_stands_alone():
    found = registry._of_members(PARAMS, "wataoka", "judge", "judges")
    names = PARAMS.models["judges"].names
    assert [name for name, _ in found] == names
    for name, part in found:
        assert part.wataoka.judge == {name: PARAMS.wataoka.judge["judges"]}
        assert part.models[name].model == f"data/lab/models/{{dataset}}/{name}"
        assert part.wataoka.perplexity == PARAMS.wataoka.perplexity
    ((name, part),) = registry._of_members(PARAMS, "livebench", "tie_break", "umpire")
    assert name == "umpire"
    assert part.livebench.tie_break == PARAMS.livebench.tie_break


def test_the_external_judge_of_a_group_is_its_first_other_model():
    found = registry._of_members(PARAMS, "xu", "refine", "translators")
    external = {name: part.xu.refine[name].external for name, part in found}
    assert external == {"fair": "small", "small": "fair", "partial": "fair"}
    # An entry that names itself, of one model, has nobody else.
    ((name, part),) = registry._of_members(PARAMS, "xu", "refine", "solver")
    assert part.xu.refine[name].external == "solver"


def test_tuned_evaluators_are_made_of_their_entry_whole():
    for task in registry.OF_ENTRIES:
        ((key, part),) = registry._of_members(PARAMS, "panickssery", task, "readers")
        assert key == "readers"
        assert part.panickssery.finetune == PARAMS.panickssery.finetune
