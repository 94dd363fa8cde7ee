"""The laboratory of the Panickssery study: articles, their writers, and models that judge summaries.

`articles` draws articles with key facts and says what is right in a summary; `writers` holds the
rule in the role of the human and the styles of the sources. These need no torch. `prompts` has the
tokens and layouts, `examples` the training targets, `training` trains the sources, `experiment`
makes the tables. Summaries, verdicts and ratings come from the engines, as any other model's.
"""
