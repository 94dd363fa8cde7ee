"""The synthetic testbed: small models trained on this machine, in a world where the truth is known.

`world` draws prompts, says what is correct in a response and writes responses in eight styles. It
needs no torch. `tokenizer` turns texts into token ids, and these into training targets;
`dialogues` (contests too), `summaries` and `refinement` say what their models are trained on;
`training` holds the model and trains all of a seed. Responses, verdicts and perplexities are
not made here: the engines make them from the checkpoints, as from any other model's.
"""
