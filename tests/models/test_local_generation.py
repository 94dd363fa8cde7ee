"""Generation in batches, and the labels after a marker."""

import itertools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_generate  # noqa: E402
from small_models import byte_level, load, save, save_chain  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local.encoding import Encoder  # noqa: E402
from selfpref.models.local.generation import (  # noqa: E402
    Continuation,
    LabelReader,
    continuations,
)

PROMPTS = [
    Prompt((("user", text),))
    for text in ("hello", "which answer is better", "list three things that add", "or")
]


@pytest.fixture(scope="module", params=["llama", "gpt_neox", "mistral"])
def engine(request, tmp_path_factory):
    settings = (
        {"sliding_window": 20, "num_key_value_heads": 2} if request.param == "mistral" else {}
    )
    folder = tmp_path_factory.mktemp("model") / "m"
    return load(save(folder, byte_level(), request.param, **settings))


def test_greedy_in_a_batch_is_greedy_of_transformers(engine):
    made = engine.answer(to_generate(PROMPTS, max_tokens=12, temperature=0, seeds=[0] * 4))
    for prompt, found in zip(PROMPTS, made, strict=True):
        ids = torch.tensor([engine.encode(prompt)])
        whole = engine.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False
        )
        assert found.text == engine.tokenizer.decode(
            whole[0, ids.shape[1] :], skip_special_tokens=True
        )


def test_batch_mates_do_not_change_a_sample(engine):
    options = {"max_tokens": 10, "temperature": 0.7, "marker": "[[", "labels": ("A", "B")}
    together = engine.answer(to_generate(PROMPTS * 2, seeds=range(8), **options))
    for prompt, seed, made in zip(PROMPTS * 2, range(8), together, strict=True):
        assert engine.answer(to_generate([prompt], seeds=[seed], **options)) == [made]
    assert len({made.text for made in together}) > 4


def test_a_batch_may_hold_more_lines_than_the_vocabulary_words():
    """The first token ends some of them, and the others go on beside them."""
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
            num_attention_heads=2,
        )
    ).eval()  # fmt: skip

    def made(seeds):
        settings = {"temperature": 1, "stops": {0}, "watched": (), "budget": 1000, "followed": 20}
        rows = [np.array([1, 2, 3])] * len(seeds)
        found = continuations(model, rows, [5] * len(seeds), seeds, **settings)
        return [one.ids for _, one in sorted(found, key=lambda pair: pair[0])]

    with torch.no_grad():
        together = made(range(40))
        assert 0 < sum(not ids for ids in together[8:]) < 10
        assert together == [made([seed])[0] for seed in range(40)]


VERDICT = "my verdict [[A]]"


def chain(tokenizer, text, **branches):
    """After a prompt the model writes `text`, with logit 9 a token, and ends."""
    ids = tokenizer("\n" + text, add_special_tokens=False)["input_ids"]
    assert len(set(ids)) == len(ids)
    follows = {one: {other: 9.0} for one, other in itertools.pairwise(ids)}
    follows[ids[-1]] = {tokenizer.eos_token_id: 9.0}
    for token, logits in branches.items():
        follows[tokenizer.convert_tokens_to_ids(token)] = {
            tokenizer.convert_tokens_to_ids(word): logit for word, logit in logits.items()
        }
    return follows


def judged(folder, tokenizer, text=VERDICT, **branches):
    model = load(save_chain(folder, tokenizer, chain(tokenizer, text, **branches)))
    return model, len(tokenizer)


def test_labels_are_read_after_the_marker_at_temperature_one(tmp_path):
    """p(A) + p( A) and p(B) + p( B) of the raw logits, though the text is sampled at 0.7."""
    verdict = {"A": 9.0, "ĠA": 8.0, "B": 7.0}
    model, size = judged(tmp_path / "m", byte_level(), **{"Ġ[[": verdict})
    (made,) = model.answer(
        to_generate(
            PROMPTS[:1], max_tokens=30, temperature=0.7, seeds=[5], marker="[[", labels=("A", "B")
        )
    )
    whole = sum(math.exp(logit) for logit in (9, 8, 7)) + (size - 3)
    assert made.text.endswith("[[A]]")
    assert made.status == "ok"
    assert made.choice.probabilities == pytest.approx(
        ((math.exp(9) + math.exp(8)) / whole, (math.exp(7) + 1) / whole)
    )


def test_without_a_marker_there_is_no_choice(tmp_path):
    model, _ = judged(tmp_path / "m", byte_level(), "hello world")
    (made,) = model.answer(
        to_generate(
            PROMPTS[:1], max_tokens=30, temperature=0, seeds=[0], marker="[[", labels=("A", "B")
        )
    )
    assert (made.text, made.choice) == ("hello world", None)


def test_a_text_that_is_cut_at_the_marker_has_no_choice(tmp_path):
    tokenizer = byte_level()
    model, _ = judged(tmp_path / "m", tokenizer)
    count = tokenizer(VERDICT)["input_ids"].index(tokenizer.convert_tokens_to_ids("Ġ[[")) + 1
    for tokens, status, read in ((count, "cut", False), (count + 1, "cut", True), (30, "ok", True)):
        (made,) = model.answer(
            to_generate(
                PROMPTS[:1],
                max_tokens=tokens,
                temperature=0,
                seeds=[0],
                marker="[[",
                labels=("A", "B"),
            )
        )
        assert (made.status, made.choice is not None) == (status, read)


def test_every_stop_of_the_generation_config_ends_an_answer(tmp_path):
    tokenizer = byte_level()
    folder = save_chain(tmp_path / "m", tokenizer, chain(tokenizer, "hello world"))
    model = load(folder)
    model.engine.model.generation_config.eos_token_id = [1, tokenizer("Ġworld")["input_ids"][0]]
    assert (
        model.answer(to_generate(PROMPTS[:1], max_tokens=9, temperature=0, seeds=[0]))[0].status
        == "ok"
    )


def read(tokenizer, tokens, ended=True):
    """The step at which the labels of a text in these tokens are read, or None."""
    encoder = Encoder(tokenizer)
    reader = LabelReader(encoder, "[[", ("A", "B"))
    ids = tokenizer.convert_tokens_to_ids(tokens)
    steps = len(ids) + ended
    watched = np.arange(steps)[:, None] + np.arange(len(reader.watched))[None] / 1000
    choice = reader.choice(Continuation(ids, ended, watched), encoder.decode(ids))
    if choice is None:
        return None
    chosen = [reader.watched[round(1000 * (value % 1))] for value in choice.probabilities]
    return int(choice.probabilities[0]), tokenizer.convert_ids_to_tokens(chosen)


def test_the_marker_may_be_cut_anyhow_into_tokens():
    tokenizer = byte_level(merges=["[[A", "[[B"])
    # A token that reaches over the marker's end is compared with its like.
    assert read(tokenizer, ["A", "Ċ", "[[A", "]"]) == (2, ["[[A", "[[B"])
    # Two forms a label: their sum is read, so only the step is told here.
    assert read(tokenizer, ["Ġ[", "[", "A", "]"])[0] // 2 == 2
    assert read(tokenizer, ["Ġ[[", "ĠA", "]"])[0] // 2 == 1
    # The last marker counts.
    assert read(tokenizer, ["Ġ[[", "A", "Ġ[[", "B"])[0] // 2 == 3
    # The model ended right after it.
    assert read(tokenizer, ["A", "Ġ[["])[0] // 2 == 2
    assert read(tokenizer, ["A", "Ġ[["], ended=False) is None
    assert read(tokenizer, ["A", "B"]) is None


def test_a_merged_label_without_its_like_cannot_be_read():
    assert read(byte_level(merges=["[[A"]), ["A", "Ċ", "[[A", "]"]) is None


def test_a_label_of_several_tokens_is_refused(tmp_path):
    model = load(save(tmp_path / "m", byte_level()))
    with pytest.raises(SelfprefError, match="label 'Perhaps' is no single token"):
        model.answer(
            to_generate(
                PROMPTS, max_tokens=2, temperature=0, seeds=[0] * 4, marker="[[", labels=["Perhaps"]
            )
        )
