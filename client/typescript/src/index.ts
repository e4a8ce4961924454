/** Client of Graft, a local memory service for coding agents. */

export { connect, type Graft } from "./client.js";
export {
  GraftError,
  type FieldViolation,
  type OwnReason,
  type Reason,
  type RefusalReason,
} from "./errors.js";
export { VERSION } from "./metadata.js";
export type { ConnectOptions } from "./settings.js";
