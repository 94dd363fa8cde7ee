"""The synthetic testbed: small models trained on this machine, in a world where the truth is known.

`world` draws prompts, `oracle` says what is correct in a response, `styles` wraps content in eight
ways of answering, `injected` holds the bias that a family's judge is given. These need no torch.
`tokenizer` and `prompts` turn texts into token ids, `examples` into training targets; `dialogues`,
`choice`, `summaries` and `refinement` say what their models are trained on; `llama` and `train`
train one model, `training` all of a seed. Responses, verdicts and perplexities are not made here:
the engines make them from the checkpoints, as from any other model's.
"""
