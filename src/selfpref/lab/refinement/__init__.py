"""The testbed of refinement: an invented language, use-these-words, and small sums.

`language` holds the grammar and what is wrong in a translation, `tasks` draws requests and writes
drafts, feedback and revisions by script, `layouts` lays them out as tokens, `training` trains the
models. Responses and feedback of an experiment are made by the engines from the checkpoints, as
from any other model's.
"""
