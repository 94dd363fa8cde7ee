"""llama.cpp's own server on a GGUF file: prints its address, and ends with its standard input.

    python serve.py FILE [plain]

Runs in the environment of `make test-servers`. Attention is in fp32 and nothing is fused, so that
only what the file's weights ask for differs from other engines; `plain`: as it comes.
"""

import sys

import xllamacpp


def serve(file: str, *, plain: bool) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.hostnames, params.port = ["127.0.0.1"], 0
    # As long as the model's own; one request at a time.
    params.n_ctx, params.n_parallel = 0, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    if not plain:
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # Errors alone.
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], plain=sys.argv[2:] == ["plain"])
