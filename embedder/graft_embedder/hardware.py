"""What the model may compute with: processors, by affinity and quota, and GPUs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

ALL_LAYERS = -1
"""llama.cpp's number for "every layer on the GPU"."""

DEVICE_TYPES_GPU = frozenset({1, 2})
"""ggml's numbers for a GPU and for one that shares the processor's memory."""


class Backend(Enum):
    """Kind of hardware that computes."""

    CPU = "cpu"
    CUDA = "cuda"
    ROCM = "rocm"
    OTHER_GPU = "other-gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device that ggml found: its name, such as "CUDA0", and ggml's number of its type."""

    name: str
    kind: int


def backend_of(devices: Sequence[Device]) -> Backend:
    """Return the kind of the first GPU among *devices*, CPU when there is none."""
    for device in devices:
        if device.kind in DEVICE_TYPES_GPU:
            name = device.name.upper()
            if name.startswith("CUDA"):
                return Backend.CUDA
            if name.startswith(("ROCM", "HIP")):
                return Backend.ROCM
            return Backend.OTHER_GPU
    return Backend.CPU


def gpu_layers(setting: str, backend: Backend) -> int:
    """Return how many layers go to the GPU; *setting* is a number or "auto"."""
    if backend is Backend.CPU:
        return 0
    return ALL_LAYERS if setting == "auto" else int(setting)


def usable_cpus(root: Path = Path("/")) -> int:
    """Return how many processors this process may use: affinity capped by the cgroup's quota.

    More threads than that make llama.cpp slower, since its threads wait for each other spinning.
    """
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:  # macOS
        count = os.cpu_count() or 1
    quota = cpu_quota(root)
    return count if quota is None else max(1, min(count, int(quota)))


def cpu_quota(root: Path) -> float | None:
    """Return the processors that cgroups (v1 and v2) grant, None without a limit.

    *root* is where /proc and /sys are looked for.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    quotas: list[float] = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        for folder in _folders(root, controllers, group):
            quota = _quota_v2(folder) if not controllers else _quota_v1(folder)
            if quota is not None:
                quotas.append(quota)
    return min(quotas, default=None)


def _folders(root: Path, controllers: str, group: str) -> list[Path]:
    """Return the folders of *group* and its parents; a limit on any of them holds."""
    if not controllers:
        base = root / "sys/fs/cgroup"
    elif "cpu" in controllers.split(","):
        base = root / "sys/fs/cgroup" / controllers
        if not base.is_dir():
            base = root / "sys/fs/cgroup/cpu"
    else:
        return []
    path = PurePosixPath(group.lstrip("/"))
    return [base / part for part in (path, *path.parents)]


def _quota_v2(folder: Path) -> float | None:
    limit, _, period = _read(folder / "cpu.max").partition(" ")
    return _ratio(limit, period)


def _quota_v1(folder: Path) -> float | None:
    return _ratio(_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us"))


def _ratio(limit: str, period: str) -> float | None:
    # "max" and -1 stand for no limit; both are no decimal number.
    if limit.isdecimal() and period.isdecimal() and int(limit) > 0 and int(period) > 0:
        return int(limit) / int(period)
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
