"""What params.yaml may say of refinement."""

import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params import load

yaml = YAML()
FLORES = {"reader": "flores", "source": "f.csv", "code": "yor_Latn", "language": "Yoruba"}


@pytest.fixture
def edited(tmp_path):
    """Load the laboratory's parameters after a change."""

    def loading(change):
        params = yaml.load((REPOSITORY / "params.yaml").read_text())
        change(params)
        path = tmp_path / "params.yaml"
        with open(path, "w") as handle:
            yaml.dump(params, handle)
        return load(path)

    return loading


def live(params):
    """A served model that refines sentences of FLORES, and judges itself from outside."""
    params.update(profile="live", studies={"xu": ["live"]}, respond={}, judge={}, perplexity={})
    params.update(compete={}, assess={}, tie_breakers={}, contests={})
    params.update(articles={}, summarise={}, recognise={}, finetune={})
    params["lab"] = {"seeds": []}
    params["requests"] = {"yor-en": dict(FLORES)}
    hosted = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    params["models"] = {"one": dict(hosted), "two": dict(hosted)}
    params["refine"] = {
        "one": params["refine"]["fair"] | {"prompts": "plain", "external": "two"},
    }


def test_a_served_model_refines_what_a_data_set_asks(edited):
    assert edited(live).requests["yor-en"].target == "English"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda p: p["refine"]["fair"].update(external="nobody"), "refine.fair.external: 'nobody'"),
        (lambda p: p["refine"]["fair"].update(external="fair"), "name another model"),
        (lambda p: p["refine"].update(nobody=p["refine"]["fair"]), "refine.nobody is no key"),
        (lambda p: p["refine"]["fair"].update(arms=["accept-none"]), "refine.fair.arms.0"),
        (lambda p: p["refine"]["fair"].update(tasks=[]), "refine.fair.tasks"),
        (lambda p: p["refine"]["fair"].update(rounds=[3]), "only mathematics votes"),
        (lambda p: p["refine"]["solver"].update(temperature=0.0), "set it above 0"),
        (lambda p: p["refine"]["fair"].update(prompts="plain"), "does not fit requests.lab"),
        (lambda p: p.update(requests={}), "requests is empty"),
        (lambda p: p["requests"].update({"yor-en": dict(FLORES)}), "does not fit requests.yor-en"),
        (lambda p: p["requests"]["lab"].update(sums=0), "requests.lab.sums"),
        (lambda p: p["requests"]["lab"].update(reader="wmt"), "requests.lab.reader"),
        (lambda p: p["lab"]["refiners"].update(seeds=[0, 1]), "lab.refiners.seeds"),
        (lambda p: p["lab"]["refiners"].update(step=3), "lab.refiners.step: unknown key"),
    ],
)
def test_what_cannot_be_is_refused_by_name(edited, change, told):
    with pytest.raises(SelfprefError) as raised:
        edited(change)
    assert told in str(raised.value)


def test_a_language_without_its_code_is_refused(edited):
    def change(params):
        live(params)
        params["requests"]["yor-en"]["code"] = "yor"

    with pytest.raises(SelfprefError, match=r"requests.yor-en.code"):
        edited(change)
