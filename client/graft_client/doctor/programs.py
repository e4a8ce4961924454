"""Checks of what is installed: llama.cpp, the store's modules, the model files."""

import json
import subprocess
import sys
from collections.abc import Iterator

from graft_client.programs import INSTALL_LINE, MEMSTORE_MODULES, missing
from graft_client.results import Check
from graft_client.settings import Configuration

PROGRAM_SECONDS = 120.0


def check_programs() -> Iterator[Check]:
    """Check what the two services need to run."""
    lacking = missing(MEMSTORE_MODULES)
    yield Check(
        name="memstore's modules",
        ok=not lacking,
        detail=f"{', '.join(lacking)} not installed; run: {INSTALL_LINE}"
        if lacking
        else "installed",
    )
    yield _llama_cpp()


def check_models(configuration: Configuration) -> Iterator[Check]:
    """Check the model files that are here, and the default one's at any rate, by their hashes."""
    if missing(("graft_embedder", "blake3")):
        return  # said by check_programs
    listing = _run(
        *("-m", "graft_embedder", "model", "check", "--json"),
        *("--home", str(configuration.home.root)),
    )
    if listing is None or listing.returncode != 0:
        yield Check(name="models", ok=False, detail=_complaint(listing))
        return
    for line in listing.stdout.splitlines():
        model = json.loads(line)
        yield Check(name=f"model {model['name']}", ok=model["ok"], detail=model["detail"])


def _complaint(done: "subprocess.CompletedProcess[str] | None") -> str:
    if done is None:
        return f"the embedder's program gave no answer within {PROGRAM_SECONDS:g} s"
    lines = done.stderr.strip().splitlines()
    try:
        return str(json.loads(lines[-1])["message"])
    except (IndexError, ValueError, KeyError, TypeError):
        return lines[-1] if lines else f"the embedder's program ended with {done.returncode}"


def _llama_cpp() -> Check:
    if missing(("llama_cpp",)):
        return Check(
            name="llama.cpp",
            ok=False,
            detail=f"llama-cpp-python is not installed; run: {INSTALL_LINE}",
        )
    # Imported elsewhere: a library built for another processor ends the process that loads it.
    done = _run("-c", "import llama_cpp; print(llama_cpp.__version__)")
    if done is None or done.returncode != 0:
        why = done.stderr.strip().splitlines()[-1:] if done is not None else ["it takes too long"]
        return Check(
            name="llama.cpp",
            ok=False,
            detail=f"llama-cpp-python cannot be loaded ({''.join(why) or 'it ends at once'}); build"
            " it anew: pip install --force-reinstall --no-cache-dir llama-cpp-python",
        )
    return Check(name="llama.cpp", ok=True, detail=f"version {done.stdout.strip()}")


def _run(*arguments: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *arguments],
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            timeout=PROGRAM_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return None
