"""`selfpref add`: a file of judgments becomes a data set of the recorded profile.

The lines are put into the text of the profile, so that its comments stay, and nothing is written
unless the whole is valid.
"""

import re
import tempfile
from pathlib import Path

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import write_text
from selfpref.formats import judgments
from selfpref.params import load
from selfpref.profiles import active

PROFILE = "recorded"
# The data sets of the study: what stands below them is indented further.
DATASETS = re.compile(r"^wataoka:\n(?:(?: +.*| *#.*)?\n)*?  datasets:\n((?:    .*\n| *\n)*)", re.M)


def lines(name: str, reader: str, source: str, judge: str | None) -> str:
    """The entry's lines.

    >>> print(lines("mine", "pairs", "mine.jsonl", None), end="")
        mine:
          reader: pairs
          source: mine.jsonl
    """
    found = f"    {name}:\n      reader: {reader}\n      source: {source}\n"
    return found + (f"      judges: [{judge}]\n" if judge else "")


def added(text: str, entry: str) -> str:
    """The text of a profile with an entry after its data sets.

    Raises:
        SelfprefError: They are not where they are looked for.
    """
    if (match := DATASETS.search(text)) is None:
        raise SelfprefError(f"{PROFILE}: no lines `wataoka:` and `  datasets:`; add {entry!r}")
    end = match.start(1) + len(match[1].rstrip("\n")) + 1
    return text[:end] + entry + text[end:]


def add(path: Path, name: str, judge: str | None = None) -> Path:
    """Add a file to the data sets of the recorded profile.

    Args:
        path: The file of judgments, within the repository.
        name: The data set's key.
        judge: The judge of review files whose names do not tell it; only its verdicts are read.

    Returns:
        The profile's file.

    Raises:
        SelfprefError: The file cannot be read or lies elsewhere, or the name is taken or no slug.
    """
    reader = judgments.recognise(path)
    judgments.read(path, reader, [judge] if judge else ())
    root = paths.root().resolve()
    if root not in path.resolve().parents:
        raise SelfprefError(f"{path}: not in {root}; the pipeline reads only files there")
    target = paths.params_file() if active() == PROFILE else paths.profile_file(PROFILE)
    text = target.read_text(encoding="utf-8")
    if name in load(target).wataoka.datasets:
        raise SelfprefError(f"{target.name}: wataoka.datasets.{name} is there; choose another name")
    source = path.resolve().relative_to(root).as_posix()
    made = added(text, lines(name, reader, source, judge))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / target.name
        scratch.write_text(made, encoding="utf-8")
        if name not in load(scratch, sources=root).wataoka.datasets:
            raise SelfprefError(f"{target.name}: the lines did not become a data set; add them")
    write_text(target, made)
    return target
