/** The memory, one client for each of its services. */

import { createClient, type Client } from "@connectrpc/connect";
import {
  AnalyticsService,
  AuditService,
  BackupsService,
  DaemonService,
  LifecycleService,
  NotesService,
  ProfilesService,
  RecallService,
  ReviewService,
  ScopesService,
  SourcesService,
  TokensService,
  UpkeepService,
} from "./protos.js";
import { readSettings, type ConnectOptions } from "./settings.js";
import { GraftTransport } from "./transport.js";

/**
 * A memory that can be called. Calls are those of the protos (docs/protos.md); each fails with a
 * GraftError. A request without a profile or a request id gets them.
 */
export class Graft {
  readonly notes: Client<typeof NotesService>;
  readonly recall: Client<typeof RecallService>;
  readonly lifecycle: Client<typeof LifecycleService>;
  readonly scopes: Client<typeof ScopesService>;
  readonly sources: Client<typeof SourcesService>;
  readonly upkeep: Client<typeof UpkeepService>;
  readonly review: Client<typeof ReviewService>;
  readonly audit: Client<typeof AuditService>;
  readonly analytics: Client<typeof AnalyticsService>;
  readonly profiles: Client<typeof ProfilesService>;
  readonly backups: Client<typeof BackupsService>;
  readonly tokens: Client<typeof TokensService>;
  readonly daemon: Client<typeof DaemonService>;
  readonly #transport: GraftTransport;

  constructor(transport: GraftTransport) {
    this.#transport = transport;
    this.notes = createClient(NotesService, transport);
    this.recall = createClient(RecallService, transport);
    this.lifecycle = createClient(LifecycleService, transport);
    this.scopes = createClient(ScopesService, transport);
    this.sources = createClient(SourcesService, transport);
    this.upkeep = createClient(UpkeepService, transport);
    this.review = createClient(ReviewService, transport);
    this.audit = createClient(AuditService, transport);
    this.analytics = createClient(AnalyticsService, transport);
    this.profiles = createClient(ProfilesService, transport);
    this.backups = createClient(BackupsService, transport);
    this.tokens = createClient(TokensService, transport);
    this.daemon = createClient(DaemonService, transport);
  }

  /** Ends the connection. A program does not end while one is open. */
  close(): void {
    this.#transport.close();
  }
}

/**
 * Makes a client of the memory that the options name, by default that of GRAFT_HOME.
 *
 * Nothing is connected before the first call, and nothing is ever started.
 * Throws a GraftError (BAD_SETTING) where an option cannot be used.
 */
export function connect(options: ConnectOptions = {}): Graft {
  return new Graft(new GraftTransport(readSettings(options)));
}
