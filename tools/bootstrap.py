"""Set up ``.venv`` for this checkout: everything that `make demo` and `make test` need.

Standard library alone. Safe to run again: what is there already is kept.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LLAMA = "llama-cpp-python"
CMAKE_ARGS = "-DLLAVA_BUILD=OFF " + shlex.quote(
    f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={ROOT / 'tools' / 'llama_without_common.cmake'}"
)


def main() -> int:
    """Make the environment, compile llama.cpp once per machine, install this checkout."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs under whatever python3 is
        say(f"Graft needs Python 3.11 or newer; this is {platform.python_version()}.")
        say("Name another one: make PYTHON=python3.12 demo")
        return 1
    if sys.argv[1:] == ["--print-wheel"]:
        say(str(llama_wheel()))
        return 0
    started = time.monotonic()
    if not PYTHON.exists():
        say(f"Making {VENV.relative_to(ROOT)} with Python {platform.python_version()}")
        run([sys.executable, "-m", "venv", str(VENV)])
    say("Fetching pip and the build's tools")
    pip("install", "--quiet", "--upgrade", "pip>=25.1")
    wheel = llama_wheel()
    say("Installing Graft and what it needs (about a minute the first time)")
    pip("install", "--quiet", str(wheel))
    pip(
        "install",
        "--quiet",
        "--editable",
        f"{ROOT}[all,starter]",
        "--group",
        f"{ROOT}/pyproject.toml:dev",
    )
    say(f"Ready after {time.monotonic() - started:.0f} s")
    return 0


def llama_wheel() -> Path:
    """Return llama.cpp compiled for this machine, compiling it if nobody has."""
    version = llama_version()
    house = wheelhouse(version)
    found = sorted(house.glob("*.whl"))
    if found:
        return found[0]
    say(f"Compiling llama.cpp ({LLAMA} {version}) for this machine.")
    say("  This happens once and takes three to five minutes on two cores.")
    house.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=house.parent) as draft:
        # No pip cache: it knows neither the build flags nor the processor.
        command = ["wheel", "--no-deps", "--no-cache-dir", "--wheel-dir", draft]
        environ = {**os.environ, "CMAKE_ARGS": cmake_args()}
        log = Path(draft) / "build.log"
        with log.open("wb") as out:
            built = subprocess.run(
                [str(PYTHON), "-m", "pip", *command, f"{LLAMA}=={version}"],
                env=environ,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if built.returncode:
            say("\n".join(log.read_text("utf-8", "replace").splitlines()[-30:]))
            say("llama.cpp does not compile here. It needs a C++ compiler (g++ or clang++).")
            sys.exit(1)
        log.unlink()
        if not house.exists():
            shutil.move(draft, house)
            Path(draft).mkdir()  # the context manager removes it
    say(f"  Compiled in {time.monotonic() - started:.0f} s; kept in {house}")
    return next(house.glob("*.whl"))


def llama_version() -> str:
    """Return the lowest version that pyproject allows: the one that everything was measured on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for line in project["project"]["optional-dependencies"]["embedder"]:
        found = re.match(rf"{LLAMA}>=([0-9.]+)", line)
        if found:
            return found[1]
    raise LookupError(f"pyproject.toml names no {LLAMA}")


def cmake_args() -> str:
    """Return the build's flags: the caller's, then ours."""
    return f"{os.environ.get('CMAKE_ARGS', '')} {CMAKE_ARGS}".strip()


def wheelhouse(version: str) -> Path:
    """Return the folder of the wheel for this version, these flags and this processor."""
    flags = os.environ.get("CMAKE_ARGS", "")
    digest = hashlib.sha256(f"{flags}\n{processor()}".encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "graft" / "wheels" / f"llama-{version}-{platform.machine()}-{digest}"


def processor() -> str:
    """Return what tells processors apart for a compiler that builds for this very one."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def pip(*arguments: str) -> None:
    """Run the environment's pip."""
    run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments])


def run(command: list[str]) -> None:
    """Run *command*; end with its status if it fails."""
    status = subprocess.run(command, check=False).returncode
    if status:
        sys.exit(status)


def say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
