import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { connect, GraftError, VERSION, type ConnectOptions } from "@graft-memory/client";
import { encode } from "#dist/metadata.js";
import { parseTarget, readSettings } from "#dist/settings.js";

function refused(options: ConnectOptions): GraftError {
  try {
    connect({ environment: {}, ...options });
  } catch (error) {
    assert.ok(error instanceof GraftError, String(error));
    assert.equal(error.reason, "BAD_SETTING");
    return error;
  }
  return assert.fail("it was taken");
}

test("targets are read", () => {
  assert.deepEqual(parseTarget("unix:/run/graft.sock"), {
    kind: "socket",
    path: "/run/graft.sock",
  });
  assert.deepEqual(parseTarget("unix:///run/graft.sock"), {
    kind: "socket",
    path: "/run/graft.sock",
  });
  assert.deepEqual(parseTarget("tls://graft.example:7443"), {
    kind: "tls",
    host: "graft.example",
    port: 7443,
  });
  assert.deepEqual(parseTarget("tls://[fd00::1]:7443"), {
    kind: "tls",
    host: "fd00::1",
    port: 7443,
  });
  assert.deepEqual(parseTarget("tcp://[::1]:7443"), { kind: "tcp", host: "::1", port: 7443 });
  assert.deepEqual(parseTarget("tcp://127.0.0.2:1"), { kind: "tcp", host: "127.0.0.2", port: 1 });
});

for (const target of [
  "tcp://10.0.0.1:7443",
  "tcp://127.0.0.1.example:7443",
  "tcp://localhost.example:7443",
  "tcp://0.0.0.0:7443",
]) {
  test(`nothing goes unencrypted to ${target}`, () => {
    assert.match(refused({ target }).message, /unencrypted/);
  });
}

for (const target of [
  "graft.example:7443",
  "http://graft.example:7443",
  "tls://graft.example",
  "tls://graft.example:0",
  "tls://graft.example:70000",
  "tls://me@graft.example:7443",
  "tls://graft.example:7443/path",
  "unix:relative.sock",
  `unix:/${"x".repeat(107)}`,
]) {
  test(`${target.slice(0, 40)} is no target`, () => {
    refused({ target });
  });
}

test("options beat the environment, and a home that is named beats its target", () => {
  const environment = {
    GRAFT_TARGET: "unix:/a.sock",
    GRAFT_HOME: "/b",
    GRAFT_TIMEOUT: "5",
    GRAFT_SESSION: "s",
    GRAFT_PROFILE: "p",
  };

  assert.deepEqual(readSettings({ environment }).target, { kind: "socket", path: "/a.sock" });
  assert.deepEqual(readSettings({ environment, home: "/c" }).target, { kind: "home", home: "/c" });
  assert.deepEqual(readSettings({ environment: { GRAFT_HOME: "/b" } }).target, {
    kind: "home",
    home: "/b",
  });
  assert.equal(readSettings({ environment }).timeoutMs, 5000);
  assert.equal(readSettings({ environment, timeoutMs: 7 }).timeoutMs, 7);
  assert.equal(readSettings({ environment: {} }).timeoutMs, 30_000);
  assert.equal(readSettings({ environment }).session, "s");
  assert.equal(readSettings({ environment, session: "t" }).session, "t");
  assert.equal(readSettings({ environment }).profile, "p");
});

test("what cannot be meant is refused", () => {
  assert.match(refused({ timeoutMs: 0 }).message, /timeoutMs is 0/);
  assert.match(refused({ timeoutMs: Number.NaN }).message, /NaN/);
  assert.match(
    refused({ environment: { GRAFT_TIMEOUT: "soon" } }).message,
    /GRAFT_TIMEOUT is "soon"/,
  );
  assert.match(refused({ socket: "/a", target: "unix:/b" }).message, /both/);
  assert.match(refused({ target: "tls://h:1", cert: "/nowhere.pem" }).message, /needs its key/);
  assert.match(
    refused({ target: "tls://h:1", ca: "/nowhere.pem" }).message,
    /nowhere\.pem cannot be read/,
  );
});

test("a token that cannot be sent is refused without being shown", () => {
  const error = refused({ target: "tls://h:1", token: "sec\nret" });

  assert.doesNotMatch(error.message, /sec/);
});

test("metadata is ASCII of at most 256 bytes, and never ends inside a character's code", () => {
  assert.equal(encode("agent 7/测"), "agent%207%2F%E6%B5%8B");
  assert.equal(encode("\ud800x"), "%3Fx");
  for (let length = 250; length < 260; length += 1) {
    const encoded = encode(`${"a".repeat(length)} 测`);
    assert.ok(encoded.length <= 256);
    assert.doesNotMatch(encoded, /%[0-9A-F]?$/);
  }
});

test("the package's version is the one that it tells", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

  assert.equal(VERSION, version);
});

test("every file of the protos is exported", () => {
  const made = readdirSync("src/gen/graft/memory/v1").map((name) => name.replace(/\.ts$/, ".js"));
  const exported = readFileSync("src/protos.ts", "utf8");

  assert.ok(made.length >= 13);
  assert.deepEqual(
    made.filter((name) => !exported.includes(`/${name}"`)),
    [],
  );
});
