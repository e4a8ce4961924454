/** What a client goes by: its options, then the environment, then what is usual. */

import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { GraftError } from "./errors.js";

export interface ConnectOptions {
  /** Directory of the memory; else GRAFT_HOME, else ~/.graft. */
  readonly home?: string;
  /** Path of a memstore's socket, instead of the home's own. */
  readonly socket?: string;
  /**
   * Where a memstore listens, instead of the home's own: `unix:/path`, `tls://host:port`, or
   * `tcp://host:port` for a loopback address; else GRAFT_TARGET.
   */
  readonly target?: string;
  /** What proves who calls, for targets that ask for it; else GRAFT_TOKEN. */
  readonly token?: string;
  /** File of the authority that signed the server's certificate, PEM; else GRAFT_TLS_CA. */
  readonly ca?: string;
  /** File of the client's own certificate, PEM; else GRAFT_TLS_CERT. */
  readonly cert?: string;
  /** File of that certificate's key, PEM; else GRAFT_TLS_KEY. */
  readonly key?: string;
  /** Profile of calls that name none; else GRAFT_PROFILE, else "default". */
  readonly profile?: string;
  /** The agent's session, kept with what it changes; else GRAFT_SESSION. */
  readonly session?: string;
  /** What the agent calls itself. */
  readonly agent?: string;
  /** Milliseconds that a call may take, retries included; else GRAFT_TIMEOUT (seconds), else 30,000. */
  readonly timeoutMs?: number;
  /** The environment to read instead of the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A memstore of this machine whose socket is known. */
export interface SocketTarget {
  readonly kind: "socket";
  readonly path: string;
}

/** A memstore of this machine that is found by its home's record. */
export interface HomeTarget {
  readonly kind: "home";
  readonly home: string;
}

/** A memstore that listens on a port. */
export interface PortTarget {
  readonly kind: "tls" | "tcp";
  readonly host: string;
  readonly port: number;
}

export type Target = SocketTarget | HomeTarget | PortTarget;

/** Certificates, as the contents of their files. */
export interface Certificates {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface Settings {
  readonly target: Target;
  readonly certificates: Certificates;
  readonly token: string;
  readonly profile: string;
  readonly session: string;
  readonly agent: string;
  readonly timeoutMs: number;
}

const TIMEOUT_MS = 30_000;
const SOCKET_PATH_BYTES_MAX = 107;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Reads *options* and the environment. Throws a GraftError (BAD_SETTING). */
export function readSettings(options: ConnectOptions): Settings {
  const environment = options.environment ?? process.env;
  const target = readTarget(options, environment);
  return {
    target,
    certificates: target.kind === "tls" ? readCertificates(options, environment) : {},
    token: checkToken(options.token ?? environment["GRAFT_TOKEN"] ?? ""),
    profile: options.profile ?? environment["GRAFT_PROFILE"] ?? "",
    session: options.session ?? environment["GRAFT_SESSION"] ?? "",
    agent: options.agent ?? "",
    timeoutMs: readTimeout(options.timeoutMs, environment["GRAFT_TIMEOUT"]),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

function readTarget(options: ConnectOptions, environment: Environment): Target {
  if (options.socket !== undefined && options.target !== undefined) {
    throw bad("both socket and target are given; give one of them");
  }
  if (options.socket !== undefined) {
    return socketTarget(resolve(options.socket));
  }
  // A home that the program names itself is meant, whatever target the environment has.
  const target = options.target ?? (options.home === undefined ? environment["GRAFT_TARGET"] : "");
  if (target) {
    return parseTarget(target);
  }
  const home = options.home || environment["GRAFT_HOME"] || join(homedir(), ".graft");
  return { kind: "home", home: realPath(expandUser(home)) };
}

/** Reads `unix:PATH`, `tls://HOST:PORT` or `tcp://HOST:PORT`. Throws a GraftError (BAD_SETTING). */
export function parseTarget(target: string): Target {
  if (target.startsWith("unix:")) {
    return socketTarget(target.slice("unix:".length).replace(/^\/\/(?=\/)/, ""));
  }
  const found = /^(tls|tcp):\/\/(\[[0-9A-Fa-f:.]+\]|[^/:@\s[\]]+):(\d{1,5})$/.exec(target);
  const port = Number(found?.[3]);
  if (found === null || port < 1 || port > 65_535) {
    throw bad(
      `target ${JSON.stringify(target)} is no unix:/path, tls://host:port or tcp://host:port`,
    );
  }
  const kind = found[1] as "tls" | "tcp";
  const host = found[2]!.replace(/^\[|\]$/g, "");
  if (kind === "tcp" && !LOOPBACK.test(host)) {
    throw bad(
      `target ${target} would send notes and the token unencrypted to another machine;` +
        ` use tls://${found[2]}:${port}`,
    );
  }
  return { kind, host, port };
}

function socketTarget(path: string): SocketTarget {
  if (!path.startsWith("/") || Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    throw bad(
      `${JSON.stringify(path)} is no socket's path: it must be absolute and have at most` +
        ` ${SOCKET_PATH_BYTES_MAX} bytes`,
    );
  }
  return { kind: "socket", path };
}

function readCertificates(options: ConnectOptions, environment: Environment): Certificates {
  const ca = options.ca ?? environment["GRAFT_TLS_CA"];
  const cert = options.cert ?? environment["GRAFT_TLS_CERT"];
  const key = options.key ?? environment["GRAFT_TLS_KEY"];
  if (Boolean(cert) !== Boolean(key)) {
    throw bad(
      "a client's certificate needs its key: give both cert (GRAFT_TLS_CERT) and key (GRAFT_TLS_KEY)",
    );
  }
  return {
    ...(ca ? { ca: readFile("ca", ca) } : {}),
    ...(cert ? { cert: readFile("cert", cert) } : {}),
    ...(key ? { key: readFile("key", key) } : {}),
  };
}

function readFile(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new GraftError("BAD_SETTING", `${name} ${path} cannot be read; give a PEM file`, {
      cause: error,
    });
  }
}

function checkToken(token: string): string {
  const trimmed = token.trim();
  if (/[^\x21-\x7e]/.test(trimmed)) {
    // Not shown: it is a secret.
    throw bad("the token (GRAFT_TOKEN) has a character that no token has; copy it again");
  }
  return trimmed;
}

function readTimeout(option: number | undefined, variable: string | undefined): number {
  const timeoutMs = option ?? (variable ? Number(variable) * 1000 : TIMEOUT_MS);
  if (!(timeoutMs > 0 && timeoutMs <= 86_400_000)) {
    throw bad(
      option !== undefined
        ? `timeoutMs is ${option}; give a number above 0, at most 86,400,000`
        : `GRAFT_TIMEOUT is ${JSON.stringify(variable)}; give seconds above 0, at most 86,400`,
    );
  }
  return timeoutMs;
}

function expandUser(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(path);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is not there yet, which whoever looks for the memstore in it will say
  }
}

function bad(message: string): GraftError {
  return new GraftError("BAD_SETTING", message);
}
