"""Reader of the release of Xu et al. (arXiv 2402.11436): six models that refine their own texts.

Translation into English from Yoruba, Javanese, Armenian and Igbo (FLORES-200, 100 sentences each),
and sentences from given concepts (CommonGen-Hard, 100 items). How the tables hold it:

- An item is `<language>/<line>`, such as `yor-en/12` or `commongen/7`; lines count from 1. Texts
  that came about otherwise have the condition in front: `best-of-8/yor-en/12`,
  `paraphrase/nllb-moe-54b/yor-en/12`, `second-run/yor-en/12`. What stands before the last slash but
  one is the condition, between the last two the language. The same line of FLORES in any language
  and condition is one cluster, `flores/12`.
- Responses: the step of the refinement is `step`. Best of k: the candidates are step 0, samples
  0..k-1, and the one that the model chose is step 1. Paraphrases: the translator's text is step 0
  under the translator's name, a model's paraphrase is step 1 under that model's name. The reference
  translations are those of the responder `human`.
- Ratings: `score` is what the feedback says (`selfpref.prompts.feedback`), null with a status
  where it says nothing; `stored` is the score by the release's own rule, to which everything that
  it does not find is perfect. A judge's second file on the same texts has `repeat` 1.
- Truths: `bleurt`, `bleurt-mqm` (the release's map to the scale of MQM; recovered from the files
  that hold both, and applied to those that hold raw scores only), `human-mqm`, and for concepts
  `coverage-surface` and `coverage-lemma`, computed here.

What matters in reading it:

- A file that does not hold one value a sentence is left out. So are steps of a translation without
  BLEURT (gpt-4, steps 11 and 12: another run).
- Feedback of Gemini on texts of others, and of gpt-4 on Gemini's, was given to texts of other runs,
  most of which are not released; it is read as the files are named. The texts of Gemini's second
  run are not released either. Whether feedback quotes the text at hand is for the metrics to check.
- Findings that concern a chain of steps are those of `selfpref.studies.xu.chains`. The release's
  score enters there without its floor of -25, as the release's loop compared it.
"""

from pathlib import Path

import pandas as pd

from selfpref.formats.records import judges_of
from selfpref.params import Dataset
from selfpref.studies.xu.read.checks import (
    check_chains,
    check_choices,
    every_step_follows,
    without_truth,
)
from selfpref.studies.xu.read.release import Release
from selfpref.studies.xu.read.rows import read_feedback, read_numbers, read_references, read_texts


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: The study, and whose feedback to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, truths and audit.

    Raises:
        SelfprefError: A file cannot be had, read or placed; a judge is not in the release; a step
            lacks its predecessor; the map from BLEURT to MQM contradicts itself.
    """
    release = Release(entry.study, source)
    known = {where.judge for _, where in release.of("feedback") if where.judge}
    judges_of(dataset, entry, known)
    every_step_follows(release)
    skipped = without_truth(release)
    read_texts(release, skipped)
    read_numbers(release)
    read_feedback(release, entry.judges, skipped)
    read_references(release)
    found = release.tables()
    check_chains(release, **found)
    check_choices(release, found["ratings"])
    release.ledger.duplicates(release.files)
    return {"items": release.items(), **found, "audit": release.ledger.table()}
