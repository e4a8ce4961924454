"""Build hook: compile every .proto under protos/ to typed Python beside it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def generate(protos: Path) -> None:
    """Write ``*_pb2.py``, ``*_pb2_grpc.py`` and their stubs beside each .proto under *protos*.

    Raises:
        subprocess.CalledProcessError: a .proto does not compile; protoc has told where.
    """
    sources = sorted(str(path.relative_to(protos)) for path in protos.rglob("*.proto"))
    # protoc finds its plugins on PATH; in an isolated build that is the interpreter's own folder.
    plugins = [
        f"--plugin=protoc-gen-{name}={Path(sys.executable).parent / f'protoc-gen-{name}'}"
        for name in ("mypy", "mypy_grpc")
        if (Path(sys.executable).parent / f"protoc-gen-{name}").exists()
    ]
    outputs = [f"--{kind}_out=." for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", *plugins, *outputs, *sources]
    subprocess.run(command, cwd=protos, check=True)  # noqa: S603 - arguments are our own files


class ProtoBuildHook(BuildHookInterface):  # type: ignore[misc] # hatchling ships no types
    """Generates before every build, the editable one included."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile the protos; hatchling calls this first."""
        generate(Path(self.root) / "protos")
