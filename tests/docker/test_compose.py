"""What docs/docker.md says of the containers, in a real engine."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.docker.conftest import (
    LONG_RUNNING,
    Stack,
    over_tcp,
    services_user,
)
from tests.e2e.test_from_outside import write_pair
from tests.e2e.test_typescript_client import build_package

MEMSTORE_LAYERS_MB = 170
BASE = "python:3.13.9-slim-trixie"
TITLE = "The proxy wants PIP_CERT"
WRITER = Path(__file__).with_name("writer.py")
ANNOUNCED = 8


def saved_titles(stack: Stack) -> set[str]:
    listed = stack.on_host("list", "--json", "--all-scopes", "--limit", "0")
    return {str(each["title"]) for each in listed.lines()}


def test_a_note_saved_through_a_container_is_found_through_it_and_by_the_host(
    running: Stack,
) -> None:
    saved = running.cli("insert", "--title", TITLE, "--body", "Set it.", "--wait")

    inside = running.cli("query", "does the proxy want PIP_CERT?")
    outside = running.on_host("query", "--json", "does the proxy want PIP_CERT?")

    assert (inside["hit"], inside["note"]["id"]) == ("STRONG", saved["id"])
    assert outside.json()["note"]["id"] == saved["id"]


@pytest.mark.parametrize("service", LONG_RUNNING)
def test_a_service_has_no_rights_that_it_does_not_need(running: Stack, service: str) -> None:
    found = running.inspect(service)
    host, config = found["HostConfig"], found["Config"]
    user = f"{services_user()}:{services_user()}"
    told = running.docker("top", found["Id"], "-eo", "pid,uid,args").out.splitlines()[1:]

    assert (config["User"], host["ReadonlyRootfs"], host["Init"]) == (user, True, True)
    assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], None, False)
    assert (host["NetworkMode"], host["SecurityOpt"]) == ("none", ["no-new-privileges:true"])
    assert {line.split()[1] for line in told} == {str(services_user())}
    assert found["State"]["Health"]["Status"] == "healthy"
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"
    for compiler in ("gcc", "g++", "cc", "c++"):
        asked = running.docker("exec", found["Id"], "sh", "-c", f"command -v {compiler}")
        assert asked.status != 0, compiler
    written = running.docker("exec", found["Id"], "sh", "-c", "touch /opt/graft/x")
    assert "Read-only file system" in written.err


def test_the_memstore_s_image_is_small(running: Stack) -> None:
    def size_mb(image: str) -> float:
        (found,) = json.loads(running.docker("image", "inspect", image).out)
        return int(found["Size"]) / 1e6

    base = size_mb(BASE)
    layers = {each: size_mb(running.inspect(each)["Image"]) - base for each in LONG_RUNNING}

    assert 0 < layers["memstore"] <= MEMSTORE_LAYERS_MB, layers


def test_logs_are_json_lines(running: Stack) -> None:
    for service in ("model", *LONG_RUNNING):
        container = running.inspect(service)["Id"]
        logged = running.docker("logs", container)
        lines = [json.loads(line) for line in (logged.out + logged.err).splitlines()]
        assert lines, service
        assert all(each["event"] for each in lines), service


def test_what_is_kept_outlives_the_containers(running: Stack) -> None:
    title = "The mirror is synced at four"
    running.cli("insert", "--title", title)
    before = running.inspect("memstore")["Id"]

    running.compose("down")
    running.up()

    assert running.inspect("memstore")["Id"] != before
    assert title in saved_titles(running)
    downloaded = running.docker("logs", running.inspect("model")["Id"])
    assert "getting the model" not in downloaded.out + downloaded.err


def test_sigterm_ends_each_service_in_time(running: Stack) -> None:
    running.cli("insert", "--title", "saved just before the end")

    running.compose("stop")

    for service in LONG_RUNNING:
        state = running.inspect(service)["State"]
        assert (state["ExitCode"], state["OOMKilled"], state["Running"]) == (0, False, False)
    running.compose("start")
    for service in LONG_RUNNING:
        running.wait_healthy(service)
    assert "saved just before the end" in saved_titles(running)


@pytest.mark.parametrize("service", LONG_RUNNING)
def test_nothing_acknowledged_is_lost_when_a_container_is_killed(
    running: Stack, service: str
) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()
    with start_writer(running, f"while {service} is killed") as process:
        reader = threading.Thread(target=read_lines, args=(process, acknowledged, enough))
        reader.start()
        try:
            for _ in range(2):
                assert enough.wait(120), acknowledged
                before = running.inspect(service)["State"]
                os.kill(before["Pid"], signal.SIGKILL)
                running.wait_healthy(service)
                assert running.inspect(service)["State"]["Pid"] != before["Pid"]
                enough.clear()
            assert enough.wait(120), acknowledged
        finally:
            process.terminate()
            reader.join(60)

    kept = saved_titles(running)
    assert len(acknowledged) > 2 * ANNOUNCED
    assert [title for title in acknowledged if title not in kept] == []
    assert running.inspect(service)["RestartCount"] >= 1
    checked = running.on_host("log", "--verify", "--json")
    assert checked.status == 0, checked.err


def start_writer(stack: Stack, title: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(WRITER), title],
        cwd=stack.folder,
        env=stack.host_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )


def read_lines(
    process: "subprocess.Popen[str]", acknowledged: list[str], enough: threading.Event
) -> None:
    assert process.stdout is not None
    fresh = 0
    for line in process.stdout:
        acknowledged.append(line.rstrip("\n"))
        fresh = 0 if enough.is_set() else fresh + 1
        if fresh >= ANNOUNCED:
            enough.set()


def test_a_newer_image_finds_the_notes_of_the_older_one(running: Stack) -> None:
    title = "saved by the older image"
    running.cli("insert", "--title", title)
    older = running.inspect("memstore")["Image"]
    newer = Stack(folder=running.folder, environ={"GRAFT_VERSION": "newer"})
    for service, tag in (("memstore", "newer"), ("embedder", "newer-cpu")):
        built = newer.docker(
            *("build", "--tag", f"graft-{service}:{tag}", "-"),
            text=f"FROM {running.inspect(service)['Config']['Image']}\nLABEL newer=yes\n",
        )
        assert built.status == 0, built.err

    newer.up()

    assert newer.inspect("memstore")["Image"] != older
    assert title in saved_titles(newer)
    running.up()
    assert title in saved_titles(running)


def test_files_of_another_user_are_told_and_nothing_starts(running: Stack) -> None:
    other = Stack(folder=running.folder, environ={"GRAFT_UID": "4711", "GRAFT_GID": "4711"})

    refused = other.docker("compose", "up", "--detach", "--wait")
    told = other.docker("logs", other.inspect("prepare")["Id"])

    assert refused.status != 0
    assert "belongs to" in told.out + told.err
    running.up()


def test_callers_from_outside_come_over_tls_with_a_token(running: Stack) -> None:
    authority = trustme.CA()
    folder = running.folder / "tls"
    folder.mkdir()
    write_pair(folder, authority)
    (running.folder / "ca.pem").write_bytes(authority.cert_pem.bytes())
    for path in (folder, *folder.iterdir(), running.folder / "ca.pem"):
        os.chown(path, services_user(), services_user())
    title = "found over TLS"
    running.cli("insert", "--title", title)
    listening = over_tcp(running, folder, "127.0.0.1:0")
    try:
        listening.up()
        port = listening.compose("port", "memstore", "7433").strip().rpartition(":")[2]
        token = listening.cli("token", "create", "laptop", "--all-scopes")["secret"]
        reach = {
            "GRAFT_TARGET": f"tls://127.0.0.1:{port}",
            "GRAFT_TLS_CA": str(running.folder / "ca.pem"),
        }

        allowed = listening.on_host("list", "--json", "--all-scopes", **reach, GRAFT_TOKEN=token)
        refused = listening.on_host("list", "--json", **reach, GRAFT_TOKEN=token[:-1])
        networks = {
            each: listening.inspect(each)["HostConfig"]["NetworkMode"] for each in LONG_RUNNING
        }
    finally:
        running.up()

    assert title in {each["title"] for each in allowed.lines()}
    assert (refused.status, json.loads(refused.err)["reason"]) == (1, "NO_ACCESS")
    assert networks == {"embedder": "none", "memstore": "bridge"}


@pytest.mark.parametrize(
    ("accelerator", "flag"), [("cuda", "-DGGML_CUDA=ON"), ("rocm", "-DGGML_HIP=ON")]
)
def test_a_gpu_s_build_chooses_llama_s_flags_for_it(
    running: Stack, accelerator: str, flag: str
) -> None:
    # The tools' stage on the base that is here: the vendor's takes gigabytes.
    name = {"cuda": "CUDA_BUILD_IMAGE", "rocm": "ROCM_IMAGE"}[accelerator]
    image = f"graft-test-tools:{accelerator}"
    built = running.docker(
        *("build", "--file", "embedder/Dockerfile", "--target", "tools", "--tag", image),
        *("--build-arg", f"ACCELERATOR={accelerator}"),
        *("--build-arg", f"{name}={BASE}", "."),
    )
    assert built.status == 0, built.err[-2_000:]

    (found,) = json.loads(running.docker("image", "inspect", image).out)

    flags = dict(each.partition("=")[::2] for each in found["Config"]["Env"])["CMAKE_ARGS"]
    assert flag in flags.split()
    assert "-DGGML_NATIVE=OFF" in flags.split()


def configured(stack: Stack, profile: str) -> dict[str, Any]:
    chosen = Stack(folder=stack.folder, environ={"COMPOSE_PROFILES": profile})
    services = json.loads(chosen.compose("config", "--format", "json"))["services"]
    assert isinstance(services, dict)
    return services


def test_a_profile_chooses_the_image_and_the_device(stack: Stack) -> None:
    cuda, rocm, cpu = (configured(stack, each) for each in ("cuda", "rocm", "cpu"))

    assert set(cuda) - set(cpu) == {"embedder-cuda", "model-cuda"}
    assert set(rocm) - set(cpu) == {"embedder-rocm", "model-rocm"}
    embedder = cuda["embedder-cuda"]
    (device,) = embedder["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["count"], device["capabilities"]) == ("nvidia", 1, ["gpu"])
    assert embedder["build"]["args"]["ACCELERATOR"] == "cuda"
    assert rocm["embedder-rocm"]["devices"]
    assert rocm["embedder-rocm"]["build"]["args"]["ACCELERATOR"] == "rocm"


def test_the_typescript_client_saves_and_finds_through_the_container(
    running: Stack, tmp_path: Path
) -> None:
    package = build_package(tmp_path)

    done = package.run("npm", "run", "example", environ=running.host_environment())

    assert done.returncode == 0, done.stdout + done.stderr
    assert "STRONG pip fails behind the proxy with a certificate error" in done.stdout
    assert "pip fails behind the proxy with a certificate error" in saved_titles(running)
