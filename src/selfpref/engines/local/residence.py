"""Weights that lie in a file: a layer's pages are handed back once it has run.

Safetensors are mapped, not read: what is resident of them is a view of the system's page cache, and
counts as the process's memory like its own. A pass over a line needs one layer at a time, so that
the others may go; the next pass maps them again from the cache, at 3 to 4 per cent of the time of a
line of 2,048 tokens (from the disk only where the system ran short of memory and dropped them).
Only pages that are still the file's are handed back (bit 61 of their entry in Linux' pagemap):
weights that were converted, moved or changed are the process's own and stay.
"""

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

PAGEMAP = Path("/proc/self/pagemap")
# Elsewhere than on Linux everything stays.
READABLE = os.access(PAGEMAP, os.R_OK)
# Weights of fewer bytes are not worth a call.
LEAST = 2**20


def hand_back(layer: torch.nn.Module) -> None:
    """Let go of a layer's weights as far as a file holds them."""
    for weights in layer.parameters():
        size = weights.numel() * weights.element_size()
        if size < LEAST or weights.device.type != "cpu" or not READABLE:
            continue
        first = -(-weights.data_ptr() // mmap.PAGESIZE)
        count = (weights.data_ptr() + size) // mmap.PAGESIZE - first
        pages = np.fromfile(PAGEMAP, np.uint64, count, offset=8 * first)
        held = pages >> np.uint64(62) != 0
        filed = (pages >> np.uint64(61)) & np.uint64(1) == 1
        if len(pages) == count and (filed | ~held).all():
            start, length = first * mmap.PAGESIZE, count * mmap.PAGESIZE
            ctypes.CDLL(None).madvise(
                ctypes.c_void_p(start), ctypes.c_size_t(length), mmap.MADV_DONTNEED
            )


@contextmanager
def handing_back(model: torch.nn.Module) -> Iterator[None]:
    """Let a model's own passes do so."""
    layers = getattr(getattr(model, "base_model", None), "layers", ())
    hooks = [layer.register_forward_hook(lambda layer, *_: hand_back(layer)) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
