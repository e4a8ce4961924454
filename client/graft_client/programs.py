"""The two services as programs: their names in a home, what they need, how to install that."""

from importlib.util import find_spec

from graft.wire.paths import Home

MEMSTORE = "memstore"
EMBEDDER_PREFIX = "embedder-"

MEMSTORE_MODULES = ("graft_memstore", "apsw", "sqlite_vec", "blake3", "numpy")
EMBEDDER_MODULES = ("graft_embedder", "llama_cpp", "blake3", "numpy")
MCP_MODULES = ("mcp", "anyio", "starlette", "uvicorn")
SETUP_MODULES = (*MCP_MODULES, "tomlkit")
INSTALL_LINE = "pip install 'graft-memory[all,starter]'"


def missing(modules: tuple[str, ...]) -> list[str]:
    """Name those of *modules* that are not installed; nothing is imported."""
    return [name for name in modules if find_spec(name) is None]


def embedder_services(home: Home) -> list[str]:
    """Name the embedders that have been started in *home*, running or not."""
    return sorted(
        path.stem for path in home.root.glob(f"{EMBEDDER_PREFIX}*.json") if path.is_file()
    )
