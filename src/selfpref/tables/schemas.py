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
from dataclasses import dataclass, replace

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
# Who labels pairs where judges do and no person does; the name of such a data set ends in it.
PANEL = "panel"
# Probabilities of labels are read in floating point; their sum may exceed one by this much.
ROUNDING = 1e-6

_TEXT, _TEXTS = pyarrow.string(), pyarrow.list_(pyarrow.string())
_INT, _REAL, _REALS = pyarrow.int64(), pyarrow.float64(), pyarrow.list_(pyarrow.float64())
_MESSAGES = pyarrow.list_(pyarrow.struct([("role", _TEXT), ("content", _TEXT)]))
# Types of the columns that are no text; a name means the same in every table.
_TYPES = {
    **dict.fromkeys(("step", "sample", "repeat", "n_tokens", "n_bytes", "rows", "affected"), _INT),
    **dict.fromkeys(("score", "mass", "stored", "sum_nll"), _REAL),
    **dict.fromkeys(("probabilities", "marks", "distribution"), _REALS),
    **dict.fromkeys(("order_known", "conditional"), pyarrow.bool_()),
    "candidates": _TEXTS,
    "messages": _MESSAGES,
}


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

    `defaults` are the values of columns that a source does not tell apart (`selfpref.tables.fill`).
    `checks` are of columns of single values, `lists` of columns of lists; what is checked across
    columns (`selfpref.tables`) needs those of `checked` besides.
    """

    name: str
    key: tuple[str, ...]
    columns: dict[str, pyarrow.DataType]
    nullable: frozenset[str]
    defaults: Mapping[str, object]
    checks: Mapping[str, pa.Check]
    lists: Mapping[str, Lists]
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


def _table(
    name: str,
    key: str,
    columns: str,
    nullable: str = "",
    defaults: Mapping[str, object] | None = None,
    checks: Mapping[str, pa.Check] | None = None,
    lists: Mapping[str, Lists] | None = None,
    checked: tuple[str, ...] = (),
) -> Table:
    """A table of these columns in the order in which files hold them."""
    types = {column: _TYPES.get(column, _TEXT) for column in columns.split()}
    can_be_null = frozenset(nullable.split())
    made = (defaults or {}, checks or {}, lists or {}, checked)
    return Table(name, tuple(key.split()), types, can_be_null, *made)


_TEXT_KEY = "study item_id responder step sample"
TABLES = {
    table.name: table
    for table in (
        _table(
            "items",
            "study item_id",
            "study item_id category cluster messages reference metadata",
            nullable="category reference",
            defaults={"category": None, "reference": None, "metadata": "{}"},
        ),
        _table(
            "responses",
            _TEXT_KEY,
            f"{_TEXT_KEY} text status",
            defaults={"step": 0, "sample": 0, "status": "ok"},
            checks={"status": _one_of(("ok", "truncated"))},
        ),
        _table(
            "labels",
            "study item_id responder_a responder_b annotator repeat",
            "study item_id responder_a responder_b annotator repeat label",
            defaults={"annotator": "human", "repeat": 0},
            checks={"label": _one_of(("a", "b", TIE))},
        ),
        _table(
            "truths",
            "study item_id responder step metric",
            "study item_id responder step metric score",
            defaults={"step": 0},
        ),
        _table(
            "ratings",
            f"{_TEXT_KEY} judge task variant repeat",
            f"{_TEXT_KEY} judge task variant repeat score marks distribution mass reply stored "
            "status",
            nullable="score marks distribution mass reply stored",
            defaults={"step": 0, "sample": 0, "variant": "plain", "repeat": 0}
            | dict.fromkeys(("marks", "distribution", "mass", "reply", "stored")),
            checks={"task": _one_of(TASKS), "status": _one_of(STATUSES)},
        ),
        # What a reader found in each file of a release: a count of rows a finding.
        _table(
            "audit",
            "study file finding",
            "study file finding rows affected detail",
            nullable="detail",
            defaults={"detail": None},
        ),
        _table(
            "perplexities",
            "study item_id responder step judge conditional",
            "study item_id responder step judge conditional sum_nll n_tokens n_bytes status",
            nullable="sum_nll",
            defaults={"step": 0},
            checks={
                "status": _one_of(STATUSES),
                "sum_nll": pa.Check(lambda column: column >= 0, error="at least 0, in nats"),
            },
        ),
        _table(
            "verdicts",
            "study item_id judge task variant candidates repeat",
            "study item_id judge task variant candidates order_known repeat probabilities mass "
            "choice stored status",
            nullable="probabilities mass choice stored",
            defaults={"task": "preference", "variant": "plain", "order_known": True, "repeat": 0}
            | dict.fromkeys(("probabilities", "mass", "stored")),
            checks={
                "task": _one_of(TASKS),
                "status": _one_of(STATUSES),
                "mass": pa.Check(
                    lambda column: column.between(0, 1 + ROUNDING), error="between 0 and 1"
                ),
            },
            lists={
                "candidates": Lists("at least two different responders", _not_different),
                "probabilities": Lists("each in 0..1 and a sum of at most 1", _no_probabilities),
            },
            checked=("choice",),
        ),
    )
}
