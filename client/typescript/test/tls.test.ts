/** Over TLS, against the server that GRAFT_TEST_TLS describes; see tests/e2e/test_typescript_client.py. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, GraftError, type ConnectOptions } from "@graft-memory/client";

interface Server {
  /** Where it listens: by the name in its certificate, and by one that is not in it. */
  readonly target: string;
  readonly misnamed: string;
  /** Another one with that authority, which asks for a client's certificate. */
  readonly mutual: string;
  readonly mutualToken: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly token: string;
}

const told = process.env["GRAFT_TEST_TLS"];
const skip = told ? false : "GRAFT_TEST_TLS names no server";
const server = (told ? JSON.parse(told) : {}) as Server;

async function failure(options: ConnectOptions): Promise<GraftError> {
  const graft = connect({ environment: {}, timeoutMs: 10_000, ...options });
  try {
    await graft.daemon.getStatus({});
  } catch (error) {
    assert.ok(error instanceof GraftError, String(error));
    return error;
  } finally {
    graft.close();
  }
  return assert.fail("it was answered");
}

test("a note is saved and found with the authority and the token", { skip }, async () => {
  const graft = connect({
    environment: {
      GRAFT_TARGET: server.target,
      GRAFT_TLS_CA: server.ca,
      GRAFT_TOKEN: server.token,
    },
  });

  const saved = await graft.notes.insertNote({ note: { title: "saved over TLS", scope: "user" } });
  const found = await graft.notes.getNote({ id: saved.note!.id });
  const refused = await graft.notes.getNote({ id: "ffffffff" }).catch((error: unknown) => error);
  graft.close();

  assert.equal(found.note?.title, "saved over TLS");
  assert.ok(refused instanceof GraftError);
  assert.equal(refused.reason, "NOTE_NOT_FOUND");
});

test("a server whose authority is not known is not talked to", { skip }, async () => {
  const error = await failure({ target: server.target, token: server.token });

  assert.equal(error.reason, "NOT_TRUSTED");
  assert.match(error.message, /GRAFT_TLS_CA/);
});

test("a server that has another name than its certificate is not talked to", { skip }, async () => {
  const error = await failure({ target: server.misnamed, ca: server.ca, token: server.token });

  assert.equal(error.reason, "NOT_TRUSTED");
});

for (const token of ["", "graft_wrong"]) {
  test(`the token ${JSON.stringify(token)} is not taken, and not shown`, { skip }, async () => {
    const error = await failure({ target: server.target, ca: server.ca, token });

    assert.equal(error.reason, "NO_ACCESS");
    assert.ok(!token || !error.message.includes(token));
  });
}

test("a server that asks for a client's certificate takes it", { skip }, async () => {
  const graft = connect({
    environment: {
      GRAFT_TARGET: server.mutual,
      GRAFT_TOKEN: server.mutualToken,
      GRAFT_TLS_CA: server.ca,
      GRAFT_TLS_CERT: server.cert,
      GRAFT_TLS_KEY: server.key,
    },
  });

  const status = await graft.daemon.getStatus({});
  graft.close();

  assert.ok(status.pid > 0);
});

test("without the certificate that it asks for it answers nothing", { skip }, async () => {
  const error = await failure({ target: server.mutual, ca: server.ca, token: server.mutualToken });

  assert.equal(error.reason, "NOBODY_ANSWERED");
});
