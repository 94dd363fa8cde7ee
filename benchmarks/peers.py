"""One engine of the benchmark, in a process of its own: see engines.py.

    python peers.py PEER FOLDER TASK

Reads the number of a round and of texts from each line of its standard input, does the task on so
many of that round's texts, and answers with one line of JSON: CPU-seconds, seconds, the numbers
that it computed, peak memory.
"""

# ruff: noqa: PLC0415 -- a peer's process loads that peer alone.

import contextlib
import itertools
import json
import logging
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")
logging.disable(logging.WARNING)

LABELS = ("A", "B")
Task = Callable[[dict], list[float]]


def as_prompt(text: str | list) -> Any:
    """A text, or a chat of the laboratory, as this project's prompt."""
    from selfpref.models import Prompt

    if isinstance(text, str):
        return Prompt((("user", text),))
    messages, prefill = text
    return Prompt(tuple((one["role"], one["content"]) for one in messages), prefill)


def selfpref_engine(folder: Path, task: str) -> Task:
    """This project's local engine."""
    from selfpref.models import Choose, Score
    from selfpref.models.local import LocalModel
    from selfpref.params import Transformers

    entry = Transformers(engine="transformers", model=folder.name, threads=1)
    engine = LocalModel(entry, folder.parent)

    def run(part: dict) -> list[float]:
        prompts = [as_prompt(text) for text in part["contexts"]]
        if task == "verdicts":
            found = dict(engine.answer([Choose(prompt, LABELS) for prompt in prompts]))
            return [p for index in range(len(found)) for p in found[index].probabilities]
        found = dict(engine.answer(list(map(Score, prompts, part["texts"]))))
        return [-found[index].sum_nll for index in range(len(found))]

    return run


def one_by_one(folder: Path, task: str) -> Task:
    """The plain loop over `transformers`: one text at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def rendered(text: str | list) -> str:
        """A chat of the laboratory goes through its template."""
        if isinstance(text, str):
            return text
        messages, prefill = text
        rendering = {"add_generation_prompt": True, "tokenize": False}
        return tokenizer.apply_chat_template(messages, **rendering) + prefill

    @torch.no_grad()
    def verdicts(part: dict) -> list[float]:
        # Neither tokenizer of the benchmark has a token for a label with a space before it.
        labels = tokenizer.convert_tokens_to_ids(list(LABELS))
        found = []
        for text in part["contexts"]:
            ids = torch.tensor([tokenizer(rendered(text))["input_ids"]])
            p = model(ids, logits_to_keep=1).logits[0, -1].float().softmax(-1)
            found += p[labels].tolist()
        return found

    @torch.no_grad()
    def perplexity(part: dict) -> list[float]:
        found = []
        for context, text in zip(part["contexts"], part["texts"], strict=True):
            before = rendered(context)
            start = len(tokenizer(before)["input_ids"])
            ids = torch.tensor([tokenizer(before + text)["input_ids"]])
            p = model(ids).logits[0, start - 1 : -1].float().log_softmax(-1)
            found.append(float(p.gather(1, ids[0, start:, None]).sum()))
        return found

    return verdicts if task == "verdicts" else perplexity


def harness(batch: int) -> Callable[[Path, str], Task]:
    """lm-evaluation-harness."""

    def make(folder: Path, task: str) -> Task:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM

        model = HFLM(pretrained=str(folder), device="cpu", dtype="float32", batch_size=batch)

        def run(part: dict) -> list[float]:
            pairs = (
                [(text, label) for text in part["contexts"] for label in LABELS]
                if task == "verdicts"
                else list(zip(part["contexts"], part["texts"], strict=True))
            )
            requests = [
                Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=number)
                for number, pair in enumerate(pairs)
            ]
            return [float(found) for found, _ in model.loglikelihood(requests, disable_tqdm=True)]

        return run

    return make


def minicons(folder: Path, task: str) -> Task:
    """minicons, batches of 8."""
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(str(folder), "cpu")

    def run(part: dict) -> list[float]:
        found: list[float] = []
        pairs = zip(part["contexts"], part["texts"], strict=True)
        while batch := list(itertools.islice(pairs, 8)):
            found += scorer.conditional_score(
                *map(list, zip(*batch, strict=True)),
                separator="",
                reduction=lambda p: float(p.sum()),
            )
        return found

    return run


def lmppl(folder: Path, task: str) -> Task:
    """Lmppl, batches of 8: the whole text, not the response given its prompt."""
    import lmppl as library
    from transformers import AutoModelForCausalLM

    # It still passes an argument that transformers 5 no longer has.
    loaded = AutoModelForCausalLM.from_pretrained

    def from_pretrained(*given: object, use_auth_token: object = None, **named: object) -> object:
        return loaded(*given, **named)

    AutoModelForCausalLM.from_pretrained = from_pretrained
    model = library.LM(str(folder), num_gpus=0)

    def run(part: dict) -> list[float]:
        texts = [a + b for a, b in zip(part["contexts"], part["texts"], strict=True)]
        return list(model.get_perplexity(texts, batch_size=8))

    return run


def evaluate(folder: Path, task: str) -> Task:
    """The perplexity of `evaluate`, batches of 8: the whole text. Its script is the Hub's."""
    import evaluate as library

    script = os.environ.get("EVALUATE_PERPLEXITY", "perplexity")
    os.environ["HF_HUB_OFFLINE"] = "0"
    metric = library.load(script, module_type="metric")

    def run(part: dict) -> list[float]:
        texts = [a + b for a, b in zip(part["contexts"], part["texts"], strict=True)]
        found = metric.compute(
            predictions=texts,
            model_id=str(folder),
            batch_size=8,
            device="cpu",
            add_start_token=False,
        )
        return list(found["perplexities"])

    return run


def generate(batch: int) -> Callable[[Path, str], Task]:
    """One token by `generate` of transformers, padded on the left."""

    def make(folder: Path, task: str) -> Task:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        model = AutoModelForCausalLM.from_pretrained(folder).eval()
        labels = tokenizer.convert_tokens_to_ids(list(LABELS))

        @torch.no_grad()
        def run(part: dict) -> list[float]:
            found = []
            texts = iter(part["contexts"])
            while chosen := list(itertools.islice(texts, batch)):
                reply = model.generate(
                    **tokenizer(chosen, return_tensors="pt", padding=True),
                    max_new_tokens=1,
                    do_sample=False,
                    output_logits=True,
                    return_dict_in_generate=True,
                    pad_token_id=tokenizer.pad_token_id,
                )
                for p in reply.logits[0].float().softmax(-1):
                    found += p[labels].tolist()
            return found

        return run

    return make


def gemm(folder: Path, task: str) -> Task:
    """The machine's own rates: the products of one layer, GFLOP a CPU-second."""
    import torch
    from torch.nn import functional

    from selfpref.models.local.passes import linear

    size = json.loads((folder / "config.json").read_text())
    width, inner = size["hidden_size"], size["intermediate_size"]
    shapes = [(width, width), (width, inner), (inner, width)]
    layers = [(torch.randn(1024, one), torch.randn(other, one)) for one, other in shapes]

    @torch.no_grad()
    def rate(product: Callable) -> float:
        flops, began = 0, time.process_time()
        while (spent := time.process_time() - began) < 1 or not flops:
            for states, weight in layers:
                product(states, weight)
                flops += 2 * states.numel() * len(weight)
        return flops / spent / 1e9

    return lambda part: [rate(functional.linear), rate(linear)]


PEERS: dict[str, Callable[[Path, str], Task]] = {
    "selfpref": selfpref_engine,
    "one by one": one_by_one,
    "harness, batch 1": harness(1),
    "harness, batch 8": harness(8),
    "minicons, batch 8": minicons,
    "lmppl, batch 8": lmppl,
    "evaluate, batch 8": evaluate,
    "generate, batch 1": generate(1),
    "generate, batch 8": generate(8),
    "GEMM": gemm,
}


def main() -> None:
    """Answer rounds until the input ends."""
    import torch

    peer, folder, task = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    # What libraries print is not ours.
    with contextlib.redirect_stdout(sys.stderr):
        run = PEERS[peer](folder, task)
        torch.set_num_threads(1)
        parts = json.loads((folder / f"{task}.json").read_text())
        # What is made once, at the first texts, belongs to no round.
        run({name: texts[:2] for name, texts in parts[0].items()})
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            number, count = map(int, line.split())
            part = {name: texts[:count] for name, texts in parts[number].items()}
            cpu, wall = time.process_time(), time.perf_counter()
            found = run(part)
            reply = {
                "cpu": time.process_time() - cpu,
                "wall": time.perf_counter() - wall,
                "found": found,
                "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
            print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
