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

BLOCK = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
WHOLE = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}


def interleaved(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head `[half, position]` as `[position, half]`."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def add_weights(
    writer: gguf.GGUFWriter, folder: Path, config: dict, kind: gguf.GGMLQuantizationType
) -> None:
    for name, loaded in load_file(folder / "model.safetensors").items():
        part, weight = name.removeprefix("model.").removesuffix(".weight"), loaded
        if part.startswith("layers."):
            _, layer, part = part.split(".", 2)
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                queries = config["num_attention_heads"]
                heads = queries if part == "self_attn.q_proj" else config["num_key_value_heads"]
                weight = interleaved(loaded, heads)
            target = f"blk.{layer}.{BLOCK[part]}"
        else:
            target = WHOLE[part]
        weight = np.ascontiguousarray(weight, dtype=np.float32)
        # Norms stay as they are.
        stored = kind if weight.ndim > 1 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(
            f"{target}.weight", gguf.quants.quantize(weight, stored), raw_dtype=stored
        )


def add_tokenizer(writer: gguf.GGUFWriter, folder: Path, config: dict, split: str) -> None:
    backend = json.loads((folder / "tokenizer.json").read_text())
    special = {token["id"] for token in backend["added_tokens"] if token["special"]}
    ids = backend["model"]["vocab"] | {
        token["content"]: token["id"] for token in backend["added_tokens"]
    }
    tokens = sorted(ids, key=ids.__getitem__)
    merges = backend["model"]["merges"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list(tokens)
    writer.add_token_types(
        [
            gguf.TokenType.CONTROL if number in special else gguf.TokenType.NORMAL
            for number in range(len(tokens))
        ]
    )
    writer.add_token_merges(
        [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]
    )
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    # The template brings it.
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


def write(
    folder: Path,
    file: Path,
    *,
    architecture: str = "llama",
    split: str = "gpt-2",
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
) -> None:
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, architecture)
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
