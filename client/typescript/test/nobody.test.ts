import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect, GraftError, type ConnectOptions } from "@graft-memory/client";

let home: string;

before(() => {
  home = mkdtempSync(join(tmpdir(), "graft-ts-"));
});

after(() => {
  rmSync(home, { recursive: true, force: true });
});

async function failure(options: ConnectOptions, timeoutMs?: number): Promise<GraftError> {
  const graft = connect({ environment: {}, ...options });
  try {
    await graft.daemon.getStatus({}, timeoutMs === undefined ? {} : { timeoutMs });
  } catch (error) {
    assert.ok(error instanceof GraftError, String(error));
    return error;
  } finally {
    graft.close();
  }
  return assert.fail("it was answered");
}

test("a home where nothing runs names the command that starts it", async () => {
  const error = await failure({ home });

  assert.equal(error.reason, "NOBODY_ANSWERED");
  assert.match(error.message, /graft start/);
  assert.ok(error.message.includes(home));
});

for (const [what, record] of [
  ["cut off", '{"socket": "/tm'],
  ["no object", '"/tmp/x.sock"'],
  ["another thing", '{"socket": 7}'],
]) {
  test(`a record that is ${what} counts as none`, async () => {
    writeFileSync(join(home, "memstore.json"), record!);

    const error = await failure({ home });

    assert.equal(error.reason, "NOBODY_ANSWERED");
    assert.match(error.message, /graft start/);
  });
}

test("a socket that a killed memstore left behind is told from one that answers", async () => {
  const left = join(home, "memstore.sock");
  writeFileSync(left, "");
  writeFileSync(join(home, "memstore.json"), JSON.stringify({ socket: left }));

  const error = await failure({ home });

  assert.equal(error.reason, "NOBODY_ANSWERED");
  assert.match(error.message, /does not answer; start it with: graft start/);
});

test("one that takes the call and never answers it is given up at the deadline", async () => {
  const path = join(home, "mute.sock");
  const taken: net.Socket[] = [];
  const server = net.createServer((socket) => taken.push(socket.resume()));
  await new Promise<void>((done) => server.listen(path, done));

  const error = await failure({ socket: path }, 300);
  taken.forEach((socket) => socket.destroy());
  server.close();

  assert.equal(error.reason, "DEADLINE");
  assert.match(error.message, /within 0.3 s/);
});

test("a port that nobody listens on says where that was", async () => {
  const server = net.createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((done) => server.close(done));

  const error = await failure({ target: `tcp://127.0.0.1:${port}` });

  assert.equal(error.reason, "NOBODY_ANSWERED");
  assert.ok(error.message.includes(`tcp://127.0.0.1:${port}`));
});
