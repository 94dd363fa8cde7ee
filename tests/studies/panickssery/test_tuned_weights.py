"""A tuned judge is asked with its own weights, whatever its base was loaded from."""

import pytest
from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

from selfpref.params import Params, Transformers
from selfpref.studies.panickssery import stages

TUNING = {
    "model": "smollm2",
    "prompts": "plain",
    "min_mass": 0.1,
    "method": "lora",
    "evaluators": {
        "self": {"on": "notices", "variant": "self-recognition", "articles": 5, "replay": 0.0}
    },
}
SOURCES = {
    "gguf": {},
    "hub": {"gguf": None, "sha256": None, "model": "org/model", "revision": "0" * 40},
}


class Opened(Exception):  # noqa: N818
    """Tells what was to be opened, instead of opening it."""


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_a_tuned_judge_is_not_its_base(source, monkeypatch):
    values = YAML(typ="safe").load((STAGED / "profiles/panickssery.yaml").read_text())
    values["models"]["smollm2"] |= SOURCES[source]
    values["panickssery"]["datasets"]["notices"]["train"] = 5
    values["panickssery"]["finetune"]["smollm2"] = TUNING
    params = Params.model_validate(values)

    def open_model(params, key, dataset, title, entry):
        raise Opened(entry)

    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(stages.models, "open_model", open_model)
    with pytest.raises(Opened) as opened:
        stages._recognise_tuned(params, "smollm2", "smollm2-self", "smollm2", "self")
    (entry,) = opened.value.args
    folder = "data/panickssery/finetuned/smollm2/smollm2-self"
    # As if it had been said so: valid, and no other weights in it.
    assert Transformers(**entry.model_dump(exclude_none=True)).model == folder
    assert (entry.gguf, entry.revision) == (None, None)
