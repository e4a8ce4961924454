/** Everything of `graft.memory.v1`: services, messages, enums, and their schemas. */

export * from "./gen/graft/memory/v1/analytics_service_pb.js";
export * from "./gen/graft/memory/v1/audit_service_pb.js";
export * from "./gen/graft/memory/v1/backups_service_pb.js";
export * from "./gen/graft/memory/v1/daemon_service_pb.js";
export * from "./gen/graft/memory/v1/errors_pb.js";
export * from "./gen/graft/memory/v1/lifecycle_service_pb.js";
export * from "./gen/graft/memory/v1/note_pb.js";
export * from "./gen/graft/memory/v1/notes_service_pb.js";
export * from "./gen/graft/memory/v1/profiles_service_pb.js";
export * from "./gen/graft/memory/v1/recall_service_pb.js";
export * from "./gen/graft/memory/v1/review_service_pb.js";
export * from "./gen/graft/memory/v1/scopes_service_pb.js";
export * from "./gen/graft/memory/v1/sources_service_pb.js";
export * from "./gen/graft/memory/v1/tokens_service_pb.js";
export * from "./gen/graft/memory/v1/upkeep_service_pb.js";
