"""A word-level tokenizer for the testbed's world, as an ordinary `transformers` tokenizer.

Three kinds of tokens:

    control   <bos> <pad> <unk> <end> and one marker per role       special tokens
    verdict   [[ ]] A B, and yes no                                 never written by content
    words     the world's words, numbers and punctuation            all that content can be

Content (a question or a response) is encoded by `encode_content`, which maps every word outside the
third kind to <unk>. So a response that contains "<assistant>" or "[[A]]" stays text: it yields
neither a control token nor a label, whatever a model or a person wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from selfpref.lab.oracle import split_words
from selfpref.lab.styles import STYLE_WORDS
from selfpref.lab.vocabulary import (
    ATTRIBUTE_OF,
    ATTRIBUTES,
    COLOUR_OF,
    COLOURS,
    NUMBERS,
    PEOPLE,
    QUESTION_WORDS,
    USE_WORDS,
)
from selfpref.models import MARKER

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

BOS: Final = "<bos>"
PAD: Final = "<pad>"
UNK: Final = "<unk>"
END: Final = "<end>"
CONTEXT_LENGTH: Final = 128
"""Positions that a model accepts; the longest scripted judge prompt takes about 80."""

ROLES: Final[tuple[str, ...]] = (
    "user", "assistant", "question", "answer", "answer_a", "answer_b",
)  # fmt: skip
"""Roles of the chat template; the last four stand only in prompts that ask for a judgement."""

VERDICT_OPEN: Final = MARKER
VERDICT_CLOSE: Final = "]]"
LABELS: Final[tuple[str, str]] = ("A", "B")
YES: Final = "yes"
NO: Final = "no"

# `<end>` closes every message, as in ChatML, and is the token that ends generation.
CHAT_TEMPLATE: Final = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{{ '<' + message['role'] + '>' + message['content'] + '<end>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)


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

    @property
    def control(self) -> tuple[str, ...]:
        """The special tokens."""
        return (PAD, BOS, END, UNK, *(f"<{role}>" for role in self.roles))

    @cached_property
    def ids(self) -> dict[str, int]:
        """Token to id, in a fixed order: control tokens, verdict tokens, then words."""
        words = dict.fromkeys(self.words)
        every = [*self.control, *self.verdict, *words, *self.added]
        return {token: index for index, token in enumerate(every)}

    @cached_property
    def _content(self) -> dict[str, int]:
        closed = {*self.control, *self.verdict, *self.added}
        return {token: index for token, index in self.ids.items() if token not in closed}

    def token_id(self, token: str) -> int:
        """Id of a token, control tokens included.

        Raises:
            KeyError: The vocabulary has no such token.
        """
        return self.ids[token]

    def encode_content(self, text: str) -> list[int]:
        """Encode a question or a response as plain words, one id per space-separated word.

        Args:
            text: Any text; it is lower-cased.

        Returns:
            Ids of words, with the id of ``<unk>`` for anything else, never a control or verdict
            token.
        """
        known, unknown = self._content, self.token_id(UNK)
        return [known.get(word, unknown) for word in split_words(text)]

    def plain(self, text: str) -> str:
        """Replace what is no word of the world by ``<unk>``, so that any encoder is safe with it.

        Rendering messages through the chat template and encoding the result gives the ids of
        `encode_content` if, and only if, the contents went through this function.
        """
        known = self._content
        return " ".join([word if word in known else UNK for word in split_words(text)])

    def build_tokenizer(self) -> PreTrainedTokenizerFast:
        """Build the tokenizer with its chat template; `save_pretrained` makes it loadable anywhere.

        The control tokens are special, the verdict brackets and labels are not, so that decoding a
        judge's reply with ``skip_special_tokens=True`` gives ``[[A]]``.
        """
        # Two seconds, and an extra, that who only reads the words need not have.
        from tokenizers import AddedToken, Regex, Tokenizer, decoders  # noqa: PLC0415
        from tokenizers.models import WordLevel  # noqa: PLC0415
        from tokenizers.pre_tokenizers import Sequence as PreTokenizers  # noqa: PLC0415
        from tokenizers.pre_tokenizers import Split, WhitespaceSplit  # noqa: PLC0415
        from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

        backend = Tokenizer(WordLevel(self.ids, unk_token=UNK))
        backend.pre_tokenizer = PreTokenizers(
            [WhitespaceSplit(), Split(Regex(r"\[\[|\]\]"), behavior="isolated")]
        )
        # Words are joined by spaces, but a verdict reads [[A]], which is what parsers look for.
        backend.decoder = decoders.Sequence(
            [
                decoders.WordPiece(prefix="##", cleanup=False),
                decoders.Fuse(),
                decoders.Replace(f"{VERDICT_OPEN} ", VERDICT_OPEN),
                decoders.Replace(f" {VERDICT_CLOSE}", VERDICT_CLOSE),
            ]
        )
        special = [*self.control, *(token for token in self.added if token.startswith("<"))]
        backend.add_special_tokens([AddedToken(token, special=True) for token in special])
        tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
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


WORLD: Final = Lexicon(
    roles=ROLES,
    verdict=(VERDICT_OPEN, VERDICT_CLOSE, *LABELS, YES, NO),
    words=(
        *NUMBERS, *QUESTION_WORDS, *STYLE_WORDS, *COLOURS, *COLOUR_OF, *PEOPLE, *ATTRIBUTES,
        *ATTRIBUTE_OF, *USE_WORDS,
    ),
)  # fmt: skip
"""The tokens of the models that answer questions; below, short names for what it does."""

CONTEST: Final = replace(WORLD, added=("<answer_c>", "C", "tie"))
"""The same with what contests of three need; a model of the world is widened, not trained anew."""

token_id: Final = WORLD.token_id
encode_content: Final = WORLD.encode_content
plain: Final = WORLD.plain
build_tokenizer: Final = WORLD.build_tokenizer


def vocabulary() -> dict[str, int]:
    """Token to id of the models that answer questions."""
    return WORLD.ids
