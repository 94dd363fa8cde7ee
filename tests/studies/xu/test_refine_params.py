"""What params.yaml may say of refinement."""

import pytest
from conftest import STAGED
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params import TASKS, load

yaml = YAML()
FLORES = {"reader": "flores", "source": "f.csv", "code": "yor_Latn", "language": "Yoruba"}


@pytest.fixture
def edited(tmp_path):
    """Load the testbed's parameters after a change."""

    def loading(change):
        params = yaml.load((STAGED / "params.yaml").read_text())
        change(params)
        path = tmp_path / "params.yaml"
        with open(path, "w") as handle:
            yaml.dump(params, handle)
        return load(path)

    return loading


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


def test_a_served_model_refines_what_a_data_set_asks(edited):
    assert edited(live).xu.datasets["yor-en"].target == "English"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda p: p["xu"]["refine"]["translators"].update(external="nobody"),
            "refine.translators.external: 'nobody'",
        ),
        (lambda p: p["xu"]["refine"]["solver"].update(arms=["external"]), "name another model"),
        (
            lambda p: p["xu"]["refine"].update(nobody=p["xu"]["refine"]["translators"]),
            "refine.nobody is no key",
        ),
        (
            lambda p: p["xu"]["refine"]["translators"].update(arms=["accept-none"]),
            "refine.translators.arms.0",
        ),
        (lambda p: p["xu"]["refine"]["translators"].update(tasks=[]), "refine.translators.tasks"),
        (lambda p: p["xu"]["refine"]["translators"].update(rounds=[3]), "only mathematics votes"),
        (lambda p: p["xu"]["refine"]["solver"].update(temperature=0.0), "set it above 0"),
        (
            lambda p: p["xu"]["refine"]["translators"].update(
                best_of=[], repeats=5, temperature=0.0
            ),
            "temperature is 0, so all samples are one",
        ),
        (lambda p: p["xu"]["refine"]["translators"].update(repeats=0), "translators.repeats"),
        (
            lambda p: p["xu"]["refine"]["translators"].update(prompts="authors"),
            "does not fit xu.datasets.lab",
        ),
        (
            lambda p: p["xu"]["refine"]["translators"].update(prompts="plain"),
            "does not fit xu.datasets.lab",
        ),
        (
            lambda p: p["xu"].update(datasets={}),
            "xu.datasets: xu.refine.translators needs requests",
        ),
        (
            lambda p: p["xu"]["datasets"].update({"yor-en": dict(FLORES)}),
            "does not fit xu.datasets.yor-en",
        ),
        (lambda p: p["xu"]["datasets"]["lab"].update(sums=0), "xu.datasets.lab.sums"),
        (lambda p: p["xu"]["datasets"]["lab"].update(reader="wmt"), "xu.datasets.lab.reader"),
        (lambda p: p["lab"].update(seeds=[0, "1"]), "lab.seeds.1"),
        (lambda p: p["lab"]["refinement"].update(step=3), "lab.refinement.step: unknown key"),
    ],
)
def test_what_cannot_be_is_refused_by_name(edited, change, told):
    with pytest.raises(SelfprefError) as raised:
        edited(change)
    assert told in str(raised.value)


def test_a_language_without_its_code_is_refused(edited):
    def change(params):
        live(params)
        params["xu"]["datasets"]["yor-en"]["code"] = "yor"

    with pytest.raises(SelfprefError, match=r"xu\.datasets\.yor-en\.code"):
        edited(change)
