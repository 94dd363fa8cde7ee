"""The label after a marker in a generated text: where it stands, and which tokens spell it.

Tokens need not end where the marker does. `[[A` may be `[[` + `A`, `[` + `[` + `A`, ` [[` + ` A`,
or `[[A` in one. The label's token is the one after the tokens that complete the marker or, where
the marker's last token goes on beyond it, that token itself; its candidates are then the tokens
that begin in the same way (`[[A`, `[[B`). Where some label has no such token, the labels cannot be
compared at one position, and there is no answer.
"""

from collections.abc import Sequence

from selfpref.errors import SelfprefError
from selfpref.models import Choice
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.generation import Continuation


class LabelReader:
    """Reads the labels after the last marker of a continuation.

    Args:
        encoder: The model's.
        marker: Such as `[[`; empty: nothing is to be read.
        labels: Such as `A` and `B`.

    Attributes:
        watched: The tokens whose probabilities have to be known at every step.

    Raises:
        SelfprefError: A label is no single token.
    """

    def __init__(self, encoder: Encoder, marker: str, labels: Sequence[str]) -> None:
        self._encoder, self._marker = encoder, marker
        self._forms: dict[str, list[list[int]]] = {}
        self.watched: list[int] = []
        if not marker:
            return
        self._forms[""] = label_forms(encoder, labels, [marker])
        for start in range(len(marker)):
            for lead in (marker[start:], f" {marker[start:]}"):
                forms = [encoder.forms(label, ["x", "x "], lead) for label in labels]
                if all(forms):
                    self._forms[lead] = forms
        self.watched = sorted(
            {token for forms in self._forms.values() for ids in forms for token in ids}
        )

    def choice(self, made: Continuation, text: str) -> Choice | None:
        """Probabilities of the labels after the last marker, None where they cannot be read."""
        begin = text.rfind(self._marker) if self._marker else -1
        if begin < 0:
            return None
        end = begin + len(self._marker)
        count = len(made.ids)
        while len(self._encoder.decode(made.ids[: count - 1])) >= end:
            count -= 1
        # The first `count` tokens complete the marker.
        lead, step = "", count
        if len(self._encoder.decode(made.ids[:count])) > end:
            step = count - 1
            before = self._encoder.decode(made.ids[:step])
            lead = text[len(before) : end] if text.startswith(before) else "unknown"
        if lead not in self._forms or step >= len(made.watched):
            return None
        place = {token: number for number, token in enumerate(self.watched)}
        values = made.watched[step]
        return Choice(
            tuple(
                float(sum(values[place[token]] for token in forms)) for forms in self._forms[lead]
            ),
            "ok",
        )


def label_forms(
    encoder: Encoder, labels: Sequence[str], contexts: Sequence[str]
) -> list[list[int]]:
    """Ids that spell each label after one of the contexts.

    Raises:
        SelfprefError: A label has none, or shares one with another label.
    """
    forms = [encoder.forms(label, contexts) for label in labels]
    for number, (label, ids) in enumerate(zip(labels, forms, strict=True)):
        if not ids:
            raise SelfprefError(
                f"label {label!r} is no single token of this model; use another label"
            )
        if set(ids) & {token for other in forms[:number] for token in other}:
            raise SelfprefError(f"label {label!r} is the same token as another; use another label")
    return forms
