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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
# What `selfpref.tables.checks` asks about, in any table.
CHECKED = ("status", "task", "label", "mass", "sum_nll", "candidates", "probabilities", "choice")
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
class Table:
    """One table; what must hold of its values stands in `selfpref.tables.checks`.

    Attributes:
        name: Its name.
        key: The columns that tell its rows apart, and by which files are sorted.
        columns: Its columns with their types, in the order in which files hold them.
        nullable: The columns that may be null.
        defaults: The values of columns that a source does not tell apart (`selfpref.tables.fill`).
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, pyarrow.DataType]
    nullable: frozenset[str]
    defaults: Mapping[str, object]

    def holding(self, names: Iterable[str]) -> "Table":
        """The same table without the columns that are neither named nor needed by its checks."""
        kept = {*self.key, *CHECKED, *names}
        columns = {name: kind for name, kind in self.columns.items() if name in kept}
        return replace(self, columns=columns)

    @property
    def arrow(self) -> pyarrow.Schema:
        """The schema on disk."""
        return pyarrow.schema(list(self.columns.items()))


def _table(name: str, key: str, columns: str, nullable: str = "", **defaults: object) -> Table:
    """A table of these columns, the values of some of which are known where nobody gives them."""
    types = {column: _TYPES.get(column, _TEXT) for column in columns.split()}
    return Table(name, tuple(key.split()), types, frozenset(nullable.split()), defaults)


_TEXT_KEY = "study item_id responder step sample"
TABLES = {
    table.name: table
    for table in (
        _table(
            "items",
            "study item_id",
            "study item_id category cluster messages reference metadata",
            nullable="category reference",
            category=None,
            reference=None,
            metadata="{}",
        ),
        _table(
            "responses",
            _TEXT_KEY,
            f"{_TEXT_KEY} text status",
            step=0,
            sample=0,
            status="ok",
        ),
        _table(
            "labels",
            "study item_id responder_a responder_b annotator repeat",
            "study item_id responder_a responder_b annotator repeat label",
            annotator="human",
            repeat=0,
        ),
        _table(
            "truths",
            "study item_id responder step metric",
            "study item_id responder step metric score",
            step=0,
        ),
        _table(
            "ratings",
            f"{_TEXT_KEY} judge task variant repeat",
            f"{_TEXT_KEY} judge task variant repeat score marks distribution mass reply stored "
            "status",
            nullable="score marks distribution mass reply stored",
            step=0,
            sample=0,
            variant="plain",
            repeat=0,
            **dict.fromkeys(("marks", "distribution", "mass", "reply", "stored")),
        ),
        # What a reader found in each file of a release: a count of rows a finding.
        _table(
            "audit",
            "study file finding",
            "study file finding rows affected detail",
            nullable="detail",
            detail=None,
        ),
        _table(
            "perplexities",
            "study item_id responder step judge conditional",
            "study item_id responder step judge conditional sum_nll n_tokens n_bytes status",
            nullable="sum_nll",
            step=0,
        ),
        _table(
            "verdicts",
            "study item_id judge task variant candidates repeat",
            "study item_id judge task variant candidates order_known repeat probabilities mass "
            "choice stored status",
            nullable="probabilities mass choice stored",
            task="preference",
            variant="plain",
            order_known=True,
            repeat=0,
            **dict.fromkeys(("probabilities", "mass", "stored")),
        ),
    )
}
