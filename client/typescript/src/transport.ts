/** One caller's way to the memstore: found anew when it went away, with deadline and retries. */

import { randomUUID } from "node:crypto";
import * as net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { GraftError, toGraftError, wentAway, type Callee } from "./errors.js";
import { findSocket } from "./finding.js";
import { metadataOf } from "./metadata.js";
import type { Settings } from "./settings.js";

/** Largest message either way; the services keep to the same. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

const WENT_AWAY_RETRIES_MAX = 3;
const FIRST_PAUSE_MS = 50;

/** Calls whose comment does not say that repeating is safe. */
const NOT_REPEATABLE = new Set([
  "AddProfile",
  "CreateToken",
  "OpenReviewSession",
  "RevokeToken",
  "SetReviewer",
  "Stop",
]);

interface Link {
  readonly transport: Transport;
  readonly manager: Http2SessionManager;
  readonly callee: Callee;
}

type Shape<I extends DescMessage> = MessageInitShape<I>;

/** A transport whose every failure is a GraftError. */
export class GraftTransport implements Transport {
  readonly #settings: Settings;
  readonly #metadata: [string, string][];
  #link: Link | undefined;
  #closed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#metadata = metadataOf(settings);
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: Shape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const allowedMs = this.#allowedMs(timeoutMs);
    const deadline = performance.now() + allowedMs;
    const request = this.#complete(method.input, input);
    const retries = new Retries(!NOT_REPEATABLE.has(method.name));
    for (;;) {
      try {
        const leftMs = Math.max(Math.ceil(deadline - performance.now()), 1);
        return await this.#attempt(allowedMs, signal, (transport) =>
          transport.unary(method, signal, leftMs, this.#headers(header), request, contextValues),
        );
      } catch (error) {
        const waitMs =
          error instanceof GraftError
            ? retries.pauseMs(error, deadline - performance.now())
            : undefined;
        if (waitMs === undefined || this.#closed) {
          throw error;
        }
        // A caller's signal ends the pause; the next attempt then says that it was canceled.
        await pause(waitMs, undefined, signal === undefined ? {} : { signal }).catch(
          () => undefined,
        );
      }
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<Shape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const allowedMs = this.#allowedMs(timeoutMs);
    const requests = this.#completeAll(method.input, input);
    const response = await this.#attempt(allowedMs, signal, (transport) =>
      transport.stream(method, signal, allowedMs, this.#headers(header), requests, contextValues),
    );
    return { ...response, message: this.#explained(response.message, allowedMs, signal) };
  }

  /** Ends the connection, so that the program can end; calls that run fail. */
  close(): void {
    this.#closed = true;
    this.#leave();
  }

  async #attempt<T>(
    allowedMs: number,
    signal: AbortSignal | undefined,
    call: (transport: Transport) => Promise<T>,
  ): Promise<T> {
    const link = this.#open();
    try {
      return await call(link.transport);
    } catch (failure) {
      const error = toGraftError(failure, { callee: link.callee, allowedMs, signal });
      if (wentAway(error) && this.#link === link) {
        this.#leave();
      }
      throw error;
    }
  }

  async *#explained<T>(
    messages: AsyncIterable<T>,
    allowedMs: number,
    signal: AbortSignal | undefined,
  ): AsyncIterable<T> {
    const callee = this.#link?.callee ?? { name: "the memstore", remedy: "see graft status" };
    try {
      yield* messages;
    } catch (failure) {
      throw toGraftError(failure, { callee, allowedMs, signal });
    }
  }

  /** Every call has a deadline, in whole ms: for the library below 0 means none, 0.5 is sent as it is. */
  #allowedMs(timeoutMs: number | undefined): number {
    return Math.ceil(
      timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : this.#settings.timeoutMs,
    );
  }

  #open(): Link {
    if (this.#closed) {
      throw new GraftError("NOBODY_ANSWERED", "this client has been closed; connect anew");
    }
    this.#link ??= openLink(this.#settings);
    return this.#link;
  }

  #leave(): void {
    this.#link?.manager.abort();
    this.#link = undefined;
  }

  #headers(given: HeadersInit | undefined): Headers {
    const headers = new Headers(given);
    for (const [key, value] of this.#metadata) {
      if (!headers.has(key)) {
        headers.set(key, value);
      }
    }
    return headers;
  }

  /** Returns the request with the profile and a request id where it has room for them and none. */
  #complete<I extends DescMessage>(schema: I, input: Shape<I>): Shape<I> {
    const message = create(schema, input);
    const reflected = reflect(schema, message);
    const defaults = { request_id: randomUUID, profile: () => this.#settings.profile };
    for (const [name, make] of Object.entries(defaults)) {
      const field = schema.fields.find((each) => each.name === name);
      if (field?.fieldKind === "scalar" && reflected.get(field) === "") {
        reflected.set(field, make());
      }
    }
    return message as Shape<I>;
  }

  async *#completeAll<I extends DescMessage>(
    schema: I,
    inputs: AsyncIterable<Shape<I>>,
  ): AsyncIterable<Shape<I>> {
    for await (const each of inputs) {
      yield this.#complete(schema, each);
    }
  }
}

/** Decides for one call whether it is repeated, and after how long a pause. */
class Retries {
  readonly #repeatable: boolean;
  #wentAway = 0;

  constructor(repeatable: boolean) {
    this.#repeatable = repeatable;
  }

  /** Returns the pause before the next try; undefined where there is to be none. */
  pauseMs(error: GraftError, leftMs: number): number | undefined {
    let waitMs: number | undefined;
    if (!this.#repeatable) {
      return undefined;
    }
    if (error.reason === "BUSY") {
      // As often as the deadline allows; not all at the same time, or all but some are refused again.
      waitMs = (error.retryAfterMs || FIRST_PAUSE_MS) * (1 + Math.random());
    } else if (
      this.#wentAway < WENT_AWAY_RETRIES_MAX &&
      wentAway(error) &&
      error.cause !== undefined
    ) {
      // Without a cause there never was anybody, and trying again finds nobody either.
      waitMs = FIRST_PAUSE_MS * 2 ** this.#wentAway;
      this.#wentAway += 1;
    }
    return waitMs !== undefined && waitMs < leftMs ? waitMs : undefined;
  }
}

function openLink(settings: Settings): Link {
  const { target } = settings;
  const start = "start it with: graft start";
  switch (target.kind) {
    case "home":
    case "socket": {
      const path = target.kind === "home" ? findSocket(target.home) : target.path;
      // The authority is localhost: a socket's path is none that others' servers take.
      const remedy =
        target.kind === "home" ? start : "start the memstore there, or name another socket";
      return link(
        "http://localhost",
        { name: `the memstore at ${path}`, remedy },
        {
          createConnection: () => net.connect(path),
        },
      );
    }
    case "tls":
    case "tcp": {
      const host = target.host.includes(":") ? `[${target.host}]` : target.host;
      const name = `the memstore at ${target.kind}://${host}:${target.port}`;
      const scheme = target.kind === "tls" ? "https" : "http";
      const callee = {
        name,
        remedy: "see that it runs, can be reached, and takes this client's certificate",
      };
      return link(`${scheme}://${host}:${target.port}`, callee, { ...settings.certificates });
    }
  }
}

type SessionOptions = NonNullable<ConstructorParameters<typeof Http2SessionManager>[2]>;

function link(baseUrl: string, callee: Callee, options: SessionOptions): Link {
  const manager = new Http2SessionManager(baseUrl, undefined, options);
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: manager,
    readMaxBytes: MESSAGE_BYTES_MAX,
    writeMaxBytes: MESSAGE_BYTES_MAX,
  });
  return { transport, manager, callee };
}
