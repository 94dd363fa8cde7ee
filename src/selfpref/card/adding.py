"""`selfpref add`: a file of judgments becomes a data set of the recorded profile.

The lines are put into the text of the profile, so that its comments stay, and nothing is written
unless the whole is valid.
"""

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from selfpref import paths
from selfpref.card.measured import known, nearly
from selfpref.errors import SelfprefError
from selfpref.files import write_text
from selfpref.formats import judgments
from selfpref.formats.rows import Rows, tables_of
from selfpref.params import load
from selfpref.profiles import active
from selfpref.statistics.scores import names_of
from selfpref.studies.wataoka import STUDY
from selfpref.studies.wataoka.labels import refuse_strangers

PROFILE = "recorded"
# A part of the study's section: what stands below it is indented further.
PART = r"^wataoka:\n(?:(?: +.*| *#.*)?\n)*?  {}:( \{{\}})?\n((?:    .*\n| *\n)*)"


def _names(entries: Mapping[str, str]) -> str:
    pairs = (f"{json.dumps(old)}: {json.dumps(new)}" for old, new in entries.items())
    return "{" + ", ".join(pairs) + "}"


def lines(name: str, keys: Mapping[str, str | None]) -> str:
    """The lines of an entry.

    >>> print(lines("mine", {"reader": "pairs", "source": "mine.jsonl", "judges": None}), end="")
        mine:
          reader: pairs
          source: mine.jsonl
    """
    given = [f"      {key}: {value}\n" for key, value in keys.items() if value]
    return "".join([f"    {name}:\n", *given])


def added(text: str, part: str, entry: str) -> str:
    """The text of a profile with an entry after the others of a part of the study's section.

    Raises:
        SelfprefError: The part is not where it is looked for.
    """
    if (match := re.search(PART.format(part), text, re.M)) is None:
        raise SelfprefError(f"{PROFILE}: no lines `wataoka:` and `  {part}:`; add {entry!r}")
    end = match.start(2) + len(match[2].rstrip("\n")) + (1 if match[2].strip() else 0)
    above = text[:end] if match[1] is None else text[: match.start(1)] + text[match.end(1) : end]
    return above + entry + text[end:]


def _within(path: Path) -> str:
    """A file as its path in the repository."""
    root = paths.root().resolve()
    if root not in path.resolve().parents:
        raise SelfprefError(f"{path}: not in {root}; the pipeline reads only files there")
    return path.resolve().relative_to(root).as_posix()


def _check(
    name: str, rows: Rows, votes: Rows | None, judge: str | None, aliases: Mapping[str, str]
) -> None:
    """End where a name is in no file, or where the pipeline could not make tables of the rows."""
    there = known(rows, votes)
    if strange := [given for given in aliases if given not in there]:
        near = nearly(strange[0], there)
        hint = f"; nearest is {near!r}" if near else ""
        raise SelfprefError(f"--alias {strange[0]}: no such judge or responder{hint}")
    rows = rows.renamed(aliases)
    made = tables_of(rows, name, STUDY.name)
    judging = names_of(rows.frame["judge"].dropna())
    if judge and judge not in judging:
        raise SelfprefError(f"--judge {judge}: no such judge, there are {', '.join(judging)}")
    if votes is not None:
        votes = votes.renamed(aliases)
        tables_of(votes, name, STUDY.name)
        responders = {*rows.frame["responder_a"].unique(), *rows.frame["responder_b"].unique()}
        refuse_strangers(votes, name, made["items"]["item_id"], responders)


def add(
    path: Path,
    name: str,
    judge: str | None = None,
    votes: Path | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Path:
    """Add a file to the data sets of the recorded profile.

    Args:
        path: The file of judgments, within the repository.
        name: The data set's key.
        judge: The only judge to be read, as the file or an alias names it.
        votes: A file of votes on the same items, within the repository.
        aliases: Other names of judges and responders.

    Returns:
        The profile's file.

    Raises:
        SelfprefError: A file cannot be read or lies elsewhere, votes are on what nobody judged, or
            the name is taken or no slug.
    """
    aliases = aliases or {}
    reader = judgments.recognise(path)
    called = judgments.called([judge] if judge else [], aliases)
    rows = judgments.read(path, reader, called)
    _check(name, rows, None if votes is None else judgments.votes(votes), judge, aliases)
    target = paths.params_file() if active() == PROFILE else paths.profile_file(PROFILE)
    text = target.read_text(encoding="utf-8")
    if name in load(target).wataoka.datasets:
        raise SelfprefError(f"{target.name}: wataoka.datasets.{name} is there; choose another name")
    shared = {"aliases": _names(aliases) if aliases else None}
    keys = {"reader": reader, "source": _within(path)} | shared
    keys |= {"judges": json.dumps([judge]) if judge else None}
    text = added(text, "datasets", lines(name, keys))
    if votes is not None:
        text = added(text, "label", lines(name, {"source": _within(votes)} | shared))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / target.name
        scratch.write_text(text, encoding="utf-8")
        if name not in load(scratch, sources=paths.root()).wataoka.datasets:
            raise SelfprefError(f"{target.name}: the lines did not become a data set; add them")
    write_text(target, text)
    return target
