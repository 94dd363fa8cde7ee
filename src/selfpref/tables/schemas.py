"""The schemas of the tables that all sources fill and all studies read.

| table | key |
|---|---|
| items | study, item_id |
| responses | study, item_id, responder, step, sample |
| labels | study, item_id, responder_a, responder_b, annotator, repeat |
| truths | study, item_id, responder, step, metric |
| verdicts | study, item_id, judge, task, variant, candidates, repeat |
| ratings | study, item_id, responder, step, sample, judge, task, variant, repeat |
| perplexities | study, item_id, responder, step, judge, conditional |
| audit | study, file, finding |

Further columns and their types stand below. Missing values are null and carry a status other than
`ok`; they are never a tie, a zero or a perfect score.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pandera.pandas as pa
import pyarrow

STATUSES = ("ok", "unparsable", "refused", "low-mass", "truncated", "failed")
TASKS = (
    "preference",
    "recognition",
    "inferiority",
    "quality",
    "rubric",
    "mqm",
    "coverage",
    "correctness",
)
TIE = "tie"
# Probabilities of labels are read in floating point; their sum may exceed one by this much.
ROUNDING = 1e-6

_TEXT, _TEXTS = pyarrow.string(), pyarrow.list_(pyarrow.string())
_INT, _REAL, _REALS = pyarrow.int64(), pyarrow.float64(), pyarrow.list_(pyarrow.float64())
_MESSAGES = pyarrow.list_(pyarrow.struct([("role", _TEXT), ("content", _TEXT)]))


@dataclass(frozen=True)
class Lists:
    """What must hold of each list of a column.

    Attributes:
        wanted: The condition in words.
        wrong: From a list array without nulls to a mask `[rows]` of the lists that break it.
    """

    wanted: str
    wrong: Callable[[pyarrow.ListArray], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Table:
    """One table: its key, its columns with their types, and what must hold of the values.

    `checks` are of columns of single values, `lists` of columns of lists; what is checked across
    columns (`selfpref.tables`) needs those of `checked` besides.
    """

    name: str
    key: tuple[str, ...]
    columns: dict[str, pyarrow.DataType]
    nullable: frozenset[str]
    checks: dict[str, pa.Check]
    lists: Mapping[str, Lists] = field(default_factory=dict)
    checked: tuple[str, ...] = ()

    def holding(self, names: Iterable[str]) -> "Table":
        """The same table without the columns that are neither named nor needed by its checks."""
        kept = {*self.key, *self.checks, *self.lists, *self.checked, *names}
        columns = {name: kind for name, kind in self.columns.items() if name in kept}
        return replace(self, columns=columns)

    @property
    def arrow(self) -> pyarrow.Schema:
        """The schema on disk."""
        return pyarrow.schema([pyarrow.field(name, kind) for name, kind in self.columns.items()])

    @property
    def pandera(self) -> pa.DataFrameSchema:
        """What `checks` ask of values that are there; the types are those of `arrow`."""
        return pa.DataFrameSchema(
            {
                name: pa.Column(None, checks=check, nullable=True)
                for name, check in self.checks.items()
            }
        )


def _one_of(values: Iterable[str]) -> pa.Check:
    allowed = list(values)
    return pa.Check(lambda column: column.isin(allowed), error=f"one of {', '.join(allowed)}")


def _not_different(names: pyarrow.ListArray) -> npt.NDArray[np.bool_]:
    """Lists of fewer than two names, or with a name missing or twice."""
    row = names.value_parent_indices().to_numpy()
    code = names.flatten().dictionary_encode().indices.fill_null(-1).to_numpy()
    first = ~pd.DataFrame({"row": row, "code": code}).duplicated()
    different = np.bincount(row[first & (code >= 0)], minlength=len(names))
    wrong: npt.NDArray[np.bool_] = different < np.maximum(names.value_lengths().to_numpy(), 2)
    return wrong


def _no_probabilities(lists: pyarrow.ListArray) -> npt.NDArray[np.bool_]:
    """Lists with a value outside 0..1, or of a sum above 1."""
    row = lists.value_parent_indices().to_numpy()
    values = lists.flatten().to_numpy(zero_copy_only=False)
    outside = np.bincount(row[~((values >= 0) & (values <= 1))], minlength=len(lists)) > 0
    return outside | (np.bincount(row, weights=values, minlength=len(lists)) > 1 + ROUNDING)


TABLES = {
    table.name: table
    for table in (
        Table(
            "items",
            ("study", "item_id"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "category": _TEXT,
                "cluster": _TEXT,
                "messages": _MESSAGES,
                "reference": _TEXT,
                "metadata": _TEXT,
            },
            frozenset({"category", "reference"}),
            {},
        ),
        Table(
            "responses",
            ("study", "item_id", "responder", "step", "sample"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "sample": _INT,
                "text": _TEXT,
                "status": _TEXT,
            },
            frozenset(),
            {"status": _one_of(("ok", "truncated"))},
        ),
        Table(
            "labels",
            ("study", "item_id", "responder_a", "responder_b", "annotator", "repeat"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder_a": _TEXT,
                "responder_b": _TEXT,
                "annotator": _TEXT,
                "repeat": _INT,
                "label": _TEXT,
            },
            frozenset(),
            {"label": _one_of(("a", "b", TIE))},
        ),
        Table(
            "truths",
            ("study", "item_id", "responder", "step", "metric"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "metric": _TEXT,
                "score": _REAL,
            },
            frozenset(),
            {},
        ),
        Table(
            "ratings",
            (
                "study",
                "item_id",
                "responder",
                "step",
                "sample",
                "judge",
                "task",
                "variant",
                "repeat",
            ),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "sample": _INT,
                "judge": _TEXT,
                "task": _TEXT,
                "variant": _TEXT,
                "repeat": _INT,
                "score": _REAL,
                "marks": _REALS,
                "distribution": _REALS,
                "mass": _REAL,
                "reply": _TEXT,
                "stored": _REAL,
                "status": _TEXT,
            },
            frozenset({"score", "marks", "distribution", "mass", "reply", "stored"}),
            {"task": _one_of(TASKS), "status": _one_of(STATUSES)},
        ),
        # What a reader found in each file of a release: a count of rows a finding.
        Table(
            "audit",
            ("study", "file", "finding"),
            {
                "study": _TEXT,
                "file": _TEXT,
                "finding": _TEXT,
                "rows": _INT,
                "affected": _INT,
                "detail": _TEXT,
            },
            frozenset({"detail"}),
            {},
        ),
        Table(
            "perplexities",
            ("study", "item_id", "responder", "step", "judge", "conditional"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "responder": _TEXT,
                "step": _INT,
                "judge": _TEXT,
                "conditional": pyarrow.bool_(),
                "sum_nll": _REAL,
                "n_tokens": _INT,
                "n_bytes": _INT,
                "status": _TEXT,
            },
            frozenset({"sum_nll"}),
            {
                "status": _one_of(STATUSES),
                "sum_nll": pa.Check(lambda column: column >= 0, error="at least 0, in nats"),
            },
        ),
        Table(
            "verdicts",
            ("study", "item_id", "judge", "task", "variant", "candidates", "repeat"),
            {
                "study": _TEXT,
                "item_id": _TEXT,
                "judge": _TEXT,
                "task": _TEXT,
                "variant": _TEXT,
                "candidates": _TEXTS,
                "order_known": pyarrow.bool_(),
                "repeat": _INT,
                "probabilities": _REALS,
                "mass": _REAL,
                "choice": _TEXT,
                "stored": _REAL,
                "status": _TEXT,
            },
            frozenset({"probabilities", "mass", "choice", "stored"}),
            {
                "task": _one_of(TASKS),
                "status": _one_of(STATUSES),
                "mass": pa.Check(
                    lambda column: column.between(0, 1 + ROUNDING), error="between 0 and 1"
                ),
            },
            {
                "candidates": Lists("at least two different responders", _not_different),
                "probabilities": Lists("each in 0..1 and a sum of at most 1", _no_probabilities),
            },
            ("choice",),
        ),
    )
}
