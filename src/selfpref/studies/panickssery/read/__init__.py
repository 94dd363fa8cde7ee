"""Reader of the release of Panickssery, Bowman & Feng (arXiv 2404.13076).

Thousand articles each of XSum and CNN/DailyMail, five sources of summaries, 35 evaluators: three
models and 32 tunes of two of them. The release has no licence; it is read where it lies, and only
numbers derived from it are kept. The articles' texts are not part of the source.

- `item_id` is `xsum/<key>` or `cnn/<key>`, the cluster the article, the metadata its index: tunes
  were trained on the first articles.
- A pair is two verdicts, one an order of presentation. The probabilities are those of the two
  labels in that order, as released; a GPT row holds the top token's probability p alone and gets
  p and 1 - p. A verdict of the task *inferiority* is the judge's answer: whom it named as worse.
- `stored` is the release's own score. It belongs to the pair, and both its verdicts carry it: the
  confidence in the own text, also where the question was which is worse. It is kept as it stands,
  with every defect; the metrics show it as the convention `released`.
- No release file holds the backward probability of GPT's recognition, nor any probability of the
  two base GPT models on XSum: those verdicts are choices without probabilities, and `stored` is
  all there is.
- Variants: `plain`; `rerun` (recognition asked again beside the inverted question);
  `others-named-human` and `others-named-model`; `labels-correct`, `labels-swapped`,
  `labels-random-correct` and `labels-random-swapped` (the random labels, split by what fell);
  `generations` (the tuned model's new summary, under the tuned model's name, against its base's).
- What a row lacks becomes a status: `unparsable` (a token that is no label), `low-mass` (no
  probability on the labels), `failed` (not a number, an order or a value missing, an article that
  is not among the thousand).
- `audit` tells what was found in every file; see `selfpref.studies.panickssery.read.audit`.
"""

from selfpref.studies.panickssery.read.reader import read

__all__ = ["read"]
