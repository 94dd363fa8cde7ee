"""Local weights through `transformers`: safetensors only, no remote code, fp32 probabilities.

Prompt and continuation are encoded together, as in lm-evaluation-harness; the chat template brings
the one BOS. Rows of a batch are padded on the right, where causal attention never looks, so a batch
of one and a batch of many give the same numbers up to rounding.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from selfpref.engines import Choice, Generation, Prompt, Score
from selfpref.errors import SelfprefError

# Padded tokens in one forward pass.
BUDGET = 8192


def check_folder(folder: Path) -> None:
    """Refuse what is no safe model folder.

    Raises:
        SelfprefError: It is missing, has no tokenizer, no safetensors, or wants its own code run.
    """
    if not folder.is_dir():
        raise SelfprefError(f"{folder}: no such model folder; correct `model` in params.yaml")
    if not any(folder.glob("*.safetensors")):
        pickled = sorted(
            path.name for kind in ("*.bin", "*.pt", "*.pth") for path in folder.glob(kind)
        )
        what = f"pickled weights ({pickled[0]})" if pickled else "no weights"
        raise SelfprefError(f"{folder}: holds {what}; convert them to safetensors")
    if not (folder / "tokenizer.json").is_file():
        raise SelfprefError(f"{folder}: no tokenizer.json; save the tokenizer beside the weights")
    for name in ("config.json", "tokenizer_config.json"):
        path = folder / name
        if path.is_file() and "auto_map" in json.loads(path.read_text(encoding="utf-8")):
            raise SelfprefError(f"{path}: `auto_map` asks to run code of the model's own; refused")


def folder_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a model folder's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


class LocalModel:
    """One model folder.

    Args:
        folder: Weights (safetensors), configuration and tokenizer with a chat template.
        threads: CPU threads; None leaves torch's own choice.

    Raises:
        SelfprefError: As `check_folder`.
    """

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        check_folder(folder)
        if threads is not None:
            torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
        # Its bars carry timings, which must not reach an executed notebook.
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        self.tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        self.model = AutoModelForCausalLM.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, **options
        )
        self.model.train(False)
        self.context = int(self.model.config.max_position_embeddings)
        self.identity: dict[str, Any] = {
            "provider": "transformers",
            "weights": folder_hash(folder),
            "dtype": "float32",
        }

    def encode(self, prompt: Prompt, continuation: str = "") -> list[int]:
        """Token ids of the rendered template, the prefill and a continuation, encoded together."""
        messages = [{"role": role, "content": content} for role, content in prompt.messages]
        text = self.tokenizer.bos_token
        if messages:
            text = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False
            )
        ids: list[int] = self.tokenizer(
            text + prompt.prefill + continuation, add_special_tokens=False
        )["input_ids"]
        return ids

    def _batches(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], torch.Tensor]]:
        """Indices and right-padded ids `[rows, longest]`, longest first, within the budget."""
        order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
        start = 0
        while start < len(order):
            width = len(rows[order[start]])
            chosen = order[start : start + max(1, BUDGET // max(width, 1))]
            start += len(chosen)
            padded = [[*rows[index], *[0] * (width - len(rows[index]))] for index in chosen]
            yield chosen, torch.tensor(padded)

    @torch.no_grad()
    def choose(
        self, prompts: Sequence[Prompt], labels: Sequence[str]
    ) -> Iterator[tuple[int, Choice]]:
        """Probabilities of the labels as the next token; see `Engine`."""
        forms = [self._forms(label) for label in labels]
        rows = [self.encode(prompt) for prompt in prompts]
        fitting = [index for index, row in enumerate(rows) if len(row) <= self.context]
        for index in sorted(set(range(len(rows))) - set(fitting)):
            yield index, Choice((), "truncated")
        for chosen, ids in self._batches([rows[index] for index in fitting]):
            logits = self.model(input_ids=ids, use_cache=False).logits
            last = torch.tensor([len(rows[fitting[index]]) - 1 for index in chosen])
            p = logits[torch.arange(len(chosen)), last].float().softmax(-1)
            sums = torch.stack([p[:, ids_].sum(-1) for ids_ in forms], dim=-1)
            for index, row in zip(chosen, sums.tolist(), strict=True):
                yield fitting[index], Choice(tuple(row), "ok")

    def _forms(self, label: str) -> list[int]:
        """Ids of the single tokens that spell a label, with and without a space before it."""
        spelt = (
            self.tokenizer(form, add_special_tokens=False)["input_ids"]
            for form in (label, f" {label}")
        )
        ids = sorted({form[0] for form in spelt if len(form) == 1})
        if not ids or self.tokenizer.unk_token_id in ids:
            raise SelfprefError(
                f"label {label!r} is no single token of this model; use another label"
            )
        return ids

    @torch.no_grad()
    def score(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> Iterator[tuple[int, Score]]:
        """Log-likelihood of each continuation given its prompt; see `Engine`."""
        contexts = [len(self.encode(prompt)) for prompt in prompts]
        rows = [self.encode(*pair) for pair in zip(prompts, continuations, strict=True)]
        fitting = [index for index, row in enumerate(rows) if len(row) <= self.context]
        for index in sorted(set(range(len(rows))) - set(fitting)):
            yield index, Score(math.nan, len(rows[index]) - contexts[index], "truncated")
        for chosen, ids in self._batches([rows[index] for index in fitting]):
            logits = self.model(input_ids=ids, use_cache=False).logits[:, :-1].float()
            nll = -logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].double()
            for number, index in enumerate(fitting[position] for position in chosen):
                length = len(rows[index])
                total = float(nll[number, contexts[index] - 1 : length - 1].sum())
                yield index, Score(total, length - contexts[index], "ok")

    @torch.no_grad()
    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        marker: str = "",
        labels: Sequence[str] = (),
    ) -> Iterator[tuple[int, Generation]]:
        """Continue each prompt, sampling by its own seed; see `Engine`."""
        rows = [self.encode(prompt) for prompt in prompts]
        for length in sorted({len(row) for row in rows}):
            if length >= self.context:
                for index in (index for index, row in enumerate(rows) if len(row) == length):
                    yield index, Generation("", "truncated")
                continue
            alike = [index for index, row in enumerate(rows) if len(row) == length]
            steps = min(max_tokens, self.context - length)
            # One uniform draw a token and prompt: a batch-mate cannot shift another's sample.
            draws = np.stack([np.random.default_rng(seeds[index]).random(steps) for index in alike])
            tokens = self._continue(
                torch.tensor([rows[index] for index in alike]), draws, temperature
            )
            for index, ids in zip(alike, tokens, strict=True):
                yield index, self._text(ids)

    def _continue(
        self, ids: torch.Tensor, draws: np.ndarray[Any, Any], temperature: float
    ) -> list[list[int]]:
        """Sampled tokens of prompts of one length `[rows, length]`, by inverting the cumulative."""
        cache, step, end = None, ids, self.tokenizer.eos_token_id
        done = torch.zeros(len(ids), dtype=torch.bool)
        made: list[torch.Tensor] = []
        for column in draws.T:
            reply = self.model(input_ids=step, past_key_values=cache, use_cache=True)
            cache, logits = reply.past_key_values, reply.logits[:, -1].double()
            if temperature == 0:
                token = logits.argmax(-1)
            else:
                reached = (logits / temperature).softmax(-1).cumsum(-1)
                wanted = torch.from_numpy(column)[:, None] * reached[:, -1:]
                token = torch.searchsorted(reached, wanted, right=True)[:, 0]
            token[done] = end
            done |= token == end
            step = token[:, None]
            made.append(step)
            if bool(done.all()):
                break
        return [[int(token) for token in row] for row in torch.cat(made, dim=1).tolist()]

    def _text(self, ids: list[int]) -> Generation:
        end = self.tokenizer.eos_token_id
        ended = end in ids
        kept = ids[: ids.index(end)] if ended else ids
        text = self.tokenizer.decode(kept, skip_special_tokens=True)
        return Generation(str(text), "ok" if ended else "cut")
