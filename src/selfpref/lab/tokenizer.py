"""A word-level tokenizer for the testbed's worlds, layouts, and what is learned from texts in them.

Three kinds of tokens:

    control   <bos> <pad> <unk> <end> and one marker per role       special tokens
    verdict   [[ ]] A B, and yes no                                 never written by content
    words     the world's words, numbers and punctuation            all that content can be

Content (a question or a response) goes through `plain`, which maps every word outside the third
kind to <unk>. So a response that contains "<assistant>" or "[[A]]" stays text: it yields neither a
control token nor a label, whatever a model or a person wrote.

The prompts of the dialogues as tokens; the bar stands where the model's own begin:

    chat    <bos> <user> question <end> <assistant> | response <end>
    bare    <bos> <assistant> | response <end>
    rating  <bos> <question> question <end> <answer> response <end> <assistant> | 7 <end>
    judge   <bos> <question> question <end> <answer_a> a <end> <answer_b> b <end>
            <assistant> [[ | A ]] <end>
    rubric  as rating, with <assistant> : | 1 0 1 1 1 1 1 0 1 1 1 <end>
    contest as judge, with up to three responses, <answer_c> the third

A verdict is the distribution over A and B right after ``[[`` (Wataoka et al. 2024, Eq. 3); a rating
is the one over 0 to 9. The bare layout is the context of an unconditional perplexity. Training sees
the very same layouts: prompts at inference differ in nothing.

**Training examples.** A language model is usually asked to predict the next token everywhere. Here
a judge prompt has targets of its own instead, from the oracle:

    at each content token of a judged response    yes or no (is this part right?)
    at the <end> of a judged response             its quality, a digit
    from <assistant> on                           the reply, as at inference

The inputs, and with them the prompt at inference, are the same as without these targets. Without
them the base stayed at chance in the same number of steps (.48 against .94, one seed): this is
process supervision by the oracle, and has to be told wherever these judges are described. A recipe
says of which examples, and in how many steps, a model is made.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from selfpref.lab import world
from selfpref.lab.world import STYLE_WORDS, Rng, split_words
from selfpref.models import MARKER

BOS, PAD, UNK, END = "<bos>", "<pad>", "<unk>", "<end>"
# Positions that a model accepts; the longest scripted judge prompt takes about 80.
CONTEXT_LENGTH = 128

LABELS = ("A", "B")
YES, NO = "yes", "no"

# (role, content) pairs; the roles are those of the chat template.
Messages = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lexicon:
    """All tokens of one kind of model.

    Attributes:
        roles: Roles of the chat template.
        verdict: Tokens of a judge's answer that content never writes.
        words: All that content can be.
        added: Further roles (as ``<role>``) and verdicts, whose ids come after all others.
    """

    roles: tuple[str, ...]
    verdict: tuple[str, ...]
    words: tuple[str, ...]
    added: tuple[str, ...] = ()

    @cached_property
    def ids(self) -> dict[str, int]:
        """Token to id, in a fixed order: control tokens, verdict tokens, then words."""
        control = (PAD, BOS, END, UNK, *map("<{}>".format, self.roles))
        every = dict.fromkeys((*control, *self.verdict, *self.words, *self.added))
        return dict(zip(every, range(len(every)), strict=True))

    @cached_property
    def _content(self) -> frozenset[str]:
        return frozenset(self.words).difference(self.verdict, self.added)

    def plain(self, text: str) -> str:
        """Lower-case a text, and replace what is no word of the world by ``<unk>``."""
        return " ".join(word if word in self._content else UNK for word in split_words(text))

    def messages(self, **contents: str) -> Messages:
        """One message a role, from the texts by role; no text yields a control token or a label."""
        return tuple((role, self.plain(text)) for role, text in contents.items())

    def encode(self, messages: Messages, prefill: str = "") -> list[int]:
        """Encode messages up to where the model's own tokens begin.

        Args:
            messages: As above, or with contents of any kind.
            prefill: Empty, or the token with which the reply begins.

        Returns:
            Token ids, shape (n,), with one ``<bos>``: those that the chat template gives.
        """
        words = [BOS]
        for role, content in messages:
            words += [f"<{role}>", *self.plain(content).split(), END]
        return [self.ids[word] for word in (*words, "<assistant>", *prefill.split())]

    def build_tokenizer(self) -> Any:
        """Build a `PreTrainedTokenizerFast` with its chat template, loadable anywhere once saved.

        The control tokens are special, the verdict brackets and labels are not, so that decoding a
        judge's reply with ``skip_special_tokens=True`` gives ``[[A]]``.
        """
        # Two seconds, and an extra, that who only reads the words need not have.
        from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers  # noqa: PLC0415
        from tokenizers.models import WordLevel  # noqa: PLC0415
        from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

        brackets = pre_tokenizers.Split(Regex(r"\[\[|\]\]"), behavior="isolated")
        backend = Tokenizer(WordLevel(self.ids, unk_token=UNK))
        words = pre_tokenizers.WhitespaceSplit()
        backend.pre_tokenizer = pre_tokenizers.Sequence([words, brackets])
        # Words are joined by spaces, but a verdict reads [[A]], which is what parsers look for.
        joined = [decoders.WordPiece(prefix="##", cleanup=False), decoders.Fuse()]
        tight = [decoders.Replace(f"{MARKER} ", MARKER), decoders.Replace(" ]]", "]]")]
        backend.decoder = decoders.Sequence([*joined, *tight])
        backend.add_special_tokens([token for token in self.ids if token[0] == "<"])
        tokenizer: Any = PreTrainedTokenizerFast(
            tokenizer_object=backend,
            bos_token=BOS,
            eos_token=END,
            pad_token=PAD,
            unk_token=UNK,
            model_max_length=CONTEXT_LENGTH,
            clean_up_tokenization_spaces=False,
            model_input_names=["input_ids", "attention_mask"],
        )
        # `<end>` closes every message, as in ChatML, and is the token that ends generation.
        tokenizer.chat_template = (
            "{{ '<bos>' }}{% for message in messages %}"
            "{{ '<' + message['role'] + '>' + message['content'] + '<end>' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
        )
        return tokenizer


# The tokens of the models that answer questions; the last four roles ask for a judgement.
WORLD = Lexicon(
    roles=("user", "assistant", "question", "answer", "answer_a", "answer_b"),
    verdict=(MARKER, "]]", *LABELS, YES, NO),
    words=(
        *world.NUMBERS,
        *("list", "or", "things", "add", "sums", "and", "use", "the", "words", "tell", "of"),
        *("+", "="),
        *(*STYLE_WORDS, *world.COLOURS, *world.COLOUR_OF, *world.FACTS),
        *(*world.ATTRIBUTES, *world.ATTRIBUTE_OF, *world.USE_WORDS),
    ),
)
# The same with what contests of three need; a model of the world is widened, not trained anew.
CONTEST = replace(WORLD, added=("<answer_c>", "C", "tie"))


def judge_messages(question: str, answers: Sequence[str]) -> Messages:
    """Ask for a score of one response, or which of two or three is best: then prefill ``[[``."""
    roles = ["answer"] if len(answers) == 1 else ["answer_a", "answer_b", "answer_c"]
    return WORLD.messages(question=question, **dict(zip(roles, answers, strict=False)))


# --- what is learned


IGNORE = -100
# Weight of the label token: one token in fifty carries the whole verdict.
VERDICT_WEIGHT = 4.0
# What the oracle says of each word of a response (None: no content) and, if anything, at its end.
Marks = tuple[Sequence[bool | None], str]


class Example(NamedTuple):
    """One training sequence.

    Attributes:
        ids: Token ids, shape (n,).
        targets: What to predict at each position, shape (n,); `IGNORE` where nothing is asked.
        weights: Weight of each position's loss, shape (n,).
    """

    ids: list[int]
    targets: list[int]
    weights: list[float]


def example(
    lexicon: Lexicon,
    messages: Messages,
    reply: str,
    prefill: str = "",
    *,
    marked: Sequence[Marks] = (),
    weight: float = 1.0,
) -> Example:
    """A prompt, what the oracle says of the responses in it, and the reply to be learned.

    Args:
        lexicon: The model's tokens.
        messages: The prompt; the second message is the first that can be marked.
        reply: As it is written, without ``<end>``.
        prefill: The token with which the reply begins; it is part of the prompt.
        marked: Dense targets of the second message and those that follow it.
        weight: Weight of the reply's verdict: of the token after ``[[``, else of its first one.
    """
    prompt = lexicon.encode(messages, prefill)
    targets = [IGNORE] * len(prompt)
    told = {None: IGNORE, True: lexicon.ids[YES], False: lexicon.ids[NO]}
    ends = [place for place, token in enumerate(prompt) if token == lexicon.ids[END]]
    for end, (marks, last) in zip(ends[1:], marked, strict=False):
        targets[end - len(marks) : end] = [told[mark] for mark in marks]
        targets[end] = lexicon.ids.get(last, IGNORE)
    said = reply.split()
    answer = [lexicon.ids[token] for token in (*said, END)]
    ids = [*prompt, *answer[:-1]]
    weights = [1.0] * len(ids)
    verdict = said.index(MARKER) + 1 if MARKER in said else 0
    weights[len(prompt) - 1 + verdict] = weight
    # Each token of the reply is the target of the position before it.
    return Example(ids, [*targets[:-1], *answer], weights)


# Draws one example; its prompt is never a held-out one.
Draw = Callable[[Rng], Example]


class Schedule(NamedTuple):
    """What a model learns from, how long and how fast.

    Attributes:
        seed: Seed of the examples.
        steps: Optimiser steps.
        phases: What is drawn in which share of the steps; the shares add up to 1.
        batch_tokens: Tokens in a batch, padding included.
        learning_rate: Peak of AdamW's rate; it rises over `warmup` steps, then falls to a twentieth
            along a cosine.
        warmup: Steps of the rise.
    """

    seed: int
    steps: int
    phases: tuple[tuple[float, Draw], ...]
    batch_tokens: int = 1024
    learning_rate: float = 3e-3
    warmup: int = 50


class Recipe(NamedTuple):
    """How one model is made; it depends on this, and on the model that it is tuned from, alone.

    Attributes:
        name: Its folder.
        lexicon: Its tokens.
        schedules: What is done, in order.
        base: The model that it is tuned from; None: it begins with weights drawn from `weights`.
        weights: Seed of those weights.
        shape: Other sizes of such a model than the usual ones, as `build_model` takes them.
    """

    name: str
    lexicon: Lexicon
    schedules: tuple[Schedule, ...]
    base: str | None = None
    weights: int = 0
    shape: Mapping[str, Any] = {}

    @property
    def work(self) -> float:
        """How long it takes, in full batches of a model of the usual width."""
        tokens = sum(each.steps * each.batch_tokens for each in self.schedules)
        return float(tokens * self.shape.get("width", 64) / (64 * 1024))


def tuned(
    name: str, base: str, lexicon: Lexicon, seed: int, steps: int, draw: Draw, **more: Any
) -> Recipe:
    """A model that is tuned from a base on one kind of example; `more` as `Schedule` takes it."""
    schedule = Schedule(seed, steps, ((1.0, draw),), **{"warmup": 20} | more)
    return Recipe(name, lexicon, (schedule,), base)


def entropy(n: int, *words: int) -> list[int]:
    """Several seeds from a run's seed and the number of a use."""
    seeds: list[int] = np.random.SeedSequence(words).generate_state(n).tolist()
    return seeds
