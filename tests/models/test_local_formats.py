"""Chat formats of the user's own: a Jinja file, `plain`, a folded system message."""

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose
from small_models import INST, byte_level, load, save, save_chain, sentencepiece
from tokenizers import pre_tokenizers

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.loading import chosen
from selfpref.params import Transformers

HI = Prompt((("user", "hello"),))
TOLD = Prompt((("system", "be brief"), ("user", "hello")))
FILE = "mine.jinja"


@pytest.fixture
def encoder(tmp_path):
    """Of a format in a file."""

    def made(text, tokenizer=None, *, fold=False):
        (tmp_path / FILE).write_text(text)
        return Encoder(tokenizer or byte_level(), chosen(FILE, tmp_path), fold=fold)

    return made


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ messages.append(messages[0]) }}", "is not safely callable|unsafe"),
        ("{% for message in messages %}", "Unexpected end of template"),
        ("{{ messages[0]['nothing'].x }}", "has no attribute"),
        ("{% for n in range(1000000) %}{% endfor %}", "Range too big"),
    ],
)
def test_a_file_runs_in_a_sandbox_and_is_named_in_one_line(encoder, text, told):
    with pytest.raises(SelfprefError, match=told) as failure:
        encoder(text).text(HI)
    message = str(failure.value)
    assert message.startswith(f"{FILE}: the chat template refuses messages of user")
    assert len(message.splitlines()) == 1


def test_a_base_model_reads_paragraphs(tmp_path):
    tokenizer = sentencepiece("bpe")
    tokenizer.chat_template = None
    save(tmp_path / "m", tokenizer)
    with pytest.raises(SelfprefError, match="`plain` for a base model"):
        load(tmp_path / "m")
    model = load(tmp_path / "m", template="plain")
    ids = model.encode(TOLD)
    assert ids[0] == tokenizer.bos_token_id
    assert tokenizer.decode(ids[1:]) == "be brief\n\nhello\n\n"
    ((context, given),) = model.pairs([HI], ["a red house"])
    assert [tokenizer.decode(part) for part in (given, context[1:])] == ["a red house", "hello\n\n"]


def test_a_system_message_is_folded_where_the_format_has_none(encoder):
    text = (
        "{% for message in messages %}{% if message['role'] == 'system' %}"
        "{{ raise_exception('System role not supported') }}{% endif %}"
        "<{{ message['role'] }}> {{ message['content'] }}\n{% endfor %}"
    )
    with pytest.raises(SelfprefError, match=r"not supported; `system: fold` puts a system message"):
        encoder(text).text(TOLD)
    folding = encoder(text, fold=True)
    later = Prompt((*TOLD.messages, ("assistant", "red"), ("user", "blue")), "[[")
    for prompt, wanted in (
        (HI, "<user> hello\n"),
        (TOLD, "<user> be brief\n\nhello\n"),
        (Prompt(TOLD.messages[:1]), "<user> be brief\n"),
        (Prompt((("assistant", "red"), *TOLD.messages)),
         "<assistant> red\n<user> be brief\n\nhello\n"),
        (later, "<user> be brief\n\nhello\n<assistant> red\n<user> blue\n<assistant> [["),
    ):  # fmt: skip
        assert folding.text(prompt) == wanted


def test_a_format_is_a_name_or_a_jinja_file(tmp_path):
    entry = {"engine": "transformers", "model": "m"}
    for good in (None, "plain", "vicuna", FILE):
        assert Transformers(**entry, template=good).template == good
    for bad in ("../mine.jinja", "/mine.jinja"):
        with pytest.raises(ValueError, match=r"give a path inside"):
            Transformers(**entry, template=bad)
    with pytest.raises(SelfprefError, match=r"mine\.jinja: not readable .*`template`"):
        chosen(FILE, tmp_path)


@pytest.mark.parametrize("template", ["llama-2", "vicuna", None])
@pytest.mark.parametrize(("labels", "apart"), [(("1", "2"), True), (("A", "B"), False)])
def test_a_label_is_read_where_the_format_makes_the_model_write_it(
    tmp_path, template, labels, apart
):
    """After `[/INST]`: `▁A` is one token, `▁1` two; either way the label has its probability."""
    tokenizer = sentencepiece("bpe")
    tokenizer.chat_template = INST
    # Llama 2's kind: a space before a digit is a token of its own.
    backend = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    backend.pre_tokenizer = pre_tokenizers.Sequence([backend.pre_tokenizer, digits])
    # Rotations of `save_chain` want an even width.
    tokenizer.add_tokens(["oddly"] * (len(tokenizer) % 2))
    encoder = Encoder(tokenizer, chosen(template, tmp_path))
    # A model that has learned the format: after the prompt it writes what the format writes.
    follows = {}
    for label, logit in zip(labels, (81.0, 80.0), strict=True):
        ((context, written),) = encoder.pairs([HI], [label])
        assert len(written) == 1
        follows.setdefault(context[-1], {})[written[0]] = logit
    asked = encoder.encode(HI)
    assert context == ([*asked, context[-1]] if apart else asked)
    if apart:
        follows[asked[-1]] = {context[-1]: 80.0}
    save_chain(tmp_path / "m", tokenizer, follows)
    (found,) = load(tmp_path / "m", template=template).answer(to_choose([HI], labels))
    assert found.probabilities == pytest.approx((0.731, 0.269), abs=1e-3)
