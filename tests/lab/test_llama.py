"""The pass that trains: its losses and gradients are those of the library's own."""

from functools import partial

import numpy as np
import pytest
import torch

from selfpref.lab.dialogues import draw
from selfpref.lab.examples import IGNORE
from selfpref.lab.llama import TrainedLlama
from selfpref.lab.model import build_model
from selfpref.lab.train import batches


def library_loss(model, batch):
    ids, targets, weights = batch
    logits = model(input_ids=ids, use_cache=False).logits
    losses = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), reduction="none", ignore_index=IGNORE
    )
    asked = torch.where(targets == IGNORE, 0.0, weights).flatten()
    return (losses * asked).sum() / asked.sum()


@pytest.fixture(params=[{}, {"width": 32, "layers": 2}, {"heads": 2, "spread": 0.3}])
def model(request):
    model = build_model(5, **request.param)
    # Norms begin as ones, which would hide one in another's place.
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5, generator=generator)
    return model


@pytest.fixture
def batch():
    """A batch with padding and with weights other than 1."""
    mixture = partial(draw, chat=0.3, rating=0.3, favoured="sure", beta=0.5)
    found = next(
        batch
        for batch in batches(mixture, 300, np.random.SeedSequence(4))
        if len(batch[2].unique()) > 2 and len(batch[0]) > 2
    )
    assert (found[0][:, -1] == 0).any()
    return found


def test_losses_and_gradients_are_the_librarys(model, batch):
    trained = TrainedLlama(model)
    loss = trained.loss(batch)
    loss.backward()
    expected = library_loss(model, batch)
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    found = torch.split(trained.vector.grad, [each.numel() for each in model.parameters()])
    for (name, weight), gradient in zip(model.named_parameters(), found, strict=True):
        gap = (gradient.view_as(weight) - weight.grad).norm() / weight.grad.norm()
        assert gap < 1e-4, name


def test_the_model_is_given_the_trained_weights(model, batch):
    trained = TrainedLlama(model)
    before = float(trained.loss(batch).detach())
    with torch.no_grad():
        trained.vector += 0.01
    after = float(trained.loss(batch).detach())
    assert float(library_loss(model, batch).detach()) == pytest.approx(before, rel=1e-5)
    trained.store()
    assert float(library_loss(model, batch).detach()) == pytest.approx(after, rel=1e-5)
    assert after != pytest.approx(before, rel=1e-3)
