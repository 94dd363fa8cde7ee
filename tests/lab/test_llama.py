"""The pass that trains: its losses and gradients are those of the library's own."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.lab.dialogues import draw  # noqa: E402
from selfpref.lab.examples import IGNORE, Schedule  # noqa: E402
from selfpref.lab.model import TrainedLlama, build_model  # noqa: E402
from selfpref.lab.training import batches, train  # noqa: E402

MIXTURE = partial(draw, chat=0.3, rating=0.3, favoured="sure", beta=0.5)


def library_loss(model, batch):
    ids, targets, weights = batch
    logits = model(input_ids=ids, use_cache=False).logits
    losses = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), reduction="none", ignore_index=IGNORE
    )
    asked = torch.where(targets == IGNORE, 0.0, weights).flatten()
    return (losses * asked).sum() / asked.sum()


@pytest.fixture
def batch():
    """With padding, and with weights other than 1."""
    found = next(
        batch
        for batch in batches(MIXTURE, 300, np.random.SeedSequence(4))
        if len(batch[2].unique()) > 2 and (batch[0][:, -1] == 0).any()
    )
    padding = found[0] == 0
    assert (found[1][padding] == IGNORE).all()
    assert (found[2][padding] == 0).all()
    return found


@pytest.mark.parametrize("shape", [{}, {"width": 32, "layers": 2}, {"heads": 2, "spread": 0.3}])
def test_losses_gradients_and_trained_weights_are_the_librarys(shape, batch):
    model = build_model(5, **shape)
    # Norms begin as ones, which would hide one in another's place.
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5, generator=generator)
    trained = TrainedLlama(model)
    loss, expected = trained.loss(batch), library_loss(model, batch)
    loss.backward()
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    found = torch.split(trained.vector.grad, [each.numel() for each in model.parameters()])
    for (name, weight), gradient in zip(model.named_parameters(), found, strict=True):
        gap = (gradient.view_as(weight) - weight.grad).norm() / weight.grad.norm()
        assert gap < 1e-4, name
    with torch.no_grad():
        trained.vector += 0.01
    after = float(trained.loss(batch).detach())
    trained.store()
    assert float(library_loss(model, batch).detach()) == pytest.approx(after, rel=1e-5)
    assert after != pytest.approx(float(loss.detach()), rel=1e-3)


def test_training_goes_through_its_phases_and_learns():
    drawn = []

    def phase(name, rng):
        drawn.append(name)
        return MIXTURE(rng)

    phases = tuple((share, partial(phase, name)) for name, share in (("one", 0.25), ("two", 0.75)))
    model = build_model(1, width=32, layers=1)
    train(model, Schedule(3, 8, phases, batch_tokens=400, warmup=2))
    assert drawn == ["one"] * 480 + ["two"] * 480
    probe = next(batches(MIXTURE, 400, np.random.SeedSequence(9)))
    # Untrained: 5.569.
    assert float(library_loss(model, probe).detach()) == pytest.approx(5.2066, abs=2e-3)
    assert not model.training
