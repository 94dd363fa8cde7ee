"""One model in several processes: the answers of a single one, whoever gives them."""

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_score

from selfpref.lab.model import build_model, save_checkpoint
from selfpref.models.local import LocalModel, shared
from selfpref.params import Transformers
from selfpref.prompts import LAYOUTS

LAB = LAYOUTS["lab"]


def test_two_processes_answer_as_one_does(tmp_path):
    save_checkpoint(build_model(3), tmp_path / "model")
    entry = Transformers(engine="transformers", model="model", threads=1)
    both = entry.model_copy(update={"processes": 2})
    one = LocalModel(entry, tmp_path)
    questions = [f"add {number} + 1" for number in range(7)]
    scored = to_score(list(map(LAB.respond, questions)), [LAB.content("cherry sky")] * 7)
    alone, found = dict(one.answer(scored)), dict(shared(both, tmp_path, "", scored))
    assert sorted(found) == list(range(7))
    for index, answer in alone.items():
        assert found[index].n_tokens == answer.n_tokens
        assert found[index].sum_nll == pytest.approx(answer.sum_nll, abs=1e-5 * answer.n_tokens)
