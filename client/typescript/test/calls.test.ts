import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, GraftError, type Graft } from "@graft-memory/client";
import { DeleteOutcome, Hit, Lifecycle } from "@graft-memory/client/protos";
import { Memstore } from "./memstore.js";

const EVERYWHERE = { all: true };
const TITLE = "pip fails behind the proxy with a certificate error";

let memstore: Memstore;
let graft: Graft;

before(() => {
  memstore = new Memstore();
  graft = connect({ home: memstore.home, session: "typescript 测试", agent: "tests" });
});

after(() => {
  graft.close();
  memstore.end();
});

async function refusal(call: Promise<unknown>): Promise<GraftError> {
  const error = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof GraftError, String(error));
  return error;
}

test("a note is saved and is the STRONG answer to its question", async () => {
  const saved = await graft.notes.insertNote({
    note: {
      title: TITLE,
      body: "Set PIP_CERT to the company's CA bundle.",
      keywords: ["pip"],
      scope: "user",
    },
    waitForPassages: true,
  });
  const answer = await graft.recall.query({
    scope: { scopes: ["user"] },
    text: "pip certificate verify failed behind a corporate proxy",
  });

  assert.equal(saved.note?.lifecycle, Lifecycle.ACTIVE);
  assert.equal(saved.note.pending, 0);
  assert.equal(answer.hit, Hit.STRONG);
  assert.equal(answer.note?.id, saved.note.id);
  assert.equal(answer.note.body, "Set PIP_CERT to the company's CA bundle.");
});

test("a request without an id gets one, and one with an id is made once", async () => {
  const requestId = "6f1f9a0e-5f0b-4a0e-9f43-1a2b3c4d5e6f";
  const note = { title: "made once", scope: "user" };

  const first = await graft.notes.insertNote({ requestId, note });
  const again = await graft.notes.insertNote({ requestId, note });
  const other = await graft.notes.insertNote({ note });
  const reused = await refusal(graft.notes.insertNote({ requestId, note: { title: "another" } }));

  assert.deepEqual(
    [first.note?.duplicate, again.note?.duplicate, other.note?.duplicate],
    [false, false, true],
  );
  assert.equal(again.note?.event, first.note?.event);
  assert.equal(reused.reason, "REQUEST_ID_REUSED");
});

test("what the caller passed in is not changed", async () => {
  const request = { note: { title: "left as it is", scope: "user" } };

  await graft.notes.insertNote(request);

  assert.deepEqual(request, { note: { title: "left as it is", scope: "user" } });
});

test("a refusal has its reason, its facts and the fields that cannot be taken", async () => {
  const unknown = await refusal(graft.notes.getNote({ id: "ffffffff" }));
  const malformed = await refusal(graft.notes.insertNote({ note: { title: "" } }));
  const { note } = await graft.notes.insertNote({
    note: { title: "to be retired twice", scope: "user" },
  });
  await graft.lifecycle.retireNote({ id: note!.id, reason: "test" });
  const twice = await refusal(graft.lifecycle.retireNote({ id: note!.id, reason: "test" }));

  assert.equal(unknown.reason, "NOTE_NOT_FOUND");
  assert.match(unknown.message, /ffffffff/);
  assert.equal(malformed.reason, "BAD_FIELD");
  assert.deepEqual(
    malformed.violations.map((each) => each.field),
    ["note.title"],
  );
  assert.equal(twice.reason, "WRONG_STATE");
  assert.equal(twice.details["lifecycle"], "retired");
});

test("every call tells door and session, and an agent's delete retires", async () => {
  const { note } = await graft.notes.insertNote({
    note: { title: "to be deleted", scope: "user" },
  });
  const deleted = await graft.notes.deleteNote({ id: note!.id, reason: "test" });
  const events = memstore.lines("log", "--note", note!.id);

  assert.equal(deleted.outcome, DeleteOutcome.RETIRED);
  assert.ok(events.length > 0);
  for (const event of events) {
    assert.equal(event["door"], "library");
    assert.equal(event["session"], "typescript 测试");
  }
});

test("more calls at once than the service takes are each answered", async () => {
  const titles = Array.from({ length: 60 }, (_, number) => `at once, number ${number}`);

  const saved = await Promise.all(
    titles.map((title) =>
      graft.notes.insertNote({ note: { title, scope: "at-once" } }, { timeoutMs: 200_000 }),
    ),
  );
  const listed = await graft.notes.listNotes({ scope: { scopes: ["at-once"] }, pageSize: 256 });

  assert.equal(new Set(saved.map((each) => each.note?.id)).size, 60);
  assert.deepEqual(listed.notes.map((each) => each.title).sort(), [...titles].sort());
});

test("a call that is answered piece by piece ends with its report", async () => {
  const reports = [];
  for await (const step of graft.upkeep.scanNotes({ scope: EVERYWHERE })) {
    reports.push(step.report);
  }

  assert.ok(reports.at(-1));
});

test("a call that is answered piece by piece fails with a reason, too", async () => {
  const steps = graft.upkeep.scanNotes({ scope: { scopes: [] } });

  const error = await refusal(
    Promise.resolve().then(async () => {
      for await (const _ of steps);
    }),
  );

  assert.equal(error.reason, "BAD_FIELD");
});

test("a profile that is named goes to every call that names none", async () => {
  await graft.profiles.addProfile({ name: "other" });
  const other = connect({ home: memstore.home, profile: "other" });

  await other.notes.insertNote({ note: { title: "only there", scope: "user" } });
  const there = await other.notes.getStats({ scope: EVERYWHERE });
  const here = await other.notes.listNotes({
    profile: "default",
    scope: EVERYWHERE,
    pageSize: 256,
  });
  other.close();

  assert.equal(there.notes, 1n);
  assert.ok(here.notes.length > 1);
});

test("a caller's signal ends the call", async () => {
  const error = await refusal(
    graft.recall.query({ scope: EVERYWHERE, text: "x" }, { signal: AbortSignal.abort() }),
  );

  assert.equal(error.reason, "CANCELED");
});

test("a memstore that was ended and started again is found by the same client", async () => {
  await graft.daemon.getStatus({});
  memstore.run("stop");
  const gone = await refusal(graft.daemon.getStatus({}));
  memstore.run("start");
  const back = await graft.daemon.getStatus({});

  assert.equal(gone.reason, "NOBODY_ANSWERED");
  assert.match(gone.message, /graft start/);
  assert.ok(back.pid > 0);
});

test("the socket may be named instead of the home", async () => {
  const { socket } = memstore.lines("status")[0]!["memstore"] as { socket: string };
  const bySocket = connect({ socket });
  const byTarget = connect({
    environment: { GRAFT_TARGET: `unix:${socket}`, GRAFT_HOME: "/nowhere" },
  });

  const pids = [await bySocket.daemon.getStatus({}), await byTarget.daemon.getStatus({})].map(
    (each) => each.pid,
  );
  bySocket.close();
  byTarget.close();

  assert.equal(pids[0], pids[1]);
});

test("a client that was closed says so", async () => {
  const closed = connect({ home: memstore.home });
  closed.close();

  assert.match((await refusal(closed.daemon.getStatus({}))).message, /has been closed/);
});

// The last one: its passages keep the model busy for a while.
test("a body of the largest size comes back as it went, and a larger one is refused", async () => {
  const body = "é".repeat(512 * 1024);

  const { note } = await graft.notes.insertNote({ note: { title: "large", body, scope: "user" } });
  const found = await graft.notes.getNote({ id: note!.id });
  const larger = await refusal(
    graft.notes.insertNote({ note: { title: "larger", body: `${body}x` } }),
  );

  assert.equal(found.note?.body, body);
  assert.equal(larger.reason, "BAD_FIELD");
});
