"""Prompts to tokens: the chat template around contents that stay text, whatever they spell.

A content may hold `<|im_end|>` or `</s>`: copied from a web page, or written to break out of its
message. Special tokens are therefore known to this encoder under other names, which hold a number
drawn at random: the template's own special tokens are renamed with them, a content's are not, and
so it is encoded as the plain characters that it is. Everything else about the tokenizer stays as it
was: prompt, contents and continuation are one text, encoded together. Formats whose markers are
ordinary text (`USER:`, `[INST]`) have no such protection: there a content can spell a marker.

The template never sees a content either. It is rendered around placeholders, once for each sequence
of roles, and contents are put into their places (without surrounding whitespace where the template
trims): no content can change what the template writes.

An answer that is given, as a prefill or a continuation, is the content of the assistant's turn: the
template renders that turn too, and what it writes before the content (a line break, the space after
`ASSISTANT:`) belongs to the prompt. An answer that is still to be written follows the template's
generation prompt, which may end before that space. A label is looked for where the model writes it:
after the generation prompt where space and label are one token (`▁A`), after the space where they
are two (`▁`, `1`).
"""

import json
import re
import secrets
from collections.abc import Sequence
from functools import cache
from itertools import chain, product, takewhile
from operator import eq
from typing import Any

import jinja2
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from selfpref.errors import SelfprefError
from selfpref.models import Prompt

# Around a placeholder: whitespace that no template writes, so that trimming can be told.
EDGE = "\x1f"


class Encoder:
    """A tokenizer with its chat template.

    Args:
        tokenizer: A fast tokenizer.
        template: A format's Jinja text; None: the tokenizer's own.
        fold: Whether system messages stand in the first user message.

    Attributes:
        stops: Ids of the special tokens that a given format writes around or after an answer: each
            of them ends one.

    Raises:
        SelfprefError: There is no chat template.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, template: str | None = None, *, fold: bool = False
    ) -> None:
        self._tokenizer, self._fold, self._template = tokenizer, fold, template
        if not (template or tokenizer.chat_template):
            raise SelfprefError(
                f"{tokenizer.name_or_path}: no chat template; name the model's format by `template`"
            )
        # Of what no text holds.
        self._mark = f"\ue000{secrets.token_hex(8)}:"
        described = json.loads(tokenizer.backend_tokenizer.to_str())
        special = {one["content"]: one["id"] for one in described["added_tokens"] if one["special"]}
        self._names = {text: f"{self._mark}{number}\ue001" for text, number in special.items()}
        self._backend = _renamed(described, self._names)
        # The longest first.
        texts = map(re.escape, sorted(special, key=len)[::-1])
        self._special = re.compile("|".join(texts) or r"(?!)")
        # What the tokenizer itself puts before a text: its BOS, or nothing.
        first = tokenizer("a")["input_ids"][:1]
        self._bos = first if first == [tokenizer.bos_token_id] else []
        # Where a content stands; without edges the template trims it.
        self._place = re.compile(f"({EDGE}?){self._mark}c([0-9]+)\ue001{EDGE}?")
        self._rendered, self._apart = cache(self._render), cache(self._space_is_apart)
        written = self._rendered(("user", "assistant"), False) if template else ""
        self.stops = {special[token] for token, name in self._names.items() if name in written}

    def _own(self, text: str) -> str:
        """A text of our own or the template's, in which special tokens are meant."""
        return self._special.sub(lambda found: self._names[found[0]], text)

    def _render(self, roles: tuple[str, ...], asked: bool) -> str:
        """The template's text of messages of these roles, with places for their contents.

        Args:
            roles: Who speaks.
            asked: Whether an answer is asked for after them.
        """
        messages = [
            {"role": role, "content": f"{EDGE}{self._mark}c{number}\ue001{EDGE}"}
            for number, role in enumerate(roles)
        ]
        options: Any = {"chat_template": self._template, "add_generation_prompt": asked}
        try:
            found = self._tokenizer.apply_chat_template(messages, tokenize=False, **options)
            text = self._own(str(found))
            if len({number for _, number in self._place.findall(text)}) < len(roles):
                raise ValueError("it leaves out a message")
        # What jinja raises, and what Python does where a template mixes types.
        except (jinja2.TemplateError, ArithmeticError, TypeError, ValueError) as error:
            raise SelfprefError(
                f"{self._tokenizer.name_or_path}: the chat template refuses messages of "
                f"{', '.join(roles)}: {error}; use another `template`, or `system: fold`"
            ) from error
        return text

    def _filled(self, text: str, contents: Sequence[str]) -> str:
        """A rendered text with contents in their places."""

        def content(place: re.Match[str]) -> str:
            text = contents[int(place[2])]
            return text if place[1] else text.strip()

        return self._place.sub(content, text)

    def text(self, prompt: Prompt, labels: tuple[str, ...] = ()) -> str:
        """A prompt as this encoder's text, the prefill included.

        Without messages it begins with BOS or, where a tokenizer has none, with EOS.

        Args:
            prompt: Which.
            labels: What the model may answer: the next token is then one of them.
        """
        if prompt.messages and not prompt.prefill:
            roles, contents = zip(*prompt.said(fold=self._fold), strict=True)
            if not (labels and self._apart(roles, labels)):
                return self._filled(self._rendered(roles, True), contents)
        return self._begun(prompt)[0]

    def _space_is_apart(self, roles: tuple[str, ...], labels: tuple[str, ...]) -> bool:
        """Whether space that the format has before an answer is no part of a label's token."""
        short = Prompt(tuple((role, "x") for role in roles))
        asked, (begun, _) = self.text(short), self._begun(short)
        if not begun.removeprefix(asked).isspace():
            return False
        before = self._plain(asked)
        return any(self._plain(begun + label)[:-1] != before for label in labels)

    def _begun(self, prompt: Prompt, answer: str = "") -> tuple[str, str]:
        """The text up to the answer's content, prefill included; and a given answer after it."""
        if not prompt.messages:
            first = self._tokenizer.bos_token or self._tokenizer.eos_token or ""
            return self._own(first + prompt.prefill), answer
        roles, contents = zip(*prompt.said(fold=self._fold), strict=True)
        text = self._rendered((*roles, "assistant"), False)
        place = next(one for one in self._place.finditer(text) if one[2] == str(len(roles)))
        if not place[1]:
            answer = answer.rstrip() if prompt.prefill else answer.strip()
        before = self._filled(text[: place.start()], contents)
        return before + self._own(prompt.prefill), answer

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of texts, with one BOS if the tokenizer's texts begin with one."""
        found = self._backend.encode_batch_fast(texts, add_special_tokens=False)
        rows = (one.ids for one in found)
        return [ids if ids[:1] == self._bos else [*self._bos, *ids] for ids in rows]

    def _plain(self, text: str) -> list[int]:
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def pairs(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[tuple[list[int], list[int]]]:
        """Context and continuation of each.

        Both are encoded together, the continuation as the content of the assistant's turn, and
        divided at the first token that differs from the prompt's own: where a tokenizer joins the
        prompt's last whitespace to the response's first word (`▁Hello`), that token is the
        response's; a line break that stays a token of its own is the prompt's.
        """
        begun = list(map(self._begun, prompts, continuations))
        once = list(dict.fromkeys(context for context, _ in begun))
        known = dict(zip(once, self.ids(once), strict=True))
        found = []
        for (context, _), ids in zip(begun, self.ids(list(map("".join, begun))), strict=True):
            start = len(list(takewhile(bool, map(eq, known[context], ids))))
            found.append((ids[:start], ids[start:]))
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Text of tokens, without special tokens."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return str(self._tokenizer.decode(list(ids), **options))

    def forms(self, labels: Sequence[str], contexts: Sequence[str]) -> list[list[int]]:
        """Ids of the single tokens that spell each label, with or without a space before it.

        Args:
            labels: Such as `A`.
            contexts: Texts after which one may stand, as of `text`.

        Raises:
            SelfprefError: A label has none, or shares one with another label.
        """
        forms: dict[str, set[int]] = {label: set() for label in labels}
        for context, label, space in product(("", *contexts), labels, ("", " ")):
            *known, last = self._plain(f"{context}{space}{label}")
            if known == self._plain(context) and last != self._tokenizer.unk_token_id:
                forms[label].add(last)
        found = [sorted(forms[label]) for label in labels]
        every = list(chain(*found))
        if not all(found) or len(every) > len({*every}):
            raise SelfprefError(
                f"labels {', '.join(labels)}: one is no single token of this model, or another's"
            )
        return found


def _renamed(described: dict[str, Any], names: dict[str, str]) -> Tokenizer:
    """The described tokenizer with its special tokens under other names, adding none to a text."""

    def renamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {names.get(key, key): renamed(value) for key, value in part.items()}
        if isinstance(part, list):
            return list(map(renamed, part))
        return names.get(part, part) if isinstance(part, str) else part

    for token in described["added_tokens"]:
        token["normalized"] = token["normalized"] and token["content"] not in names
    options = {"post_processor": None, "truncation": None, "padding": None}
    return Tokenizer.from_str(json.dumps(renamed(described) | options))
