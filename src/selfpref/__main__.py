"""The command line: what the Makefile and dvc.yaml call."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from json import dumps
from operator import methodcaller
from pathlib import Path
from typing import Any, NoReturn

from selfpref import __version__, paths, processes
from selfpref.errors import SelfprefError
from selfpref.files import check_place, write_text

FORMATS = ("auto", "pairs", "fastchat", "arena", "arena-hard", "alpaca-eval", "reviews", "marks")


class Parser(argparse.ArgumentParser):
    """Arguments of the command line; a mistake in them is told in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the status 2."""
        self.exit(2, f"error: {message}; see {self.prog} --help\n")


PARSER = Parser(prog="selfpref", description=__doc__)
PARSER.add_argument("--version", action="version", version=__version__)
COMMANDS = PARSER.add_subparsers(required=True, metavar="COMMAND")
# What a command takes: the arguments of `add_argument`.
option = partial(methodcaller, "add_argument")


def pair(text: str) -> tuple[str, str]:
    """The two sides of `A=B`."""
    name, _, value = text.partition("=")
    if not (name and value):
        raise argparse.ArgumentTypeError(f"{text}: give A=B")
    return name, value


def command(*options: methodcaller) -> Callable[..., None]:
    """Make a function a command of its name, whose help is its docstring."""

    def register(function: Callable[..., int | None]) -> None:
        told = function.__doc__ or ""
        form = argparse.RawDescriptionHelpFormatter
        parser = COMMANDS.add_parser(
            function.__name__, help=told.split("\n")[0], description=told, formatter_class=form
        )
        for add in options:
            add(parser)
        parser.set_defaults(call=function)

    return register


Pairs = list[tuple[str, str]]
pairs = partial(option, action="append", type=pair, default=[], metavar="A=B")


@command(option("--out", type=Path, help="file to write once it is valid"))
def check(out: Path | None) -> None:
    """Validate params.yaml."""
    from selfpref.commands import ceiling
    from selfpref.params import load
    from selfpref.studies.registry import STUDIES, reader

    params = load(paths.params_file())
    for study in STUDIES:
        for dataset in params.study(study).datasets:
            reader(params, study, dataset)
    if len(rows := ceiling.bounds(params)):
        print(ceiling.text(rows))
        ceiling.refuse(params)
    if out:
        # What nobody fills in this profile is no folder yet, and DVC wants it all the same.
        for folder in paths.always_there(params.profile, STUDIES):
            folder.mkdir(parents=True, exist_ok=True)
        for path in (path for one in STUDIES.values() for path in one.sweep(params)):
            print(f"{path}: no entry of params.yaml makes it any longer; removed")
        # A constant: only an invalid file changes what comes after.
        write_text(out, "params.yaml is valid\n")


@command(option("profile", help="the name of a file in profiles/, or of the active profile"))
def use(profile: str) -> None:
    """Make another profile the active one.

    params.yaml is saved to the file of its own profile, and the other one copied over it. Both are
    validated first, so that a broken profile leaves the active one as it is.
    """
    from selfpref.params import load

    params, wanted = paths.params_file(), paths.profile_file(profile)
    current = load(params).profile
    if profile == current:
        return
    if not wanted.is_file():
        others = sorted({path.stem for path in wanted.parent.glob("*.yaml")} | {current})
        told = f"profiles/{wanted.name}: no such profile; choose one of: {', '.join(others)}"
        raise SelfprefError(told)
    load(wanted)
    write_text(paths.profile_file(current), params.read_text())
    write_text(params, wanted.read_text())


@command(
    option("notebook", type=Path),
    option("output", type=Path, help="the executed copy"),
    pairs("-p", "--parameter"),
    option("--chapter", action="store_true", help="leave empty sections out"),
)
def run(notebook: Path, output: Path, parameter: Pairs, *, chapter: bool) -> None:
    """Execute a notebook."""
    from selfpref.commands.run import run

    run(notebook, output, dict(parameter), chapter=chapter)


@command()
def report() -> None:
    """Write the report of the active profile."""
    from selfpref.params import load
    from selfpref.report.book import build

    index = build(load(paths.params_file()))
    print(f"open {index.relative_to(paths.root())}")


@command(
    option(
        "judgments",
        type=Path,
        nargs="+",
        help="JSON lines, JSON, CSV, TSV or parquet, packed by gzip or not (- is standard input); "
        "or a folder of reviews",
    ),
    option("--judge", metavar="NAME", help="the only judge to have a card"),
    option("--votes", type=Path, help="a file of people's votes on the same pairs"),
    option("--format", dest="wanted", choices=FORMATS, default="auto"),
    pairs("--alias", help="call A, a judge or responder of the files, B"),
    pairs("--columns", help="A is the column that the files call B"),
    option("--brief", action="store_true", help="print the answers alone"),
    option("--fail-on", choices=["favours", "marks"], help="status 1 if an answer begins so"),
    option("--html", type=Path, help="write the cards to this file"),
    option("--json", type=Path, help="write the numbers to this file"),
)
def measure(
    judgments: list[Path],
    votes: Path | None,
    alias: Pairs,
    columns: Pairs,
    html: Path | None,
    json: Path | None,
    fail_on: str | None,
    *,
    brief: bool,
    **given: Any,
) -> int:
    """Whether the judges of a file of judgments favour themselves.

    A row a verdict: item, responder_a, responder_b, label (people's vote), judge, order, verdict
    (docs/measure.md has the rest, and the formats of others).

      selfpref example > judgments.csv
      selfpref measure judgments.csv --html card.html
      selfpref measure verdicts.jsonl --votes votes.csv --alias gpt4=gpt-4
      selfpref measure log.parquet --columns item=qid --columns verdict=winner --brief
      zcat judgments.jsonl.gz | selfpref measure - --fail-on favours
    """
    from selfpref.card import words
    from selfpref.card.measured import read

    written = [*filter(None, (json, html))]
    places = [path.resolve() for path in filter(None, (*judgments, votes, *written))]
    if twice := [path.name for path in places if places.count(path) > 1]:
        told = "given twice, so that all in it would count twice or be overwritten"
        raise SelfprefError(f"{twice[0]}: {told}; give another name")
    for path in written:
        check_place(path)
    found = read(*judgments, votes=votes, alias=dict(alias), columns=dict(columns), **given)
    if json:
        write_text(json, f"{dumps(found.to_dict(), indent=1, ensure_ascii=False)}\n")
    if html:
        write_text(html, words.html(found))
    with suppress(BrokenPipeError):
        print(words.brief_text(**words.parts(found.numbers)) if brief else found)
    answers = (one.verdict for one in found.answers.values())
    return int(fail_on is not None and any(one.startswith(fail_on) for one in answers))


@command(
    option("--like", type=Path, metavar="FILE", help="with the items, judges and votes of a file"),
    option("--sets", type=int, default=10, help="simulated sets a property; seconds each (10)"),
)
def validate(like: Path | None, sets: int) -> None:
    """In what share of simulated sets each measure is above 0, by the judge's property."""
    from selfpref.card import validate

    verdicts, votes, judges = validate.like(like) if like else (*validate.design(), validate.NAMES)
    print(validate.table(validate.played(verdicts, votes, judges, sets)), end="")


@command()
def example() -> None:
    """Print simulated judgments, to try measure on."""
    from selfpref.card import validate

    print(validate.example().to_csv(index=False, lineterminator="\n"), end="")


@command(option("out", type=Path, help="the table (.csv)"))
def claims(out: Path) -> None:
    """Write the papers' claims beside what came out."""
    from selfpref.studies.claims import write

    write(out)


@command(option("source", type=Path, nargs="+", help="a list of pinned files (.csv)"))
def fetch(source: list[Path]) -> None:
    """Download released files into the cache."""
    from selfpref.download.fetch import fetch

    for pins in source:
        print(f"{pins}: {len(fetch(pins))} files are there")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one or two lines and the status 1."""
    processes.settle()
    arguments = vars(PARSER.parse_args(argv))
    # What the shell says of a command that was ended by a closed pipe.
    status = 141
    try:
        status = arguments.pop("call")(**arguments) or 0
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # `| head -1` has read what it wants; at its end Python would try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status
    except SelfprefError as error:
        told = str(error)
    except ModuleNotFoundError as error:
        if (error.name or "selfpref").startswith("selfpref"):
            raise
        told = (
            f"{error.name} is not installed; in a clone of the repository: pip install "
            "'.[pipeline]', or '.[pipeline,models]' for profiles that run models"
        )
    except OSError as error:
        # No room, not allowed to write, no name for a file: the user's to mend.
        told = f"{error.filename or 'the disk'}: {error.strerror or error}; mend it and run again"
    except KeyboardInterrupt:
        print("interrupted; run again to go on", file=sys.stderr)
        return 130
    print(f"error: {told}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
