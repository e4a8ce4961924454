/** Where the memstore of a home listens, by the record that it keeps there. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { GraftError } from "./errors.js";

/**
 * Returns the socket of the memstore of *home*; starts nothing.
 *
 * Throws a GraftError: NOBODY_ANSWERED where there is none, or where the socket is another user's.
 */
export function findSocket(home: string): string {
  const path = readRecord(home);
  if (path === undefined) {
    throw nobody(home);
  }
  let owner: number;
  try {
    owner = statSync(path).uid;
  } catch (error) {
    throw nobody(home, error); // it was stopped, and left its record
  }
  const mine = process.getuid?.();
  // Node cannot ask a socket who listens, so the file's owner is looked at, and its directory is
  // closed to others.
  if (mine !== undefined && owner !== mine && owner !== 0) {
    throw new GraftError(
      "NOBODY_ANSWERED",
      `${path} belongs to user ${owner}, not to you; move it away`,
    );
  }
  return path;
}

function readRecord(home: string): string | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(join(home, "memstore.json"), "utf8"));
    const found =
      typeof record === "object" && record !== null && "socket" in record
        ? record.socket
        : undefined;
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined; // none, or one that cannot be read, which the next start writes anew
  }
}

function nobody(home: string, cause?: unknown): GraftError {
  return new GraftError(
    "NOBODY_ANSWERED",
    `no memstore answers in ${home}; start it with: graft start`,
    { cause },
  );
}
