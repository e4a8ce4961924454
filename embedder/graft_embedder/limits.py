"""Every limit of the embedder, named once; the .proto comments and the docs repeat them."""

TEXTS_MAX = 256
"""Texts in one request."""

TEXT_BYTES_MAX = 1024 * 1024
"""UTF-8 bytes of one text."""

REQUEST_BYTES_MAX = 16 * 1024 * 1024
"""UTF-8 bytes of all texts of one request."""

WINDOW_TOKENS_MIN = 16
"""Smallest window that may be asked for; a single character can take more tokens than fewer."""

WINDOWS_MAX = 64
"""Windows made of one text."""

QUERY_TOKENS_CPU = 256
"""Tokens of a question that are embedded on a processor unless the request says otherwise."""

QUERY_TOKENS_GPU = 512
"""The same on a GPU."""

SEQUENCE_TOKENS_MAX = 8192
"""Tokens of one sequence, whatever the model was trained for: what BGE-M3 takes."""

CAUSAL_SEQUENCE_TOKENS_MAX = 2048
"""The same for decoder models, which keep keys and values for every token: 8,192 tokens of a
0.6-billion model would take a gigabyte."""

SEQUENCES_MAX = 64
"""Sequences in one decode; llama.cpp takes 256."""

BATCH_TOKENS_CPU = 160
"""Tokens in one decode on a processor: attention is computed across all sequences of a batch and
masked, so bigger batches are slower there; texts of 12 to 60 tokens are fastest at 50 to 240
together, longer ones alone."""

BATCH_TOKENS_GPU = 4096
"""Tokens in one decode on a GPU, where launching is what costs; the attention mask of so many
takes 32 MB of its memory."""

QUEUE_CALLS_MAX = 32
"""Calls that wait or run; below the server's 64 workers, so that health and GetModel answer."""

QUEUE_QUERY_RESERVE = 8
"""Places of the queue that only single queries may take."""

QUEUE_BYTES_MAX = 64 * 1024 * 1024
"""UTF-8 bytes of all texts that wait or run."""

CALL_SECONDS_MAX = 600.0
"""Seconds that a call without a deadline may wait."""

CACHE_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of recent texts and their vectors that are kept."""

CACHE_TEXT_BYTES_MAX = 64 * 1024
"""Longer texts are not kept."""
