"""The local engine beside its peers: perplexities and verdicts, same weights, texts and dtype.

    python benchmarks/engines.py [--rounds 5] [--responses 500] [--pairs 50] [--part 5]
                                 [--sizes 20M 120M lab smollm2]

Makes, under .cache/bench-env, an environment with the peers (never among the project's own
dependencies) and, under .cache/bench-models, untrained Llama models with a tokenizer of 32,000
words, trained on texts that are written here: prompts of 36 tokens and responses of 160 in the
mean. The laboratory's model is an untrained one of its own kind, on its own prompts. `smollm2` is
SmolLM2-135M-Instruct, as the profile `live` runs it, on the same texts without its chat format:
its perplexities alone, since it has several tokens for a label.

Every peer is a process of its own with one thread. The work is divided over the rounds; in each,
every peer in turn does its share: this project's engine the whole of it, the others the first of
`part` parts, since they take most of the time (of 3 at most for the harness at batch 8, which sorts
texts by length and so gains by more of them; of 2 at most for verdicts, so that batches are full).
For the laboratory nothing is divided. Printed are, of the rounds, the medians with their range:
CPU-seconds and seconds for a thousand tokens of the texts (a prompt's counted for every response to
it), the ratio of the CPU-seconds to this project's in the same round, peak memory of the whole
process, and the largest difference from the plain loop, in nats of a response's sum or of the log
odds of the labels, over the texts that both have done. lmppl and evaluate score the whole text
without a condition: like for like they are not. A peer that cannot be loaded is named with its
reason; evaluate's script comes from the Hub, or from the path in EVALUATE_PERPLEXITY.

The rate of bare products is that of one layer's, 1,024 states at a time, by torch's `linear` (MKL)
and by oneDNN, which this project's engine calls.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import torch
from peers import as_prompt
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from selfpref.lab.tokenizer import WORLD
from selfpref.lab.training import build_model, save_checkpoint
from selfpref.lab.world import STYLES, draw, write
from selfpref.models.local import LocalModel
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.loading import USUAL
from selfpref.models.local.passes import packed
from selfpref.params import load
from selfpref.processes import SETTINGS
from selfpref.prompts import LAYOUTS

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / ".cache" / "bench-env"
MODELS = ROOT / ".cache" / "bench-models"
PEERS = ("lm-eval==0.4.13", "minicons==0.3.39", "lmppl==0.3.2", "evaluate==0.4.6", "accelerate")
SHARED = ("torch", "transformers")
VOCABULARY = 32_000
BUDGET = USUAL
SIZES = {
    "20M": {"hidden_size": 320, "intermediate_size": 864, "num_hidden_layers": 8, "heads": 5},
    "120M": {"hidden_size": 768, "intermediate_size": 2304, "num_hidden_layers": 12, "heads": 12},
}
HARNESS = ["harness, batch 1", "harness, batch 8"]
CONDITIONAL = ["selfpref", "one by one", *HARNESS, "minicons, batch 8"]
WHOLE = ["lmppl, batch 8", "evaluate, batch 8"]
TASKS = {
    "perplexity-2": [*CONDITIONAL, *WHOLE, "GEMM"],
    "perplexity-8": [*CONDITIONAL, "GEMM"],
    "verdicts": [
        *["selfpref", "one by one", "generate, batch 1", "generate, batch 8"],
        *HARNESS,
        "GEMM",
    ],
}
TITLES = {
    "perplexity-2": "perplexity, 2 responses a prompt",
    "perplexity-8": "perplexity, 8 responses a prompt",
    "perplexity": "perplexity with and without the prompt",
    "verdicts": "verdicts, both orders",
}
# Texts one after the other, as the peers read them.
PLAIN = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
INSTRUCTION = (
    "Read the question of a user and the two answers below. Say which of them answers the question "
    "better: look at how correct, complete, clear and useful each of them is, and let neither "
    "their order nor their length count. Write [[A]] for the first or [[B]] for the second.\n\n"
)


def words(rng: np.random.Generator) -> list[str]:
    """A language: 30,000 words of two to four syllables."""
    starts = (*"bcdfghjklmnprstvwz", "st", "tr", "pl")
    heads = [start + vowel for start in starts for vowel in "aeiou"]
    made = {"".join(rng.choice(heads, rng.integers(2, 5))) for _ in range(40_000)}
    return sorted(made)[:30_000]


class Writer:
    """Writes texts in that language: frequent words are frequent (Zipf), sentences have ends."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.words = np.array(words(np.random.default_rng(0)))
        frequency = 1 / np.arange(1, len(self.words) + 1)
        self.p = frequency / frequency.sum()

    def text(self, size: int) -> str:
        """So many words."""
        chosen = self.rng.choice(self.words, max(size, 1), p=self.p)
        stops = self.rng.random(len(chosen)) < 0.07
        ends = np.where(stops, ".", "")
        return " ".join(f"{word}{end}" for word, end in zip(chosen, ends, strict=True))

    def prompt(self) -> str:
        """About 36 tokens, a quarter of them more or less."""
        return f"Question: {self.text(round(self.rng.normal(20, 5)))}?\nAnswer:"

    def response(self) -> str:
        """About 160 tokens, log-normal."""
        return " " + self.text(round(self.rng.lognormal(math.log(134), 0.5)))


def make_model(size: str) -> Path:
    """An untrained model with a trained tokenizer, made once."""
    folder = MODELS / size
    if (folder / "model.safetensors").is_file():
        return folder
    if size == "lab":
        save_checkpoint(build_model(0), folder, WORLD)
        return folder
    if size == "smollm2":
        return real_model(folder)

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    writer = Writer(1)
    backend.train_from_iterator(
        (writer.text(200) for _ in range(5000)),
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=["<pad>", "<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", backend.token_to_id("<s>"))]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
        model_max_length=4096, chat_template=PLAIN,
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    shape = dict(SIZES[size])
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY, num_attention_heads=shape.pop("heads"), tie_word_embeddings=True,
            max_position_embeddings=4096, pad_token_id=0, bos_token_id=1, eos_token_id=2, **shape,
        )
    ).save_pretrained(folder)  # fmt: skip
    return folder


def real_model(folder: Path) -> Path:
    """The model of the profile `live`; a prompt is its text, as with the others."""
    entry = load(ROOT / "profiles" / "live.yaml").models["smollm2"]
    found = LocalModel(entry, ROOT)
    found.model.save_pretrained(folder)
    found.tokenizer.chat_template = PLAIN
    found.tokenizer.save_pretrained(folder)
    return folder


def texts(task: str, rounds: int, responses: int, pairs: int) -> list[dict[str, list[str]]]:
    """The work of each round: contexts, and what follows them."""
    writer = Writer(2)
    parts = []
    for _ in range(rounds):
        if task == "verdicts":
            contexts = []
            for _ in range(max(1, pairs // rounds)):
                asked, one, other = writer.prompt(), writer.response(), writer.response()
                for a, b in ((one, other), (other, one)):
                    contexts.append(f"{INSTRUCTION}{asked}\n\nA:{a}\n\nB:{b}\n\nVerdict: [[")
            parts.append({"contexts": contexts})
        else:
            each = int(task[-1])
            asked = [writer.prompt() for _ in range(max(1, responses // rounds // each))]
            contexts = [text for text in asked for _ in range(each)]
            parts.append({"contexts": contexts, "texts": [writer.response() for _ in contexts]})
    return parts


def lab_texts(task: str, rounds: int, responses: int, pairs: int) -> list[dict[str, list]]:
    """The same of the laboratory: what its stages ask of a judge."""
    layout, rng = LAYOUTS["lab"], np.random.default_rng(0)

    def chat(prompt: object) -> list:
        messages = [{"role": role, "content": content} for role, content in prompt.messages]
        return [messages, prompt.prefill]

    parts = []
    for number in range(rounds):
        items = draw("benchmark", number, max(1, responses // rounds // 4))
        contexts, follow = [], []
        for index, item in enumerate(items.values()):
            written = [write(item, STYLES[(index + n) % len(STYLES)], 0.2, rng) for n in range(4)]
            if task == "verdicts":
                for a, b in ((0, 1), (1, 0), (2, 3), (3, 2)):
                    contexts.append(chat(layout.judge(item.question, written[a], written[b])))
            else:
                contexts += [chat(layout.respond(item.question))] * 4
                follow += [layout.content(text) for text in written]
        parts.append({"contexts": contexts, "texts": follow})
    return parts


class Worker:
    """One peer's process."""

    def __init__(self, peer: str, folder: Path, task: str) -> None:
        own = peer in ("selfpref", "GEMM") or folder.name == "lab"
        python = sys.executable if own else str(ENVIRONMENT / "bin" / "python")
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            [python, str(Path(__file__).parent / "peers.py"), peer, str(folder), task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ
            | (SETTINGS if own else {})
            | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            | {"PYTHONPATH": str(ROOT / "src")},
        )
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(self._errors.read().strip().splitlines()[-1][:90])
        return line

    def run(self, number: int, count: int) -> dict:
        """The first so many texts of a round."""
        assert self._process.stdin
        print(number, count, file=self._process.stdin, flush=True)
        return json.loads(self._answer())

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._errors.close()


def measure(folder: Path, task: str, peers: list[str], part: int) -> tuple[dict, dict]:
    """Every round of every peer, in turn; and the reasons of those that do not run."""
    sizes = [tokens(folder, work) for work in json.loads((folder / f"{task}.json").read_text())]
    workers, missing = {}, {}
    for peer in peers:
        try:
            workers[peer] = Worker(peer, folder, task)
        except RuntimeError as error:
            missing[peer] = str(error)
    replies: dict[str, list[dict]] = {peer: [] for peer in workers}
    for number, texts_of in enumerate(sizes):
        # Turns go round, so that no peer always follows the same one.
        order = list(workers)[number % len(workers) :] + list(workers)[: number % len(workers)]
        for peer in order:
            count = len(texts_of) // parts(peer, task, part)
            reply = workers[peer].run(number, count)
            replies[peer].append(reply | {"thousands": sum(texts_of[:count]) / 1000})
            print(f"{folder.name} {task} {number} {peer}: {reply['cpu']:.2f} s", file=sys.stderr)
    for worker in workers.values():
        worker.close()
    return replies, missing


def parts(peer: str, task: str, part: int) -> int:
    """Into how many parts a round is divided, of which a peer does one."""
    if peer in ("selfpref", "GEMM"):
        return 1
    return min(part, 2 if task == "verdicts" else 3 if peer == "harness, batch 8" else part)


def spread(values: list[float], digits: int) -> str:
    """Median and range."""
    low, middle, high = (
        f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values))
    )
    return f"{middle} ({low}-{high})"


def difference(task: str, found: list[float], plain: list[float]) -> float:
    """Largest difference from the plain loop: nats of a sum, or of the log odds of A to B."""
    if task != "verdicts":
        return max(abs(a - b) for a, b in zip(found, plain, strict=True))

    def odds(values: list[float]) -> np.ndarray:
        pairs = np.array(values).reshape(-1, 2)
        pairs = np.log(pairs) if (pairs > 0).all() else pairs
        return pairs[:, 0] - pairs[:, 1]

    return float(np.abs(odds(found) - odds(plain)).max())


def encoded(folder: Path, part: dict) -> list[tuple[list[int], list[int]]]:
    """Contexts and what follows them, as token ids."""
    prompts = [as_prompt(text) for text in part["contexts"]]
    follow = part.get("texts") or ["" for _ in prompts]
    return Encoder(AutoTokenizer.from_pretrained(folder)).pairs(prompts, follow)


def tokens(folder: Path, part: dict) -> list[int]:
    """Tokens of each text, its context included."""
    return [len(context) + len(text) for context, text in encoded(folder, part)]


def work_done(folder: Path, task: str) -> list[float]:
    """GFLOP of the products that each round needs."""
    config = json.loads((folder / "config.json").read_text())
    width, inner = config["hidden_size"], config["intermediate_size"]
    shared = config["num_key_value_heads"] / config["num_attention_heads"]
    keys = round(2 * width * width * shared)
    layer, before = keys + 2 * width * width + 3 * width * inner, config["num_hidden_layers"] - 1
    found = []
    for part in json.loads((folder / f"{task}.json").read_text()):
        pairs = encoded(folder, part)
        rows = [np.array([*context, *text][: -1 if text else None]) for context, text in pairs]
        read = [max(len(text), 1) for _, text in pairs]
        work = width * config["vocab_size"] * sum(read)
        for line in packed(rows, read, BUDGET):
            # Of the last layer all tokens have keys and values, the rest those that are read.
            work += (layer * before + keys) * line.inputs["input_ids"].numel()
            work += (layer - keys) * len(line.read.unique())
        found.append(2e-9 * work)
    return found


def table(folder: Path, task: str, replies: dict, missing: dict) -> Iterator[str]:
    """A markdown table of one size and task."""
    ours = [reply["cpu"] / reply["thousands"] for reply in replies["selfpref"]]
    plain = [reply["found"] for reply in replies["one by one"]]
    yield f"**{folder.name}, {TITLES[task]}** ({len(ours)} rounds)"
    yield ""
    yield (
        "| engine | texts | CPU-seconds a 1,000 tokens | seconds | times selfpref's | memory, GB "
        "| difference |"
    )
    yield "|---|---|---|---|---|---|---|"
    answers = 2 if task == "verdicts" else 1
    faster = []
    for peer, rounds in replies.items():
        if peer == "GEMM":
            continue
        cpu = [reply["cpu"] / reply["thousands"] for reply in rounds]
        ratio = [value / base for value, base in zip(cpu, ours, strict=True)]
        gaps = [
            difference(task, *zip(*zip(reply["found"], found, strict=False), strict=True))
            for reply, found in zip(rounds, plain, strict=True)
            if peer not in WHOLE
        ]
        gap = f"{max(gaps):.0e}" if gaps else "scores the whole text"
        memory = max(reply["memory"] for reply in rounds) / 1e9
        wall = statistics.median(reply["wall"] / reply["thousands"] for reply in rounds)
        texts_done = sum(len(reply["found"]) for reply in rounds) // answers
        yield (
            f"| {peer} | {texts_done} | {spread(cpu, 4)} | {wall:.4f} | {spread(ratio, 2)} "
            f"| {memory:.2f} | {gap} |"
        )
        if statistics.median(ratio) < 1:
            faster.append(peer)
    for peer, reason in missing.items():
        yield f"| {peer} | not run: {reason} | | | | | |"
    yield ""
    yield f"Faster than selfpref: {', '.join(faster) or 'none'}."
    if "GEMM" in replies:
        done = work_done(folder, task)
        for place, name in enumerate(("torch's linear", "oneDNN")):
            rates = [reply["found"][place] for reply in replies["GEMM"]]
            shares = [
                work / reply["cpu"] / rate
                for work, reply, rate in zip(done, replies["selfpref"], rates, strict=True)
            ]
            yield (
                f"Bare products by {name}: {spread(rates, 0)} GFLOP a CPU-second; of this rate "
                f"selfpref reaches {spread(shares, 2)}."
            )
    yield ""


def environment() -> None:
    """The peers' own environment, with this one's torch and transformers."""
    if (ENVIRONMENT / ".done").is_file():
        return
    pins = [f"{name}=={importlib.metadata.version(name)}" for name in SHARED]
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, *pins, *PEERS], check=True)
    (ENVIRONMENT / ".done").touch()


def main() -> None:
    """Make what is needed, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--responses", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--part", type=int, default=5)
    sizes = [*SIZES, "lab", "smollm2"]
    parser.add_argument("--sizes", nargs="+", default=sizes, choices=sizes)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    options = parser.parse_args()
    environment()
    versions = [f"{name} {importlib.metadata.version(name)}" for name in SHARED]
    print(f"{date.today()}, {processor()}, one thread a peer, load {os.getloadavg()[0]:.1f} on "
          f"{os.cpu_count()} cores; Python {platform.python_version()}, {', '.join(versions)}, "
          f"{', '.join(PEERS[:-1])}; fp32\n")  # fmt: skip
    for size in options.sizes:
        folder = make_model(size)
        lab = size == "lab"
        for task in dict.fromkeys(("perplexity", "verdicts") if lab else options.tasks):
            if size == "smollm2" and task == "verdicts":
                continue
            write = lab_texts if lab else texts
            work = write(task, options.rounds, options.responses, options.pairs)
            (folder / f"{task}.json").write_text(json.dumps(work))
            peers = ["selfpref", "one by one"] if lab else TASKS[task]
            part = 1 if lab else options.part
            for line in table(folder, task, *measure(folder, task, peers, part)):
                print(line, flush=True)


def processor() -> str:
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


if __name__ == "__main__":
    main()
