"""Every reader that the parameters know is there."""

import typing

from selfpref.params import Dataset, Dialogues, Questions
from selfpref.studies import registry


def test_every_reader_of_the_parameters_is_registered():
    known = {
        name
        for entry in (Dataset, Dialogues, Questions)
        for name in typing.get_args(entry.model_fields["reader"].annotation)
    }
    assert set(registry.READERS) == known
    assert all(callable(registry.reader_of(name)) for name in known)
