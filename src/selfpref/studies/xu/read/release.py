"""One release while it is read: its files, its sentences, and the rows found so far."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import json_lines, need
from selfpref.studies.xu.read.contents import Ledger, lines_of
from selfpref.studies.xu.read.layout import COMMONGEN, Place, place

Rows = list[dict[str, object]]
KEY = ["study", "item_id", "responder", "step"]


class Release:
    """One release while it is read: its files, its sentences, and the rows found so far."""

    def __init__(self, study: str, source: Path) -> None:
        self.study = study
        self.ledger = Ledger(study)
        self.files = dict(fetch(source))
        self.places = {path: self._known(path, source) for path in sorted(self.files)}
        self.concepts: list[list[str]] = []
        self.sources: dict[str, list[str]] = {}
        self.references: list[str] = []
        self._read_sources()
        self.responses: Rows = []
        self.ratings: Rows = []
        self.truths: Rows = []

    def _known(self, path: str, source: Path) -> Place:
        if (found := place(path)) is None:
            raise SelfprefError(f"{source}: {path} is no file of this release; remove the line")
        return found

    def of(self, *kinds: str) -> Iterator[tuple[str, Place]]:
        """Paths and places of some kinds, in order."""
        return ((path, where) for path, where in self.places.items() if where.kind in kinds)

    def _read_sources(self) -> None:
        for path, where in self.of("source", "reference"):
            local = self.files[path]
            if where.language == COMMONGEN:
                records = [need(row, "concepts", local, n) for n, row in json_lines(local)]
                # The list goes on after the items that were used; the texts' names hold how many.
                self.concepts = records[: self._named_size()]
                self.ledger.note(path, "read", len(records), len(self.concepts))
                continue
            lines = lines_of(local)
            if where.kind == "source":
                self.sources[where.language] = lines
            else:
                self.references = lines
            self.ledger.note(path, "read", len(lines), len(lines))
        for language, lines in self.sources.items():
            if len(lines) != len(self.references):
                raise SelfprefError(
                    f"{language}: {len(lines)} sentences to translate and {len(self.references)} "
                    "references; both files are lists of the same sentences"
                )

    def _named_size(self) -> int:
        sizes = [
            int(path.partition(f"{COMMONGEN}_refinement_")[2].partition("_")[0])
            for path, where in self.of("text")
            if where.language == COMMONGEN
        ]
        return max(sizes, default=0)

    def size(self, where: Place) -> int:
        """How many sentences the items of a place have."""
        if where.language == COMMONGEN:
            return len(self.concepts)
        if where.language not in self.sources:
            raise SelfprefError(f"{where.language}: no file of its source sentences is listed")
        return len(self.sources[where.language])

    def items_of(self, where: Place) -> list[dict[str, object]]:
        """Study and item_id of each sentence of a place."""
        prefix = f"{where.condition}/" if where.condition else ""
        name = f"{prefix}{where.language}"
        return [
            {"study": self.study, "item_id": f"{name}/{i + 1}"} for i in range(self.size(where))
        ]

    def items(self) -> pd.DataFrame:
        """The items table: every condition and language in which there is anything."""
        wheres = {(w.condition, w.language): w for _, w in self.of("text", "feedback", "mapped")}
        rows = []
        for (_, language), where in sorted(wheres.items()):
            for i, identity in enumerate(self.items_of(where)):
                if language == COMMONGEN:
                    held = {"concepts": self.concepts[i]}
                    cluster, question = f"{COMMONGEN}/{i + 1}", ", ".join(self.concepts[i])
                else:
                    held, cluster = {}, f"flores/{i + 1}"
                    question = self.sources[language][i]
                rows.append(
                    identity
                    | {
                        "category": COMMONGEN if held else "translation",
                        "cluster": cluster,
                        "messages": [{"role": "user", "content": question}],
                        "reference": None if held else self.references[i],
                        "metadata": json.dumps(held),
                    }
                )
        return pd.DataFrame(rows)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Responses, ratings and truths, as far as they have been read."""
        said = ["judge", "task", "variant", "repeat", "score", "marks", "reply", "stored", "status"]
        return {
            "responses": pd.DataFrame(self.responses, columns=[*KEY, "sample", "text", "status"]),
            "ratings": pd.DataFrame(self.ratings, columns=[*KEY, "sample", *said]).assign(
                mass=None, distribution=None
            ),
            "truths": pd.DataFrame(self.truths, columns=[*KEY, "metric", "score"]),
        }
