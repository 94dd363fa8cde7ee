"""The command line: what the Makefile and dvc.yaml call."""

import argparse
import errno
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from selfpref import __version__, paths, processes
from selfpref.errors import SelfprefError
from selfpref.files import check_place, write_text

# No room, not allowed to write, or no name for a file: the user's to mend.
UNWRITABLE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)
)


EXAMPLES = """\
a row a verdict: item, responder_a, responder_b, label (people's vote), judge, order, verdict
(docs/measure.md has the rest, and the formats of others)

  selfpref example > judgments.csv
  selfpref measure judgments.csv --html card.html
  selfpref measure verdicts.jsonl --votes votes.csv --alias gpt4=gpt-4
  selfpref measure log.parquet --columns item=qid --columns verdict=winner --brief
  zcat judgments.jsonl.gz | selfpref measure - --fail-on favours
"""


def _check(arguments: argparse.Namespace) -> None:
    from selfpref.commands import ceiling
    from selfpref.params import TASKS, load
    from selfpref.studies.registry import tables_of

    params = load(paths.params_file(), sources=paths.root())
    for note in ceiling.notes(params):
        print(f"{paths.PARAMS}: {note}")
    if len(rows := ceiling.bounds(params)):
        print(ceiling.text(rows))
        ceiling.refuse(params)
    if arguments.out:
        # What nobody fills in this profile is no folder yet, and DVC wants it all the same.
        for folder in paths.always_there(params.profile):
            folder.mkdir(parents=True, exist_ok=True)
        for study in TASKS:
            for path in tables_of(study).sweep(params):
                print(f"{path}: no entry of params.yaml makes it any longer; removed")
        # A constant: only an invalid file changes what comes after.
        write_text(arguments.out, "params.yaml is valid\n")


def _use(arguments: argparse.Namespace) -> None:
    from selfpref.commands.profiles import use

    use(arguments.profile)


def _run(arguments: argparse.Namespace) -> None:
    pairs = [entry.partition("=") for entry in arguments.parameter]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        raise SelfprefError(f"-p {wrong[0]}: give NAME=VALUE")
    given = {name: value for name, _, value in pairs}

    from selfpref.commands.run import run

    run(arguments.notebook, arguments.output, given, chapter=arguments.chapter)


def _report(_: argparse.Namespace) -> None:
    from selfpref.params import load
    from selfpref.report.book import build

    index = build(load(paths.params_file()))
    print(f"open {index.relative_to(paths.root())}")


def _measure(arguments: argparse.Namespace) -> int:
    from selfpref.card import words
    from selfpref.card.command import read

    given = [path.resolve() for path in (*arguments.judgments, arguments.votes) if path]
    for path in filter(None, (arguments.json, arguments.html)):
        check_place(path)
        if path.resolve() in given:
            raise SelfprefError(f"{path}: to be read, not to be written; give another name")
        given.append(path.resolve())
    found = read(
        *arguments.judgments,
        judge=arguments.judge,
        votes=arguments.votes,
        wanted=arguments.format,
        alias=arguments.alias,
        columns=arguments.columns,
        odds=arguments.odds,
    )
    if arguments.json:
        card = json.dumps(found.to_dict(), indent=1, ensure_ascii=False)
        write_text(arguments.json, f"{card}\n")
    if arguments.html:
        from selfpref.card.page import html

        write_text(arguments.html, html(found))
    try:
        print(words.brief_text(found.parts()) if arguments.brief else found, flush=True)
    except BrokenPipeError:
        # `| head -1` has read what it wants; at its end Python would try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    favour = any(answer.favours for answer in found.answers.values())
    return int(arguments.fail_on == "favours" and favour)


def _validate(arguments: argparse.Namespace) -> None:
    from selfpref.card import validate

    found = validate.like(arguments.like) if arguments.like else validate.table()
    print(validate.markdown(found), end="")


def _example(_: argparse.Namespace) -> None:
    from selfpref.card import validate

    print(validate.example().to_csv(index=False, lineterminator="\n"), end="")


def _claims(arguments: argparse.Namespace) -> None:
    from selfpref.studies.claims import write

    write(arguments.out)


def _fetch(arguments: argparse.Namespace) -> None:
    from selfpref.download.fetch import fetch

    for source in arguments.source:
        files = fetch(source)
        print(f"{source}: {len(files)} files are there")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="selfpref", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="validate params.yaml")
    check.add_argument("--out", type=Path, help="file to write once it is valid")
    check.set_defaults(call=_check)

    use = commands.add_parser("use", help="make another profile the active one")
    use.add_argument("profile", help="the name of a file in profiles/, or of the active profile")
    use.set_defaults(call=_use)

    run = commands.add_parser("run", help="execute a notebook")
    run.add_argument("notebook", type=Path)
    run.add_argument("output", type=Path, help="the executed copy")
    run.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--chapter", action="store_true", help="leave empty sections out")
    run.set_defaults(call=_run)

    report = commands.add_parser("report", help="write the report of the active profile")
    report.set_defaults(call=_report)

    measure = commands.add_parser(
        "measure",
        help="whether the judges of a file of judgments favour themselves",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    measure.add_argument(
        "judgments",
        type=Path,
        nargs="+",
        help="the files (.jsonl, .json, .csv, .tsv, with .gz or not, or .parquet; - is standard "
        "input), or a folder of reviews",
    )
    measure.add_argument("--judge", metavar="NAME", help="the only judge to have a card")
    measure.add_argument("--votes", type=Path, help="a file of people's votes on the same pairs")
    measure.add_argument(
        "--format",
        default="auto",
        help="auto, pairs, fastchat, arena, arena-hard, alpaca-eval or reviews (default: auto)",
    )
    measure.add_argument(
        "--alias",
        action="append",
        default=[],
        metavar="A=B",
        help="call A, a judge or responder of the file, B",
    )
    measure.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="A=B",
        help="A is the column that the files call B",
    )
    measure.add_argument(
        "--odds",
        type=float,
        default=1.5,
        help="a bias matters that multiplies the odds of choosing itself by so much (default: 1.5)",
    )
    measure.add_argument("--brief", action="store_true", help="print the answers alone")
    measure.add_argument(
        "--fail-on", choices=["favours"], help="end with status 1 where a judge favours itself"
    )
    measure.add_argument("--html", type=Path, help="write the cards to this file")
    measure.add_argument("--json", type=Path, help="write the numbers to this file")
    measure.set_defaults(call=_measure)

    validate = commands.add_parser(
        "validate", help="what each measure sees of simulated judges, one planted property each"
    )
    validate.add_argument(
        "--like", type=Path, metavar="FILE", help="on the items, judges and votes of this file"
    )
    validate.set_defaults(call=_validate)

    example = commands.add_parser("example", help="print simulated judgments, to try measure on")
    example.set_defaults(call=_example)

    claims = commands.add_parser("claims", help="write the papers' claims beside what came out")
    claims.add_argument("out", type=Path, help="the table (.csv)")
    claims.set_defaults(call=_claims)

    fetch = commands.add_parser("fetch", help="download released files into the cache")
    fetch.add_argument("source", type=Path, nargs="+", help="a list of pinned files (.csv)")
    fetch.set_defaults(call=_fetch)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one or two lines and the status 1."""
    processes.settle()
    arguments = _parser().parse_args(argv)
    try:
        return arguments.call(arguments) or 0
    except SelfprefError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("selfpref"):
            raise
        print(
            f"error: {error.name} is not installed; in a clone of the repository: pip install "
            "'.[pipeline]', or '.[pipeline,models]' for profiles that run models",
            file=sys.stderr,
        )
        return 1
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        where = error.filename or "the disk"
        print(f"error: {where}: {error.strerror}; mend that and run again", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; run again to go on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
