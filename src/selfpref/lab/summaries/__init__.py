"""The laboratory of the Panickssery study: articles, writers, models that judge summaries.

`articles` draws articles with key facts and says what is right in a summary; `writers` holds the
rule in the role of the human and the styles of the sources; `experiment` makes tables of them.
These need no torch. `prompts` has the tokens and layouts, `examples` the training targets, and
`training` trains the sources. Summaries, verdicts and ratings come from the engines, like those of
any other model.
"""
