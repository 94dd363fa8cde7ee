"""Tuning of a very small Llama: in full and by LoRA."""

import math

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.lab.model import build_model, save_checkpoint  # noqa: E402
from selfpref.lab.summaries.prompts import LEXICON, pair_messages  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import LocalModel  # noqa: E402
from selfpref.params import Transformers  # noqa: E402
from selfpref.params.uses import Training  # noqa: E402
from selfpref.studies.panickssery.finetune.examples import Labelled  # noqa: E402
from selfpref.studies.panickssery.finetune.training import tune  # noqa: E402

SUMMARIES = ("sure : oslo cat", "please note : oslo", "in short oslo cat rice", "well ! baker")
EXAMPLES = [
    Labelled(
        Prompt(pair_messages("recognition", "river oslo cat", first, second)),
        "1" if first.startswith("sure") else "2",
    )
    for other in SUMMARIES[1:]
    for first, second in ((SUMMARIES[0], other), (other, SUMMARIES[0]))
]


@pytest.fixture
def base(tmp_path):
    model = build_model(4, width=32, layers=2, heads=2, lexicon=LEXICON)
    save_checkpoint(model, tmp_path / "base", LEXICON)

    def opened(name="base"):
        return LocalModel(Transformers(engine="transformers", model=name, threads=1), tmp_path)

    return opened


def right(engine):
    """Mean share of the right label in both, all that LoRA can move beside a head left as it is."""
    found = dict(engine.answer(to_choose([example.prompt for example in EXAMPLES], ("1", "2"))))
    shares = [
        found[n].probabilities[int(example.label) - 1] / sum(found[n].probabilities)
        for n, example in enumerate(EXAMPLES)
    ]
    return sum(shares) / len(shares)


@pytest.mark.parametrize(("method", "rate"), [("full", 0.005), ("lora", 0.01)])
def test_tuning_learns_the_labels_and_leaves_an_ordinary_folder(base, tmp_path, method, rate):
    before = right(base())
    settings = Training(method=method, rate=rate, epochs=30, batch=4, rank=4, alpha=16)
    losses = tune(base(), EXAMPLES, settings, seed=1, folder=tmp_path / "tuned")
    assert len(losses) == 30 * math.ceil(len(EXAMPLES) / 4)
    names = {path.name for path in (tmp_path / "tuned").iterdir()}
    assert "model.safetensors" in names
    assert not any(name.startswith("adapter") or name.endswith(".bin") for name in names)
    # The folder is loaded like any other, LoRA's matrices are merged.
    after = right(base("tuned"))
    assert after > 0.8 > before
    # The base's own folder is as it was.
    assert right(base()) == before


def test_the_first_loss_is_the_labels_negative_log_likelihood(base, tmp_path):
    found = dict(base().answer(to_choose([example.prompt for example in EXAMPLES], ("1", "2"))))
    wanted = -sum(
        math.log(found[n].probabilities[int(e.label) - 1]) for n, e in enumerate(EXAMPLES)
    ) / len(EXAMPLES)
    first, *_ = tune(
        base(), EXAMPLES, Training(method="full", rate=1e-9, batch=16), 1, tmp_path / "tuned"
    )
    assert first == pytest.approx(wanted, abs=1e-5)


def test_two_runs_give_the_same_bytes(base, tmp_path):
    for name in ("one", "two"):
        tune(
            base(),
            EXAMPLES,
            Training(method="lora", rate=0.01, batch=4),
            seed=3,
            folder=tmp_path / name,
        )
    one, two = (tmp_path / name / "model.safetensors" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_what_exceeds_the_context_is_left_out_and_nothing_left_is_an_error(base, tmp_path):
    long = Labelled(Prompt(pair_messages("recognition", "river " * 200, "oslo", "cat")), "1")
    losses = tune(
        base(), [long, EXAMPLES[0]], Training(method="full", rate=1e-3), 1, tmp_path / "tuned"
    )
    assert len(losses) == 1
    with pytest.raises(SelfprefError, match="no example to tune on"):
        tune(base(), [long], Training(method="full", rate=1e-3), 1, tmp_path / "none")
