/** What can go wrong, as one error with a reason for programs. */

import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "./gen/google/rpc/error_details_pb.js";
import type { ErrorReason } from "./gen/graft/memory/v1/errors_pb.js";

/** Why the service refused: the names of `graft.memory.v1.ErrorReason`. */
export type RefusalReason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/**
 * Why a call failed that no service refused:
 *
 * - `BAD_SETTING`: an option or a variable has a value that cannot be used;
 * - `NOBODY_ANSWERED`: no service answers;
 * - `DEADLINE`: it did not answer in time; a change may or may not have been made;
 * - `CANCELED`: the caller's own signal ended the call;
 * - `UNAUTHENTICATED`: the token, or the client's certificate, is not taken;
 * - `NOT_TRUSTED`: the server's certificate does not prove that it is the one that was asked for;
 * - `WRONG_BUILD`: the service is of another version and does not know the call;
 * - `TOO_LARGE`: the request or its answer is larger than a message may be;
 * - `INTERNAL`: the service failed in a way that it does not explain; its log has the rest.
 */
export type OwnReason =
  | "BAD_SETTING"
  | "NOBODY_ANSWERED"
  | "DEADLINE"
  | "CANCELED"
  | "UNAUTHENTICATED"
  | "NOT_TRUSTED"
  | "WRONG_BUILD"
  | "TOO_LARGE"
  | "INTERNAL";

/** A newer service may give reasons that this version has no name for. */
export type Reason = RefusalReason | OwnReason | (string & {});

/** A field that cannot be taken, and why. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What else is known of a failure. */
export interface Facts {
  /** Facts for programs, such as "state" and "note_id"; see docs/protos.md. */
  readonly details?: Readonly<Record<string, string>>;
  /** Fields that cannot be taken. */
  readonly violations?: readonly FieldViolation[];
  /** When to try again, in milliseconds; undefined where nobody said. */
  readonly retryAfterMs?: number | undefined;
  /** The error of the connection. */
  readonly cause?: unknown;
}

/** Something that was asked of Graft could not be done; the message says what to do next. */
export class GraftError extends Error {
  override readonly name = "GraftError";
  readonly reason: Reason;
  readonly details: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;

  constructor(reason: Reason, message: string, facts: Facts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = reason;
    this.details = facts.details ?? {};
    this.violations = facts.violations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Who was called, for messages. */
export interface Callee {
  /** The service and where it is, such as "the memstore at /home/me/.graft/run/memstore.sock". */
  readonly name: string;
  /** What to do where nothing answers, such as "start it with: graft start". */
  readonly remedy: string;
}

/** Tells whether nobody answers any more: the service has stopped, or is stopping. */
export function wentAway(error: GraftError): boolean {
  return error.reason === "NOBODY_ANSWERED" || error.reason === "STOPPING";
}

/** A call that failed. */
export interface FailedCall {
  readonly callee: Callee;
  /** How long it was given. */
  readonly allowedMs: number;
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined;
}

/** Says what *failure*, thrown by a transport, means; what is a GraftError already stays one. */
export function toGraftError(failure: unknown, call: FailedCall): GraftError {
  if (failure instanceof GraftError) {
    return failure;
  }
  const error = ConnectError.from(failure);
  const info = error.findDetails(ErrorInfoSchema)[0];
  if (info !== undefined) {
    const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
    return new GraftError(info.reason, error.rawMessage, {
      details: { ...info.metadata },
      violations: error
        .findDetails(BadRequestSchema)
        .flatMap((each) => each.fieldViolations)
        .map(({ field, description }) => ({ field, description })),
      retryAfterMs:
        delay === undefined ? undefined : Number(delay.seconds) * 1000 + delay.nanos / 1_000_000,
      cause: error,
    });
  }
  const [reason, message] = ownWords(error, call);
  return new GraftError(reason, message, { cause: error });
}

function ownWords(
  error: ConnectError,
  { callee, allowedMs, signal }: FailedCall,
): [OwnReason, string] {
  const code = causeCode(error);
  if (CERTIFICATE_CODES.test(code)) {
    return [
      "NOT_TRUSTED",
      `${callee.name} shows a certificate that cannot be trusted (${code}); give the file of its` +
        " authority as ca (GRAFT_TLS_CA), and see that the name is the one in the certificate",
    ];
  }
  // A stream that the caller did not cancel was canceled by the end of its connection.
  const broken = error.code === Code.Canceled && !signal?.aborted;
  if (broken || error.code === Code.Unavailable || CONNECTION_CODES.has(code)) {
    return ["NOBODY_ANSWERED", `${callee.name} does not answer; ${callee.remedy}`];
  }
  switch (error.code) {
    case Code.DeadlineExceeded:
      return [
        "DEADLINE",
        `${callee.name} did not answer within ${allowedMs / 1000} s; run graft status, or give it more with timeoutMs`,
      ];
    case Code.Canceled:
      return ["CANCELED", `the call to ${callee.name} was canceled`];
    case Code.Unauthenticated:
    case Code.PermissionDenied:
      return [
        "UNAUTHENTICATED",
        `${callee.name} takes neither token nor certificate of this client; see graft token list there`,
      ];
    case Code.Unimplemented:
      return [
        "WRONG_BUILD",
        `${callee.name} is of another version and does not know this call; bring both to one version`,
      ];
    case Code.ResourceExhausted:
      return [
        "TOO_LARGE",
        "the request or its answer is larger than a message may be; ask for less at once",
      ];
    default:
      return [
        "INTERNAL",
        `${callee.name} failed inside (${Code[error.code]}); what happened is in its log`,
      ];
  }
}

/** What OpenSSL and Node say of certificates that they do not trust. */
const CERTIFICATE_CODES = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** What a socket says that nobody listens to, or that went away. */
const CONNECTION_CODES = new Set([
  "EACCES",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_INVALID_SESSION",
  "ERR_HTTP2_SESSION_ERROR",
  "ETIMEDOUT",
]);

/** Returns the system's code of the error at the bottom; empty for none. */
function causeCode(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if ("code" in each && typeof each.code === "string") {
      return each.code;
    }
  }
  return "";
}
