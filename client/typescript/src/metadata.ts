/** What every call tells besides its request. */

import type { Settings } from "./settings.js";

/** Number of the protocol that this client speaks. */
export const PROTOCOL = 1;

/** Version of this package. */
export const VERSION = "0.1.0";

const VALUE_BYTES_MAX = 256;

/** Returns the metadata of a call. */
export function metadataOf(settings: Settings): [string, string][] {
  const pairs: [string, string][] = [
    ["graft-protocol", `${PROTOCOL};typescript-${VERSION}`],
    ["graft-door", "library"],
  ];
  if (settings.session) {
    pairs.push(["graft-session", encode(settings.session)]);
  }
  if (settings.agent) {
    pairs.push(["graft-agent", encode(settings.agent)]);
  }
  if (settings.token) {
    pairs.push(["authorization", `Bearer ${settings.token}`]);
  }
  return pairs;
}

/** Returns *value* percent-encoded, cut to what a value may have, never inside of %XX. */
export function encode(value: string): string {
  const encoded = encodeURIComponent(value.replace(/\p{Surrogate}/gu, "?"));
  return encoded.length <= VALUE_BYTES_MAX
    ? encoded
    : encoded.slice(0, VALUE_BYTES_MAX).replace(/%[0-9A-F]?$/, "");
}
