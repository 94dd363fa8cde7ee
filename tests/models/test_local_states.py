"""The output layer in blocks, against a full log-softmax."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

from selfpref.models.local.states import Head  # noqa: E402

SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}


def build(kind, vocabulary=3000, **settings):
    torch.manual_seed(1)
    config = AutoConfig.for_model(
        kind, vocab_size=vocabulary, num_attention_heads=2, pad_token_id=None, **SIZES | settings
    )
    return AutoModelForCausalLM.from_config(config).eval()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("llama", {}),
        ("phi", {}),  # with a bias
        ("llama", {"vocabulary": 7}),
        ("cohere", {"logit_scale": 0.25}),
        ("gemma2", {"head_dim": 8, "num_key_value_heads": 2, "final_logit_softcapping": 2.0}),
    ],
)
def test_blocks_give_the_models_own_log_softmax(kind, settings):
    model = build(kind, **settings)
    with torch.no_grad():
        if model.get_output_embeddings().bias is not None:
            model.get_output_embeddings().bias.normal_()
        ids = torch.arange(6)[None]
        wanted = model(ids).logits[0].double().log_softmax(-1)
        states = model.base_model(ids).last_hidden_state[0]
        head = Head(model)
        targets = torch.tensor([0, 5, 6, 1, len(wanted[0]) - 1, 2])
        found = head.log_likelihoods(states, targets)
        everything = head.log_softmax(states)
    chosen = wanted.gather(1, targets[:, None])[:, 0]
    assert torch.allclose(found.double(), chosen, atol=1e-5)
    assert torch.allclose(everything.double(), wanted, atol=1e-5)


def test_very_unequal_logits_neither_overflow_nor_vanish():
    model = build("llama")
    with torch.no_grad():
        states = torch.randn(3, 16) * 3000
        targets = torch.tensor([1, 2000, 2999])
        wanted = model.lm_head(states).double().log_softmax(-1).gather(1, targets[:, None])[:, 0]
        found = Head(model).log_likelihoods(states, targets)
    assert torch.allclose(found.double(), wanted, rtol=1e-5)
