"""What params.yaml may say of refinement."""

import pytest
from conftest import STAGED
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params import load

yaml = YAML()
FLORES = {"reader": "flores", "source": "f.csv", "code": "yor_Latn", "language": "Yoruba"}


@pytest.mark.parametrize(
    ("place", "change", "told"),
    [
        ("refine.translators", {"rounds": [3]}, "only mathematics votes"),
        ("refine.solver", {"temperature": 0.0}, "set it above 0"),
        ("refine.translators", {"prompts": "authors"}, "does not fit xu.datasets.lab"),
        ("datasets", {"a": FLORES}, "does not fit xu.datasets.a"),
        ("datasets", None, "xu.datasets: xu.refine.translators needs requests"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path, place, change, told):
    params = yaml.load((STAGED / "params.yaml").read_text())
    part = params["xu"]
    for name in place.split("."):
        part = part[name]
    if change is None:
        part.clear()
    part.update(change or {})
    with open(tmp_path / "params.yaml", "w") as handle:
        yaml.dump(params, handle)
    with pytest.raises(SelfprefError) as raised:
        load(tmp_path / "params.yaml")
    assert told in str(raised.value)
