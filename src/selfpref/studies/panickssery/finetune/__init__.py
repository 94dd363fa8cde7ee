"""Fine-tuning of evaluators: to recognise their own summaries, or on something else as a control.

`examples` builds and exports the training examples, without torch; `controls` answers the control
questions; `training` tunes local weights on them, in full or by LoRA.
"""
