"""What params.yaml may say of refinement."""

import pytest
from conftest import STAGED
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params import TASKS, load

yaml = YAML()
FLORES = {"reader": "flores", "source": "f.csv", "code": "yor_Latn", "language": "Yoruba"}


def edited(folder, change):
    """The testbed's parameters after a change of the study's section."""
    params = yaml.load((STAGED / "params.yaml").read_text())
    change(params)
    with open(folder / "params.yaml", "w") as handle:
        yaml.dump(params, handle)
    return load(folder / "params.yaml")


def live(params):
    """A served model that refines sentences of FLORES, and judges itself from outside."""
    params.update(profile="live", studies=["xu"], lab={"seeds": []})
    for study, tasks in TASKS.items():
        params[study].update({task: {} for task in (*tasks, "datasets") if study != "xu"})
    params["wataoka"]["label"] = params["livebench"]["categories"] = {}
    params["xu"]["datasets"] = {"yor-en": dict(FLORES)}
    hosted = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    params["models"] = {"one": dict(hosted), "two": dict(hosted)}
    use = params["xu"]["refine"]["translators"]
    params["xu"]["refine"] = {"one": use | {"prompts": "plain", "external": "two"}}


def test_a_served_model_refines_what_a_data_set_asks(tmp_path):
    assert edited(tmp_path, live).xu.datasets["yor-en"].target == "English"


@pytest.mark.parametrize(
    ("place", "change", "told"),
    [
        ("refine.translators", {"external": "nobody"}, "refine.translators.external: 'nobody'"),
        ("refine.solver", {"arms": ["external"]}, "name another model"),
        ("refine.translators", {"rounds": [3]}, "only mathematics votes"),
        ("refine.solver", {"temperature": 0.0}, "set it above 0"),
        ("refine.solver", {"rounds": [], "repeats": 5, "temperature": 0.0}, "all samples are one"),
        ("refine.translators", {"prompts": "authors"}, "does not fit xu.datasets.lab"),
        ("datasets", {"a": FLORES}, "does not fit xu.datasets.a"),
        ("datasets", None, "xu.datasets: xu.refine.translators needs requests"),
        ("refine", {"no": {"rounds": [3]}}, "refine.no is no key"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path, place, change, told):
    def changed(params):
        part = params["xu"]
        for name in place.split("."):
            part = part[name]
        if change is None:
            part.clear()
        part.update(change or {})
        if "no" in part:
            part["no"] = part["solver"]

    with pytest.raises(SelfprefError) as raised:
        edited(tmp_path, changed)
    assert told in str(raised.value)
