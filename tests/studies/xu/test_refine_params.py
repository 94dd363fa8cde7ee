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
    with pytest.raises(SelfprefError, match=r"xu\.datasets\.yor-en\.code"):
        edited(tmp_path, lambda p: (live(p), p["xu"]["datasets"]["yor-en"].update(code="yor")))


@pytest.mark.parametrize(
    ("place", "change", "told"),
    [
        ("translators", {"external": "nobody"}, "refine.translators.external: 'nobody'"),
        ("solver", {"arms": ["external"]}, "name another model"),
        ("translators", {"arms": ["accept-none"]}, "refine.translators.arms.0"),
        ("translators", {"tasks": []}, "refine.translators.tasks"),
        ("translators", {"rounds": [3]}, "only mathematics votes"),
        ("solver", {"temperature": 0.0}, "set it above 0"),
        (
            "translators",
            {"best_of": [], "repeats": 5, "temperature": 0.0},
            "temperature is 0, so all samples are one",
        ),
        ("translators", {"repeats": 0}, "translators.repeats"),
        ("translators", {"prompts": "authors"}, "does not fit xu.datasets.lab"),
        ("translators", {"prompts": "plain"}, "does not fit xu.datasets.lab"),
    ],
)
def test_what_a_model_cannot_do_is_refused_by_name(tmp_path, place, change, told):
    with pytest.raises(SelfprefError) as raised:
        edited(tmp_path, lambda params: params["xu"]["refine"][place].update(change))
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda xu: xu["refine"].update(no=xu["refine"]["solver"]), "refine.no is no key"),
        (lambda xu: xu.update(datasets={}), "xu.datasets: xu.refine.translators needs requests"),
        (lambda xu: xu["datasets"].update(a=dict(FLORES)), "does not fit xu.datasets.a"),
        (lambda xu: xu["datasets"]["lab"].update(sums=0), "xu.datasets.lab.sums"),
        (lambda xu: xu["datasets"]["lab"].update(reader="wmt"), "xu.datasets.lab.reader"),
    ],
)
def test_requests_that_do_not_fit_are_refused_by_name(tmp_path, change, told):
    with pytest.raises(SelfprefError) as raised:
        edited(tmp_path, lambda params: change(params["xu"]))
    assert told in str(raised.value)
