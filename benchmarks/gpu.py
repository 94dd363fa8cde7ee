"""The local engine on a GPU beside its peers: rates, memory, differences.

    python benchmarks/gpu.py [--shape 7B] [--dtype bfloat16] [--rounds 3] [--tasks verdicts ...]
                             [--responses 960] [--pairs 160] [--batch-tokens 2048 8192 32768]

Makes an untrained Llama of a shape, and texts as engines.py does; the peers compute with the very
weights that this project's engine has loaded. lm-evaluation-harness and minicons take part where
they are installed. Each round is done by every peer in turn, after one that warms up. Printed are
medians of the rounds with their range: thousand tokens a second (a prompt's counted for every
response to it; of texts that are written, the new ones), the time over that of this project's
engine with its own number of tokens in a pass, TFLOP/s (two operations a weight and token, those of
the embedding left out), the most memory beside the weights, and the largest difference from the
plain loop, in nats of a response's sum or of the log odds of the labels.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import torch
from engines import MODELS, difference, encoded, make_model, spread, texts
from peers import LABELS, as_prompt
from transformers import LlamaConfig, LlamaForCausalLM

from selfpref.models import Choose, Generate, Score
from selfpref.models.local import LocalModel
from selfpref.models.local.loading import MANY
from selfpref.params import Transformers

SHAPES = {
    "120M": {"hidden_size": 768, "intermediate_size": 2304, "num_hidden_layers": 12},
    "7B": {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32},
}
TASKS = ("perplexity-2", "verdicts", "texts")
WRITTEN = 128
Peer = Callable[[LocalModel, dict], list[float]]


def made(shape: str, dtype: str) -> Path:
    """An untrained model of a shape, with the tokenizer of engines.py's 120M."""
    folder, size = MODELS / f"{shape}-{dtype}", SHAPES[shape]
    if not (folder / "config.json").is_file():
        folder.mkdir(parents=True)
        for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            (folder / name).write_bytes((make_model("120M") / name).read_bytes())
        config = LlamaConfig(
            vocab_size=32_000, num_attention_heads=size["hidden_size"] // 128, pad_token_id=0,
            max_position_embeddings=4096, bos_token_id=1, eos_token_id=2, **size,
        )  # fmt: skip
        torch.manual_seed(0)
        with torch.device("cuda"):
            LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)
    return folder


def selfpref(engine: LocalModel, part: dict, *, task: str, tokens: int) -> list[float]:
    """This project's engine, with so many tokens in a pass."""
    engine._budget = tokens
    prompts = [as_prompt(text) for text in part["contexts"]]
    if task == "verdicts":
        found = dict(engine.answer([Choose(prompt, LABELS) for prompt in prompts]))
        return [p for index in range(len(found)) for p in found[index].probabilities]
    if task == "texts":
        calls = [Generate(prompt, WRITTEN, 1.0, seed) for seed, prompt in enumerate(prompts)]
        return [len(answer.text) for _, answer in engine.answer(calls)]
    found = dict(engine.answer(list(map(Score, prompts, part["texts"]))))
    return [-found[index].sum_nll for index in range(len(found))]


@torch.no_grad()
def one_by_one(engine: LocalModel, part: dict) -> list[float]:
    """The plain loop over `transformers`: log-likelihoods of texts, or probabilities of labels."""
    tokenizer, model, found = engine.tokenizer, engine.model, []
    labels = tokenizer.convert_tokens_to_ids(list(LABELS))
    follow = part.get("texts") or [""] * len(part["contexts"])
    for context, text in zip(part["contexts"], follow, strict=True):
        ids = torch.tensor([tokenizer(context + text)["input_ids"]], device=model.device)
        start = len(tokenizer(context)["input_ids"])
        p = model(ids).logits[0, start - 1 :].float().log_softmax(-1)
        if text:
            found.append(p[:-1].gather(1, ids[0, start:, None]).sum().item())
        else:
            found += p[0, labels].exp().tolist()
    return found


def generate(engine: LocalModel, part: dict, *, batch: int) -> list[float]:
    """`generate` of transformers, padded on the left."""
    tokenizer, found = engine.tokenizer, []
    for start in range(0, len(part["contexts"]), batch):
        chosen = part["contexts"][start : start + batch]
        given = tokenizer(chosen, return_tensors="pt", padding=True, padding_side="left")
        given = given.to(engine.model.device)
        ids = engine.model.generate(**given, max_new_tokens=WRITTEN, do_sample=True, top_k=0)
        found += map(len, tokenizer.batch_decode(ids))
    return found


def harness(engine: LocalModel, part: dict, *, batch: int) -> list[float]:
    """lm-evaluation-harness."""
    from lm_eval.api.instance import Instance  # noqa: PLC0415
    from lm_eval.models.huggingface import HFLM  # noqa: PLC0415

    model = HFLM(engine.model, tokenizer=engine.tokenizer, batch_size=batch, max_length=4096)
    follow = (
        [[text] for text in part["texts"]] if "texts" in part else [LABELS] * len(part["contexts"])
    )
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=(context, text), idx=0)
        for context, some in zip(part["contexts"], follow, strict=True)
        for text in some
    ]
    return [found for found, _ in model.loglikelihood(asked, disable_tqdm=True)]


def minicons(engine: LocalModel, part: dict, *, batch: int) -> list[float]:
    """Minicons."""
    from minicons.scorer import IncrementalLMScorer  # noqa: PLC0415

    device = str(engine.model.device)
    scorer, found = IncrementalLMScorer(engine.model, device, tokenizer=engine.tokenizer), []
    reduced = {"separator": "", "reduction": lambda p: p.sum().item()}
    for start in range(0, len(part["texts"]), batch):
        some = [part[name][start : start + batch] for name in ("contexts", "texts")]
        found += scorer.conditional_score(*some, **reduced)
    return found


def peers(task: str, tokens: list[int]) -> dict[str, Peer]:
    """Who does a task."""
    found: dict[str, Peer] = {
        f"selfpref, {size} tokens a pass": partial(selfpref, task=task, tokens=size)
        for size in sorted({MANY, *tokens})
    }
    if task == "texts":
        return found | {"generate, batch 32": partial(generate, batch=32)}
    found["one by one"] = one_by_one
    if find_spec("lm_eval"):
        found |= {f"harness, batch {size}": partial(harness, batch=size) for size in (8, 32)}
    if find_spec("minicons") and task != "verdicts":
        found["minicons, batch 8"] = partial(minicons, batch=8)
    return found


def table(
    folder: Path, task: str, engine: LocalModel, options: argparse.Namespace
) -> Iterator[str]:
    """The rows of a task."""
    weights = sum(weight.numel() for weight in engine.model.parameters())
    weights -= engine.model.get_input_embeddings().weight.numel()
    kind = "verdicts" if task == "texts" else task
    work = texts(kind, options.rounds + 1, options.responses, options.pairs)
    runs = peers(task, options.batch_tokens)
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    counts, gaps = [], dict.fromkeys(runs, 0.0)
    for part in work:
        answers = {}
        for name, run in runs.items():
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            held, began = torch.cuda.memory_allocated(), time.perf_counter()
            answers[name] = run(engine, part)
            spent = time.perf_counter() - began
            rounds[name].append((spent, (torch.cuda.max_memory_allocated() - held) / 1e9))
        for name, found in answers.items() if task != "texts" else ():
            gaps[name] = max(gaps[name], difference(task, found, answers["one by one"]))
        lengths = [len(context) + len(text) for context, text in encoded(folder, part)]
        counts.append(WRITTEN * len(lengths) if task == "texts" else sum(lengths))
    ours = [spent for spent, _ in rounds[f"selfpref, {MANY} tokens a pass"]]
    for name, found in rounds.items():
        seconds, memory = zip(*found, strict=True)
        rates = [count / one / 1000 for count, one in zip(counts, seconds, strict=True)][1:]
        ratios = [one / base for one, base in zip(seconds, ours, strict=True)][1:]
        flops = [rate * 2 * weights / 1e9 for rate in rates]
        yield (
            f"| {task} | {name} | {spread(rates, 1)} | {spread(ratios, 2)} | {spread(flops, 0)} "
            f"| {max(memory):.1f} | {gaps[name]:.0e} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="7B", choices=list(SHAPES))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--responses", type=int, default=960)
    parser.add_argument("--pairs", type=int, default=160)
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=[2048, 8192, 32768])
    options = parser.parse_args()
    folder = made(options.shape, options.dtype)
    entry = Transformers(
        engine="transformers", model=folder.name, dtype=options.dtype, device_map="cuda"
    )
    engine = LocalModel(entry, folder.parent)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {folder.name}\n")
    print("| task | engine | 1,000 tokens a second | times ours | TFLOP/s | GB | difference |")
    print("|---|---|---|---|---|---|---|")
    for task in options.tasks:
        for line in table(folder, task, engine, options):
            print(line, flush=True)


if __name__ == "__main__":
    main()
