"""The output layer in blocks, against a full log-softmax."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

from selfpref.models.local.states import Head  # noqa: E402

SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}


@pytest.mark.parametrize(
    ("kind", "vocabulary", "settings", "linear"),
    [
        ("llama", 3000, {}, True),
        ("llama", 7, {}, True),
        ("phi", 3000, {}, True),  # with a bias
        ("cohere", 3000, {"logit_scale": 0.25}, False),
        ("gemma2", 3000, {"head_dim": 8, "num_key_value_heads": 2,
                          "final_logit_softcapping": 2.0}, False),
    ],
)  # fmt: skip
def test_blocks_give_the_models_own_log_softmax(kind, vocabulary, settings, linear):
    torch.manual_seed(1)
    given = {"num_attention_heads": 2, "pad_token_id": None, **SIZES, **settings}
    config = AutoConfig.for_model(kind, vocab_size=vocabulary, **given)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        if model.get_output_embeddings().bias is not None:
            model.get_output_embeddings().bias.normal_()
        ids = torch.arange(70)[None] % vocabulary
        wanted = model(ids).logits[0].double().log_softmax(-1)
        states = model.base_model(ids).last_hidden_state[0]
        head = Head(model)
        assert head.linear == linear
        targets = torch.arange(70) * 1000 % vocabulary
        chosen = wanted.gather(1, targets[:, None])[:, 0]
        assert torch.allclose(head.log_likelihoods(states, targets).double(), chosen, atol=1e-5)
        assert torch.allclose(head.log_softmax(states).double(), wanted, atol=1e-5)
        # Very unequal logits neither overflow nor vanish.
        if linear:
            wide = states * 3000
            wanted = model.get_output_embeddings()(wide).double().log_softmax(-1)
            chosen = wanted.gather(1, targets[:, None])[:, 0]
            assert torch.allclose(head.log_likelihoods(wide, targets).double(), chosen, rtol=1e-5)
