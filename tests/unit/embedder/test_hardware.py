"""Processors by affinity and quota; GPUs by ggml's names."""

import os
from pathlib import Path

import pytest

from graft_embedder.hardware import (
    ALL_LAYERS,
    Backend,
    Device,
    backend_of,
    cpu_quota,
    gpu_layers,
    usable_cpus,
)


def write(root: Path, files: dict[str, str]) -> Path:
    """Write *files* under *root*."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_no_cgroup_is_no_limit(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path) is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            },
            1.5,
            id="v2, the parent limits",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"},
            4.0,
            id="v2, inside a container",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"},
            None,
            id="v2, no limit",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/docker/x\n2:memory:/docker/x\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            2.0,
            id="v1, inside a container",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "3:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
            id="v1, no limit",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense\n"},
            None,
            id="not to be read",
        ),
    ],
)
def test_the_quota_is_read_from_the_group_and_its_parents(
    tmp_path: Path, files: dict[str, str], expected: float | None
) -> None:
    assert cpu_quota(write(tmp_path, files)) == expected


def test_threads_never_exceed_the_quota_and_are_never_none(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}
    )

    assert usable_cpus(root) == 1


def test_without_a_quota_all_processors_of_the_process_are_used(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None

    assert usable_cpus(tmp_path) == (len(allowed) if allowed else os.cpu_count())


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ([], Backend.CPU),
        ([Device(name="CPU", kind=0)], Backend.CPU),
        ([Device(name="BLAS", kind=3), Device(name="CPU", kind=0)], Backend.CPU),
        ([Device(name="CUDA0", kind=1), Device(name="CPU", kind=0)], Backend.CUDA),
        ([Device(name="ROCm0", kind=1)], Backend.ROCM),
        ([Device(name="Vulkan0", kind=2)], Backend.OTHER_GPU),
        ([Device(name="Metal", kind=1)], Backend.OTHER_GPU),
    ],
)
def test_the_backend_is_that_of_the_first_gpu(devices: list[Device], expected: Backend) -> None:
    assert backend_of(devices) is expected


@pytest.mark.parametrize(
    ("setting", "backend", "expected"),
    [
        ("auto", Backend.CPU, 0),
        ("auto", Backend.CUDA, ALL_LAYERS),
        ("12", Backend.ROCM, 12),
        ("0", Backend.CUDA, 0),
        ("12", Backend.CPU, 0),
    ],
)
def test_layers_go_to_the_gpu_where_there_is_one(
    setting: str, backend: Backend, expected: int
) -> None:
    assert gpu_layers(setting, backend) == expected
