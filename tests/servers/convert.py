"""A Llama folder of `transformers` as one GGUF file, for llama.cpp and for the tests of GGUF.

    python convert.py FOLDER FILE [SPLIT]

Runs in the environment of `make test-servers`, with gguf and safetensors. The tokenizer has to be
byte-level BPE, split into words as SPLIT (`tokenizer.ggml.pre`) says; by default as GPT-2 does.
llama.cpp rotates neighbouring dimensions of a head where `transformers` rotates its halves, so that
the rows of the query and key weights change places.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

FP32 = gguf.GGMLQuantizationType.F32


def add_weights(writer, folder, config, kind):
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, loaded in load_file(folder / "model.safetensors").items():
        weight, part = loaded.astype(np.float32), name.split(".")[-2]
        if part in heads:
            # Rows of each head `[half, position]` as `[position, half]`.
            halves = weight.reshape(heads[part], 2, -1, weight.shape[1])
            weight = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(weight.shape)
        # Norms stay as they are.
        stored = kind if weight.ndim > 1 else FP32
        blocks = gguf.quants.quantize(weight, stored)
        writer.add_tensor(names.get_name(name, (".weight",)), blocks, raw_dtype=stored)


def add_tokenizer(writer, folder, config, split):
    backend = json.loads((folder / "tokenizer.json").read_text())
    added = {token["content"]: token["id"] for token in backend["added_tokens"]}
    special = {token["id"] for token in backend["added_tokens"] if token["special"]}
    ids = backend["model"]["vocab"] | added
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list(sorted(ids, key=ids.__getitem__))
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_token_types([kinds[number in special] for number in range(len(ids))])
    merges = backend["model"]["merges"]
    writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in merges])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    # The template brings it.
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


def write(folder, file, *, split="gpt-2", kind=FP32):
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_tokenizer(writer, folder, config, split)
    add_weights(writer, folder, config, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), split=(*sys.argv[3:], "gpt-2")[0])
