"""Why a call failed, in words without secrets, and when a stage has to stop.

The SDK has retried by then. What is left is told apart as

    truncated, refused   the request's own fault: its row has that status
    hard                 the next call will fail the same way: key, model, quota, a parameter
    other                a server that was down or slow: the row's status is `failed`

A failed call is no answer and is asked again by the next run. The stage stops at the first failure
before any answer, at `HARD` hard ones or `SOFT` others in a row, and at its end where more than
`SHARE` of the calls failed. What was answered is kept in every case.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx2
import openai

from selfpref.errors import SelfprefError
from selfpref.models import Status
from selfpref.params.models import SECRET

HARD, SOFT, SHARE = 3, 20, 0.05
# Status codes that no retry mends.
REJECTED = frozenset({400, 401, 402, 403, 404, 405, 413, 422})
QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context",
    re.IGNORECASE,
)
FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)
LENGTH = 200


def redact(message: str, key: str) -> str:
    """One short line without the key or anything that looks like one."""
    if key:
        message = message.replace(key, "***")
    line = " ".join(SECRET.sub("***", message).split()).removesuffix(".")
    return line if len(line) <= LENGTH else f"{line[:LENGTH]} ..."


@dataclass(frozen=True)
class Failure:
    """Why a call has no answer: the status of its row, the reason, and whether it is a hard one."""

    status: Status
    reason: str
    hard: bool = False


def explain(error: Exception, key: str) -> Failure:
    """What an exception of the SDK or of its transport means; `key` must not be told."""
    if not isinstance(error, openai.APIStatusError):
        cause = error.__cause__ or error
        reason = str(cause) or type(cause).__name__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            # The client's own words do not name it.
            host = cause.request.url.netloc.decode()
            reason = f"Cannot connect to host {host}: {reason}"
        return Failure("failed", redact(reason, key))
    code, body = error.status_code, error.body
    told: Mapping[str, object] = body if isinstance(body, dict) else {"message": body or ""}
    words = " ".join(str(told.get(part) or "") for part in ("code", "type", "message"))
    if code in (400, 413, 422) and TOO_LONG.search(words):
        return Failure("truncated", "longer than the context")
    if code == 400 and FILTERED.search(words):
        return Failure("refused", "stopped by the content filter")
    hard = code in REJECTED or str(told.get("code") or told.get("type")) in QUOTA
    return Failure("failed", redact(f"{code}: {told.get('message') or words}", key), hard)


@dataclass
class Circuit:
    """Counts answers and failures, and says when to stop.

    Attributes:
        name: The model's key in `models`.
        total: Calls in all.
    """

    name: str
    total: int
    answered: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    in_row: Counter[bool] = field(default_factory=Counter)
    stopped: bool = False

    def count(self, failure: Failure | None) -> None:
        """A call was answered, or has failed."""
        if failure is None:
            self.answered += 1
            self.in_row.clear()
        elif failure.status == "failed":
            self.reasons[failure.reason] += 1
            self.in_row[failure.hard] += 1
            limits = self.in_row[True] >= HARD or self.in_row[False] >= SOFT
            self.stopped |= limits or not self.answered

    def verdict(self) -> SelfprefError | None:
        """What to tell at the end, where too much has failed."""
        failed = self.reasons.total()
        if not self.stopped and failed <= SHARE * self.total:
            return None
        reasons = "; ".join(f"{count} x {reason}" for reason, count in self.reasons.most_common(3))
        left = self.total - self.answered - failed
        return SelfprefError(
            f"models.{self.name}: {'stopped, ' if left else ''}"
            f"{failed} {'call' if failed == 1 else 'calls'} failed ({reasons}); "
            f"{self.answered} answered and kept, {left} not asked.\n"
            "Correct the cause and run again: only what is missing is asked"
        )
