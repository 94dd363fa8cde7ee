"""A word-level tokenizer for the testbed's worlds, an ordinary `transformers` one, and layouts.

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
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from selfpref.lab import world
from selfpref.lab.world import STYLE_WORDS, split_words
from selfpref.models import MARKER

BOS, PAD, UNK, END = "<bos>", "<pad>", "<unk>", "<end>"
# Positions that a model accepts; the longest scripted judge prompt takes about 80.
CONTEXT_LENGTH = 128
VERDICT_CLOSE = "]]"
LABELS = ("A", "B")
YES, NO = "yes", "no"
# `<end>` closes every message, as in ChatML, and is the token that ends generation.
CHAT_TEMPLATE = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{{ '<' + message['role'] + '>' + message['content'] + '<end>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)
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
        closed = {*self.verdict, *self.added}
        return frozenset(w for w in self.ids if not w.startswith("<") and w not in closed)

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
        from tokenizers import AddedToken, Regex, Tokenizer, decoders, pre_tokenizers  # noqa: PLC0415
        from tokenizers.models import WordLevel  # noqa: PLC0415
        from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

        brackets = pre_tokenizers.Split(Regex(r"\[\[|\]\]"), behavior="isolated")
        backend = Tokenizer(WordLevel(self.ids, unk_token=UNK))
        words = pre_tokenizers.WhitespaceSplit()
        backend.pre_tokenizer = pre_tokenizers.Sequence([words, brackets])
        # Words are joined by spaces, but a verdict reads [[A]], which is what parsers look for.
        joined = [decoders.WordPiece(prefix="##", cleanup=False), decoders.Fuse()]
        tight = [decoders.Replace(f"{MARKER} ", MARKER), decoders.Replace(" ]]", VERDICT_CLOSE)]
        backend.decoder = decoders.Sequence([*joined, *tight])
        special = [token for token in self.ids if token.startswith("<")]
        backend.add_special_tokens([AddedToken(token, special=True) for token in special])
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
        tokenizer.chat_template = CHAT_TEMPLATE
        return tokenizer


# The tokens of the models that answer questions; the last four roles ask for a judgement.
WORLD = Lexicon(
    roles=("user", "assistant", "question", "answer", "answer_a", "answer_b"),
    verdict=(MARKER, VERDICT_CLOSE, *LABELS, YES, NO),
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


def chat_messages(question: str) -> Messages:
    """Ask for a response."""
    return WORLD.messages(user=question)


def rating_messages(question: str, response: str) -> Messages:
    """Ask a judge for a score of one response."""
    return WORLD.messages(question=question, answer=response)


def choice_messages(question: str, answers: Sequence[str]) -> Messages:
    """Ask which of two or three responses is best; prefill ``[[`` after them."""
    said = {f"answer_{letter}": answer for letter, answer in zip("abc", answers, strict=False)}
    return WORLD.messages(question=question, **said)
