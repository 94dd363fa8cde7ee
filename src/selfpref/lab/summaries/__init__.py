"""The testbed of the Panickssery study: articles, writers, models that judge summaries.

`articles` draws articles with key facts, writes the human's summaries and says what is right in
one; `prompts` has the tokens and layouts. These need no torch. `training` trains the sources.
Summaries, verdicts and ratings come from the engines, like those of any other model.
"""
