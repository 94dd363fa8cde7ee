"""Fine-tuning of judges: to recognise their own summaries, or on something else as a control.

`examples` builds and exports the training examples, without torch; `training` tunes local weights
on them, in full or by LoRA.
"""
