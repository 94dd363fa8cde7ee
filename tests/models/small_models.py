"""Small tokenizers of every kind and untrained models of several architectures."""

import json
from functools import partial

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers
from tokenizers.pre_tokenizers import ByteLevel, Metaspace
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from selfpref.models.local import LocalModel
from selfpref.params import Transformers

TEXT = (
    "the river lamp clock stands by a red or blue house and list three things that add to one "
    "which answer is better my verdict [[A]] [[B]] [[C]] USER: ASSISTANT: ### Instruction: "
    "A or B, 1 + 2 = 3! hello world, naïve café, 日本 🙂 A B C [ [ A ] ]"
)
WORDS = TEXT.split()
CORPUS = [" ".join(WORDS[n % 7 :: 1 + n % 3]) + ".\n" for n in range(60)]
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INST = (
    "{% for message in messages %}{% if message['role'] == 'user' %}"
    "{{ '[INST] ' + message['content'] | trim + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'] + '</s>' }}{% endif %}{% endfor %}"
)


def byte_level(special=("<|endoftext|>", "<|im_start|>", "<|im_end|>"), merges=(), corpus=CORPUS):
    """GPT-2's kind: byte-level BPE, no BOS before a text."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    options = {"special_tokens": list(special), "show_progress": False}
    trainer = trainers.BpeTrainer(vocab_size=480, initial_alphabet=ByteLevel.alphabet(), **options)
    backend.train_from_iterator(corpus, trainer)
    backend.add_tokens(list(merges))
    ends = {"bos_token": special[0], "eos_token": special[-1]}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ends, chat_template=CHATML)


def sentencepiece():
    """Llama's kind: BPE with bytes, words begin with ▁, a text begins with BOS."""
    special, bytes_ = ["<unk>", "<s>", "</s>"], [f"<0x{byte:02X}>" for byte in range(256)]
    backend = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    options = {"special_tokens": [*special, *bytes_], "show_progress": False}
    trainer = trainers.BpeTrainer(vocab_size=520, **options)
    backend.normalizer = normalizers.Replace("\t", " ")
    backend.pre_tokenizer = Metaspace(prepend_scheme="first")
    whole = [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), *whole])
    backend.train_from_iterator(CORPUS, trainer)
    backend.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    # A byte is a piece like any other; only the trainer has to be told of it.
    described = json.loads(backend.to_str())
    added = described["added_tokens"]
    described["added_tokens"] = [one for one in added if one["content"] not in bytes_]
    backend = Tokenizer.from_str(json.dumps(described))
    ends = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ends, chat_template=INST)


SIZES = {
    **{"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "max_position_embeddings": 160, "initializer_range": 0.3},
}


def save(folder, tokenizer, kind="llama", **settings):
    """An untrained model of an architecture, as a folder."""
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    known = SIZES | {"vocab_size": len(tokenizer), "pad_token_id": None} | ends
    config = AutoConfig.for_model(kind, **known | settings)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def load(folder, **options):
    entry = Transformers(engine="transformers", model=folder.name, threads=1, **options)
    return InOrder(LocalModel(entry, folder.parent))


def encoded(encoder, prompt):
    """Token ids of a prompt."""
    return encoder.ids([encoder.text(prompt)])[0]


class InOrder:
    """An engine whose answers are put into the order of their calls."""

    def __init__(self, engine):
        self.engine, self.encode = engine, partial(encoded, engine._encoder)

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def answer(self, calls):
        return [answer for _, answer in sorted(self.engine.answer(calls), key=lambda pair: pair[0])]


def save_chain(folder, tokenizer, follows):
    """A Llama whose next token hangs on the last one alone.

    `follows` gives, for a token, the raw logits of what may follow; all others have 0.
    """
    size = len(tokenizer)
    one = {"num_hidden_layers": 1, "num_attention_heads": 1, "rms_norm_eps": 0.0}
    save(folder, tokenizer, hidden_size=size, intermediate_size=4, **one)
    model = AutoModelForCausalLM.from_pretrained(folder)
    layer = model.model.layers[0]
    with torch.no_grad():
        # Every token is a direction of its own, and the layer adds nothing to it.
        model.model.embed_tokens.weight.copy_(torch.eye(size))
        for part in (layer.self_attn.o_proj, layer.mlp.down_proj, model.lm_head):
            part.weight.zero_()
        for token, logits in follows.items():
            for after, logit in logits.items():
                model.lm_head.weight[after, token] = logit / size**0.5
    model.save_pretrained(folder)
    return folder
