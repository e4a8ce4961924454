"""The TypeScript client is built, tested, packed and run as its README says."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trustme
from tests.e2e.conftest import GRAFT, Shell, make_home, stop

ROOT = Path(__file__).parents[2]
CLIENT = "client/typescript"
MADE = ("node_modules", "dist", "build", "gen")
BUILD_SECONDS = 280
PACKED = {"LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts"}

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A copy of the package in which it was built."""

    directory: Path

    def run(
        self, *command: str, environ: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run *command* there."""
        return subprocess.run(
            command,
            cwd=self.directory,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )


def build_package(root: Path) -> Package:
    """Build the package in a copy of what it needs of the checkout; skip where it cannot be."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    shutil.copytree(ROOT / CLIENT, root / CLIENT, ignore=shutil.ignore_patterns(*MADE))
    shutil.copytree(ROOT / "protos", root / "protos", ignore=shutil.ignore_patterns("*.py*"))
    made = Package(directory=root / CLIENT)
    installed = made.run("npm", "ci", "--ignore-scripts")
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install what the client needs here: {installed.stderr[-200:]}")
    built = made.run("npm", "run", "build")
    assert built.returncode == 0, built.stdout + built.stderr
    return made


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return build_package(tmp_path_factory.mktemp("checkout"))


def environment(shell: Shell, models: Path) -> dict[str, str]:
    """Return an environment in which the package's own tests find `graft` and a model."""
    inherited = shell.environment()
    own = {"PATH": f"{GRAFT.parent}:{inherited['PATH']}", "GRAFT_TEST_MODELS": str(models)}
    return {**inherited, **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its key, as PEM files."""

    cert: Path
    key: Path


def sign(authority: trustme.CA, name: str, folder: Path) -> Pair:
    """Write a certificate for *name* and its key."""
    made = authority.issue_cert(name)
    pair = Pair(cert=folder / f"{name}.pem", key=folder / f"{name}.key")
    made.cert_chain_pems[0].write_to_path(str(pair.cert))
    made.private_key_pem.write_to_path(str(pair.key))
    return pair


def listening(shell: Shell, server: Pair, *options: str) -> tuple[str, str]:
    """Have a memstore listen on TCP; return its port and a token for it."""
    files = ("--listen-cert", str(server.cert), "--listen-key", str(server.key))
    started = shell.run("start", "--listen", "localhost:0", *files, *options, "--json").json()
    made = shell.run("token", "create", "typescript", "--all-scopes", "--json").json()
    return started["memstore"]["listen"].rpartition(":")[2], made["secret"]


@pytest.fixture
def tls(shell: Shell, tmp_path: Path, models_dir: Path) -> Iterator[dict[str, str]]:
    """What the package's tests are told of two memstores that listen, one of them choosily."""
    authority, file = trustme.CA(), tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    server, caller = (sign(authority, each, tmp_path) for each in ("localhost", "a-client"))
    choosy = replace(shell, home=make_home(tmp_path / "choosy", models_dir))
    try:
        port, token = listening(shell, server)
        other, other_token = listening(choosy, server, "--listen-client-ca", str(file))
        yield {
            "target": f"tls://localhost:{port}",
            "misnamed": f"tls://127.0.0.1:{port}",
            "mutual": f"tls://localhost:{other}",
            "ca": str(file),
            "cert": str(caller.cert),
            "key": str(caller.key),
            "token": token,
            "mutualToken": other_token,
        }
    finally:
        stop(choosy)


def test_the_package_s_own_tests_pass_on_a_real_memstore_and_over_tls(
    package: Package, shell: Shell, models_dir: Path, tls: dict[str, str]
) -> None:
    environ = {**environment(shell, models_dir), "GRAFT_TEST_TLS": json.dumps(tls)}

    done = package.run("npm", "test", environ=environ)

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    counted = dict(re.findall(r"^\S+ (pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert int(counted["pass"]) > 40
    assert (counted["fail"], counted["skipped"]) == ("0", "0")


def test_the_sources_are_formatted(package: Package) -> None:
    done = package.run("npm", "run", "lint")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_saves_and_finds(package: Package, shell: Shell, models_dir: Path) -> None:
    assert shell.run("start").status == 0

    done = package.run("npm", "run", "example", environ=environment(shell, models_dir))

    assert done.returncode == 0, done.stdout + done.stderr
    told = [line for line in done.stdout.splitlines() if line and not line.startswith(">")]
    assert re.fullmatch(r"saved [0-9a-f]{8} to user", told[0])
    assert told[1].startswith("STRONG pip fails behind the proxy with a certificate error")
    assert told[2].startswith("NOTE_NOT_FOUND: ")


def test_the_readme_s_program_does_what_it_shows(
    package: Package, shell: Shell, models_dir: Path
) -> None:
    assert shell.run("start").status == 0
    (program,) = re.findall(
        r"^```ts\n(.*?)^```$",
        (ROOT / CLIENT / "README.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    written = package.directory / "examples/readme.ts"
    written.write_text(program, "utf-8")

    compiled = package.run("npx", "tsc", "--project", "tsconfig.test.json")
    written.unlink()  # what other tests look at holds the package's own files alone
    environ = environment(shell, models_dir)
    ran = package.run("node", "build/examples/readme.js", environ=environ)

    assert compiled.returncode == 0, compiled.stdout
    assert ran.stdout == "STRONG Set PIP_CERT to the company's CA bundle.\n", ran.stderr


def test_without_a_memstore_the_example_names_what_starts_one(
    package: Package, shell: Shell, models_dir: Path
) -> None:
    done = package.run("npm", "run", "example", environ=environment(shell, models_dir))

    assert "NOBODY_ANSWERED: no memstore answers in" in done.stdout
    assert "start it with: graft start" in done.stdout
    assert shell.daemons("memstore") == []


def test_the_package_holds_what_a_user_needs_and_nothing_else(package: Package) -> None:
    done = package.run("npm", "pack", "--dry-run", "--json", "--ignore-scripts")

    (packed,) = json.loads(done.stdout)
    files = {each["path"] for each in packed["files"]}
    assert files >= PACKED
    assert {name for name in files if not name.startswith("dist/")} == {
        name for name in PACKED if not name.startswith("dist/")
    }
    assert {Path(name).suffix for name in files if name.startswith("dist/")} == {".js", ".ts"}


def test_a_strict_program_of_another_package_compiles_and_runs(
    package: Package, shell: Shell, tmp_path: Path
) -> None:
    other = replace(package, directory=tmp_path / "other")
    other.directory.mkdir()
    packed = package.run("npm", "pack", "--ignore-scripts", "--pack-destination", str(tmp_path))
    (other.directory / "package.json").write_text('{"type": "module", "private": true}')
    (other.directory / "main.ts").write_text(
        'import { connect, GraftError, type Reason } from "@graft-memory/client";\n'
        'import { Hit } from "@graft-memory/client/protos";\n'
        "const graft = connect();\n"
        "const reason: Reason = await graft.recall.query({ text: 'x' }).then(\n"
        "  (answer) => Hit[answer.hit] as string,\n"
        "  (error: unknown) => (error instanceof GraftError ? error.reason : 'OTHER'),\n"
        ");\n"
        "console.log(reason);\n"
    )

    installed = other.run(
        "npm", "install", "--ignore-scripts", str(tmp_path / packed.stdout.split()[-1])
    )
    compiled = other.run(
        str(package.directory / "node_modules/.bin/tsc"),
        *("--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck", "main.ts"),
    )
    ran = other.run("node", "main.js", environ=shell.environment())

    assert installed.returncode == 0, installed.stderr
    assert compiled.returncode == 0, compiled.stdout
    assert ran.stdout == "NOBODY_ANSWERED\n", ran.stderr


def test_the_lock_file_names_no_registry() -> None:
    lock = (ROOT / CLIENT / "package-lock.json").read_text("utf-8")

    assert '"resolved"' not in lock
    assert "://" not in re.sub(r'"url": "[^"]*"', "", lock)
