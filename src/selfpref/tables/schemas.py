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

import re

import pyarrow

STATUSES = ("ok", "unparsable", "refused", "low-mass", "truncated", "failed")
TASKS = (
    *("preference", "recognition", "inferiority", "quality", "rubric"),
    *("mqm", "coverage", "correctness"),
)
TIE = "tie"
# Who labels pairs where judges do and no person does; the name of such a data set ends in it.
PANEL = "panel"
# Who labels pairs by which response is right, and the metric of the truths that says which are.
KEY, CORRECT = "key", "correct"
# Probabilities of labels are read in floating point; their sum may exceed one by this much.
ROUNDING = 1e-6

_TEXT, _INT, _REAL = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
# Types of the columns that are no text; a name means the same in every table.
_TYPES = {
    **dict.fromkeys(("step", "sample", "repeat", "n_tokens", "n_bytes", "rows", "affected"), _INT),
    **dict.fromkeys(("score", "mass", "stored", "sum_nll"), _REAL),
    **dict.fromkeys(("probabilities", "marks", "distribution"), pyarrow.list_(_REAL)),
    **dict.fromkeys(("order_known", "conditional"), pyarrow.bool_()),
    "candidates": pyarrow.list_(_TEXT),
    "messages": pyarrow.list_(pyarrow.struct([("role", _TEXT), ("content", _TEXT)])),
}
# What stands for what a source does not tell apart (`selfpref.tables.fill`).
DEFAULTS: dict[str, object] = {
    **dict.fromkeys(("step", "sample", "repeat"), 0),
    **dict.fromkeys(("category", "reference", "marks", "distribution", "mass", "reply")),
    **dict.fromkeys(("stored", "detail", "probabilities")),
    **{"metadata": "{}", "annotator": "human", "variant": "plain", "order_known": True},
}
# Of one table alone.
OWN_DEFAULTS: dict[str, dict[str, object]] = {
    "responses": {"status": "ok"},
    "verdicts": {"task": "preference"},
}
# Columns in the order in which files hold them: `*` behind those of the key, by which rows are told
# apart and sorted, `?` where null is allowed. A row of `audit` is what a reader found in a file.
_COLUMNS = {
    "items": "study* item_id* category? cluster messages reference? metadata",
    "responses": "study* item_id* responder* step* sample* text status",
    "labels": "study* item_id* responder_a* responder_b* annotator* repeat* label",
    "truths": "study* item_id* responder* step* metric* score",
    "ratings": "study* item_id* responder* step* sample* judge* task* variant* repeat* score? "
    "marks? distribution? mass? reply? stored? status",
    "audit": "study* file* finding* rows affected detail?",
    "perplexities": "study* item_id* responder* step* judge* conditional* sum_nll? n_tokens "
    "n_bytes status",
    "verdicts": "study* item_id* judge* task* variant* candidates* order_known repeat* "
    "probabilities? mass? choice? stored? status",
}


class Table:
    """One table; what must hold of its values stands in `selfpref.tables.checks`.

    Attributes:
        key: The columns that tell its rows apart, and by which files are sorted.
        columns: Its columns with their types, in the order in which files hold them.
        nullable: Those that may be null.
        arrow: The schema on disk.
    """

    def __init__(self, columns: str) -> None:
        self.key, self.nullable = re.findall(r"(\w+)\*", columns), re.findall(r"(\w+)\?", columns)
        self.columns = {name: _TYPES.get(name, _TEXT) for name in re.findall(r"\w+", columns)}
        self.arrow = pyarrow.schema(self.columns)


TABLES = {name: Table(columns) for name, columns in _COLUMNS.items()}
