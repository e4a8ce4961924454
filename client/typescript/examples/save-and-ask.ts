/** Saves a note, asks for it, and shows how a refusal is told. */

import { connect, GraftError } from "@graft-memory/client";
import { Hit } from "@graft-memory/client/protos";

const graft = connect({ session: "save-and-ask" });
try {
  const saved = await graft.notes.insertNote({
    note: {
      title: "pip fails behind the proxy with a certificate error",
      body: "Set PIP_CERT to the company's CA bundle.",
      keywords: ["pip"],
      scope: "user",
    },
  });
  console.log(`saved ${saved.note?.id.slice(-8)} to ${saved.note?.scope}`);

  const answer = await graft.recall.query({
    scope: { scopes: ["user"] },
    text: "pip certificate verify failed behind a corporate proxy",
  });
  console.log(Hit[answer.hit], answer.note?.title, answer.note?.body);

  await graft.notes.getNote({ id: "ffffffff" });
} catch (error) {
  if (!(error instanceof GraftError)) throw error;
  console.log(`${error.reason}: ${error.message}`);
} finally {
  graft.close();
}
