"""Requests sent as batches: half the price, within a day, across restarts.

A batch is noted in the store before it is sent and until its results are in, so that a stage that
was killed or interrupted goes on waiting for it and never pays twice. What failed, expired or was
cancelled in a batch is no answer; the next run asks for it in a new one.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import openai
from openai.types import Batch as State

from selfpref import progress
from selfpref.errors import SelfprefError
from selfpref.models import Json, Raw, Status
from selfpref.models.served.failures import Circuit, Failure, explain, rejected
from selfpref.models.served.live import secret
from selfpref.models.served.reading import NotGivenError, outcome
from selfpref.params import Hosted
from selfpref.store import Store, call_key

ENDPOINT: Final = "/v1/chat/completions"
# The API takes 50,000 requests and 200 MB at most.
REQUESTS, BYTES = 50_000, 150_000_000
# Seconds between two looks at a batch.
POLL = 30.0
ENDED = ("completed", "expired", "cancelled")


class Batch:
    """Sends requests as batches.

    Args:
        name: The model's key in `models`.
        entry: Its parameters.
        store: Where batches under way are noted.
    """

    def __init__(self, name: str, entry: Hosted, store: Store) -> None:
        self._name, self._entry, self._store = name, entry, store
        self._prefix = f"batch {entry.base_url} {entry.model} "

    def send(self, requests: Sequence[Json]) -> Iterator[tuple[int, Raw | Status]]:
        """Replies, each once its batch has ended; see `Sender`.

        Raises:
            SelfprefError: No key; a batch was refused; the endpoint cannot be reached; too many
                requests failed.
        """
        key = secret(self._name, self._entry)
        wanted = {call_key(request): index for index, request in enumerate(requests)}
        circuit = Circuit(self._name, len(requests))
        with openai.OpenAI(
            base_url=self._entry.base_url,
            api_key=key or "none",
            max_retries=self._entry.retries,
            timeout=self._entry.timeout,
        ) as client:
            try:
                for note, held in self._under_way(client, requests, wanted).items():
                    results = self._results(client, note)
                    for call in held & wanted.keys():
                        failure = _failure(requests[wanted[call]], results.get(call), key)
                        if failure is None:
                            circuit.answer()
                            yield wanted[call], Raw(results[call]["response"]["body"])
                        else:
                            if failure.status == "failed":
                                circuit.fail(failure)
                            yield wanted[call], failure.status
                    self._note(note, held - wanted.keys())
            except openai.APIError as error:
                raise SelfprefError(
                    f"models.{self._name}: {explain(error, key).reason}\n"
                    "batches under way stay noted: run again to go on"
                ) from None
        if verdict := circuit.verdict():
            raise verdict

    def _under_way(
        self, client: openai.OpenAI, requests: Sequence[Json], wanted: Mapping[str, int]
    ) -> dict[str, set[str]]:
        """Note and calls of every batch that holds a wanted call; what none holds is sent."""
        held = {}
        for note, value in self._store.notes().items():
            if note.startswith(self._prefix) and not wanted.keys().isdisjoint(value["calls"]):
                if value["id"] is None:
                    # It was noted, and perhaps sent, by a run that was killed in between.
                    value["id"] = _find(client, note)
                    self._store.note(note, value if value["id"] else None)
                if value["id"]:
                    held[note] = set(value["calls"])
        known = set().union(*held.values())
        for lines in _parts({c: requests[i] for c, i in wanted.items() if c not in known}):
            note = self._prefix + call_key({"calls": sorted(lines)})
            self._store.note(note, {"id": None, "calls": sorted(lines)})
            file = client.files.create(
                file=("batch.jsonl", b"\n".join(lines.values())), purpose="batch"
            )
            batch = client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={"selfpref": call_key({"note": note})},
            )
            self._store.note(note, {"id": batch.id, "calls": sorted(lines)})
            held[note] = set(lines)
        return held

    def _note(self, note: str, calls: set[str]) -> None:
        """Leave in a note the calls that nobody has asked for yet."""
        value = self._store.notes()[note]
        self._store.note(note, value | {"calls": sorted(calls)} if calls else None)

    def _results(self, client: openai.OpenAI, note: str) -> dict[str, Json]:
        """The results of a batch by call, once it has ended."""
        state = self._wait(client, self._store.notes()[note]["id"])
        if state.status not in ENDED:
            self._store.note(note, None)
            told = state.errors.data if state.errors and state.errors.data else []
            reasons = "; ".join(str(error.message) for error in told[:3]) or state.status
            raise SelfprefError(f"models.{self._name}: {state.id} was refused: {reasons}")
        results = {}
        for file in filter(None, (state.output_file_id, state.error_file_id)):
            for line in client.files.content(file).text.splitlines():
                result = json.loads(line)
                results[result["custom_id"]] = result
        return results

    def _wait(self, client: openai.OpenAI, batch: str) -> State:
        state = client.batches.retrieve(batch)
        counts = state.request_counts
        with progress.bar(counts.total if counts else 0, f"{self._name} {batch}") as bar:
            while state.status not in (*ENDED, "failed"):
                time.sleep(POLL)
                state = client.batches.retrieve(batch)
                if state.request_counts:
                    bar.total = state.request_counts.total
                    bar.update(state.request_counts.completed - bar.n)
        return state


def _find(client: openai.OpenAI, note: str) -> str | None:
    """The id of the batch that was sent under a note, if it was."""
    for batch in client.batches.list(limit=100):
        if (batch.metadata or {}).get("selfpref") == call_key({"note": note}):
            return batch.id
    return None


def _parts(requests: Mapping[str, Json]) -> Iterator[dict[str, bytes]]:
    """Lines of a batch file by call, as many as a batch may hold."""
    part: dict[str, bytes] = {}
    size = 0
    for call, request in requests.items():
        line = {"custom_id": call, "method": "POST", "url": ENDPOINT, "body": request["body"]}
        body = json.dumps(line).encode()
        if len(part) == REQUESTS or size + len(body) > BYTES:
            yield part
            part, size = {}, 0
        part[call] = body
        size += len(body)
    if part:
        yield part


def _failure(request: Json, result: Json | None, key: str) -> Failure | None:
    """Why a request has no answer in its batch; None where it has one."""
    if result is None:
        return Failure("failed", "the batch ended without it")
    response = result.get("response")
    if response is None:
        told = result.get("error") or {}
        return Failure("failed", f"{told.get('code')}: {told.get('message')}")
    if response["status_code"] != 200:
        return rejected(response["status_code"], (response["body"] or {}).get("error"), key)
    try:
        status = outcome(request, response["body"])
    except NotGivenError as lack:
        return Failure("failed", str(lack), hard=True)
    return None if status == "ok" else Failure(status, status)
