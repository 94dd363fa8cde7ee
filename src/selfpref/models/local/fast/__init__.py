"""The fast ways to a model's states; every one has a public way beside it that gives the same.

    passes      rows packed into lines with shared prefixes      padded rows, the library's pass
    products    oneDNN's fp32 product on the weights as they lie torch's product

Which is taken depends on the model's architecture and the processor's features, never on a timing.
"""
