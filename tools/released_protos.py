"""Keep the image of the protos as they were released last, which `make lint` compares against.

`protos/released.binpb.gz` holds every file that a release has shipped, compiled and without its
comments. Only the making of a release writes it:

    .venv/bin/python tools/released_protos.py

It refuses while the protos break what was released before; a new major version says --breaking.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGE = Path("protos/released.binpb.gz")
BUF = Path(sys.executable).with_name("buf")


class BreakingError(Exception):
    """The protos break what was released; the message is buf's list of what breaks."""


def find_breaks(root: Path) -> str:
    """Return what of the protos at *root* breaks its image, one place a line; empty for nothing."""
    done = _buf(root, "breaking", "--against", str(IMAGE))
    return done.stdout if done.returncode else ""


def replace_image(root: Path, *, breaking: bool = False) -> Path:
    """Put an image of the protos at *root* in the place of the one there, and return its path.

    Args:
        root: a checkout.
        breaking: this release may break what was released before.

    Raises:
        BreakingError: the protos break what was released before, and *breaking* is not set.
        subprocess.CalledProcessError: the protos do not compile.
    """
    image = root / IMAGE
    found = "" if breaking or not image.exists() else find_breaks(root)
    if found:
        raise BreakingError(found)
    # Comments and places would make it four times as large, and nothing here compares them.
    _buf(root, "build", "--exclude-source-info", "--output", str(IMAGE)).check_returncode()
    return image


def main() -> int:
    """Replace the image of this checkout."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument(
        "--breaking", action="store_true", help="this release may break what was released before"
    )
    try:
        image = replace_image(ROOT, breaking=options.parse_args().breaking)
    except BreakingError as error:
        sys.stderr.write(f"{error}the image stays as it is; keep what was released, or release a")
        sys.stderr.write(" new major version with --breaking\n")
        return 1
    sys.stdout.write(f"{image.relative_to(ROOT)}: {image.stat().st_size:,} bytes\n")
    return 0


def _buf(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(BUF), *arguments], cwd=root, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
