"""The rival of the embedder: llama-cpp-python itself, in this very process."""

import argparse
import os
import sys
from pathlib import Path

import llama_cpp
import psutil

from bench.corpus import notes


class BareLlama:
    """A model in llama-cpp-python's own class, set up as well as it can be."""

    def __init__(self, path: Path, *, flash_attention: bool = True) -> None:
        self._llama = llama_cpp.Llama(
            model_path=str(path),
            embedding=True,
            n_ctx=512,
            n_batch=512,
            n_ubatch=512,
            n_threads=len(os.sched_getaffinity(0)),
            flash_attn=flash_attention,
            verbose=False,
        )

    def one_by_one(self, texts: list[str]) -> None:
        """Embed each text in a call of its own."""
        for text in texts:
            self._llama.embed(text)

    def batched(self, texts: list[str]) -> None:
        """Embed all texts in one call."""
        self._llama.embed(texts)

    def close(self) -> None:
        """Free the model."""
        self._llama.close()


def resident_bytes(pid: int) -> int:
    """Return the memory that process *pid* holds, in bytes."""
    return int(psutil.Process(pid).memory_info().rss)


def main() -> None:
    """Load a model, embed what the embedder was given, and print the memory held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    bare = BareLlama(parser.parse_args().model)
    bare.one_by_one([f"passage: {note.title} {note.body}" for note in notes(16)])
    sys.stdout.write(f"{resident_bytes(os.getpid())}\n")


if __name__ == "__main__":
    main()
