"""Log-likelihoods of the local engine against lm-evaluation-harness, on one model folder.

    python benchmarks/against_harness.py data/lab/models/seed-0/terse

Runs in an environment of its own that holds torch, transformers and lm-eval, with this repository's
src/ on PYTHONPATH: the harness is no dependency of the project. Prints the largest difference in
nats a token over 200 prompts and responses of the laboratory.
"""

import sys
from pathlib import Path

import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

from selfpref.engines.local import LocalModel
from selfpref.lab.styles import STYLES, write
from selfpref.lab.world import draw_items
from selfpref.prompts import LAYOUTS

TOLERANCE = 1e-5


def main() -> int:
    """Compare, print, and fail above the tolerance."""
    folder = Path(sys.argv[1])
    lab, rng = LAYOUTS["lab"], np.random.default_rng(0)
    items = draw_items(200, np.random.SeedSequence(1))
    texts = [
        " ".join(write(item, STYLES[n % len(STYLES)], 0.2, rng)) for n, item in enumerate(items)
    ]
    prompts = [lab.respond(item.question) for item in items]
    contents = [lab.content(text) for text in texts]
    engine = LocalModel(folder, threads=1)
    ours = engine.score(prompts, contents)

    harness = HFLM(pretrained=str(folder), dtype="float32", device="cpu", batch_size=8)
    # The rendered template brings its BOS; the harness must not add a second one.
    harness.add_bos_token = False
    requests = [
        Instance(
            request_type="loglikelihood",
            doc={},
            arguments=(engine.tokenizer.decode(engine.encode(prompt)), content),
            idx=number,
        )
        for number, (prompt, content) in enumerate(zip(prompts, contents, strict=True))
    ]
    theirs = harness.loglikelihood(requests)
    gaps = [
        abs(score.sum_nll + likelihood) / score.n_tokens
        for score, (likelihood, _) in zip(ours, theirs, strict=True)
    ]
    print(f"{len(gaps)} responses, largest difference {max(gaps):.2e} nats a token")
    return 0 if max(gaps) <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
