"""The programs of docs/languages.md and client/go run as written, where their tools are there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import GRAFT, Shell

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/languages.md"
BUILD_SECONDS = 400
GO_SOURCES = Path("/usr/share/gocode/src")
"""Where Debian keeps the sources of Go libraries."""

pytestmark = pytest.mark.timeout(500)


def block(section: str, language: str) -> str:
    """Return the one block in *language* of a section of the page."""
    text = PAGE.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert isinstance(found, str)
    return found


def need(*tools: str) -> None:
    """Skip where one of *tools* is not installed."""
    lacking = [each for each in tools if shutil.which(each) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)}: not installed; docs/languages.md names the packages")


def run(shell: Shell, script: str) -> "subprocess.CompletedProcess[str]":
    inherited = shell.environment()
    return subprocess.run(
        ["/bin/sh", "-euc", script],
        cwd=shell.directory,
        env={**inherited, "PATH": f"{GRAFT.parent}:{inherited['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )


@pytest.fixture
def checkout(shell: Shell) -> Shell:
    """A shell in a place that has the protos where a checkout has them."""
    (shell.directory / "protos").symlink_to(ROOT / "protos")
    return shell


@pytest.mark.model
def test_ruby_saves_asks_and_is_refused_with_a_reason(checkout: Shell) -> None:
    need("ruby", "protoc", "grpc_ruby_plugin")
    if run(checkout, "ruby -e 'require \"grpc\"'").returncode != 0:
        pytest.skip("Ruby's grpc is not installed; docs/languages.md names the packages")
    (checkout.directory / "ask.rb").write_text(block("Ruby", "ruby"), "utf-8")
    checkout.run("start")

    done = run(checkout, block("Ruby", "sh"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "HIT_STRONG Set SSL_CERT_FILE."
    assert done.stdout.splitlines()[1].startswith("NOTE_NOT_FOUND: no note has the id ffffffff")
    saved = [each for each in checkout.run("log", "--json").lines() if each["action"] == "insert"]
    assert [(each["session"], each["door"]) for each in saved] == [("by-ruby", "library")]


@pytest.mark.model
def test_cpp_asks(checkout: Shell) -> None:
    need("g++", "pkg-config", "protoc", "grpc_cpp_plugin")
    if run(checkout, "pkg-config --exists grpc++ protobuf").returncode != 0:
        pytest.skip("libgrpc++-dev is not installed")
    (checkout.directory / "ask.cc").write_text(block("C++", "cpp"), "utf-8")
    checkout.insert("bundler fails behind the proxy", "Set SSL_CERT_FILE.", "--scope", "user")

    done = run(checkout, block("C++", "sh"))
    checkout.run("stop")
    (checkout.home / "memstore.json").unlink(missing_ok=True)
    alone = run(checkout, "./ask")

    assert (done.returncode, done.stdout) == (0, "HIT_STRONG Set SSL_CERT_FILE.\n"), done.stderr
    assert alone.returncode == 3
    assert "start it with: graft start" in alone.stderr


@pytest.mark.model
def test_go_is_vetted_tested_built_and_saves_asks_and_is_refused(checkout: Shell) -> None:
    need("go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc")
    if not (GO_SOURCES / "google.golang.org/grpc").exists():
        pytest.skip(f"no grpc-go in {GO_SOURCES}; client/go/README.md names the packages")
    (checkout.directory / "client").symlink_to(ROOT / "client")
    text = (ROOT / "client/go/README.md").read_text("utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)

    done = run(checkout, script)
    checkout.run("stop")
    alone = run(checkout, "build/go/bin/save-and-ask")

    assert done.returncode == 0, done.stdout + done.stderr
    saved, answer, refused, malformed = done.stdout.splitlines()[-4:]
    assert re.fullmatch(r"saved [0-9a-f]{8} to user", saved)
    assert answer.startswith("HIT_STRONG pip fails behind the proxy with a certificate error Set ")
    assert refused.startswith("NOTE_NOT_FOUND: no note has the id ffffffff")
    assert malformed.startswith("BAD_FIELD map[note.title:")
    assert "start it with: graft start" in alone.stderr


def test_protoc_makes_java_and_csharp_as_told(tmp_path: Path) -> None:
    need("protoc")
    protos = ROOT / "protos"
    sources = [str(each) for each in sorted((protos / "graft/memory/v1").glob("*.proto"))]

    subprocess.run(
        ["protoc", f"-I{protos}", f"--java_out={tmp_path}", f"--csharp_out={tmp_path}", *sources],
        check=True,
    )

    assert (tmp_path / "graft/memory/v1/QueryRequest.java").exists()
    assert "namespace Graft.Memory.V1 {" in (tmp_path / "RecallService.cs").read_text("utf-8")
