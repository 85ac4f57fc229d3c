/** Index of the engine's ports: adapters implement them, and the exported suites test the adapters. */
export * as AuditAnchor from "./AuditAnchor.ts"
export { Crypto } from "./Crypto.ts"
export { Ids } from "./Ids.ts"
export * as Ledger from "./Ledger.ts"
export * as ScreeningSource from "./ScreeningSource.ts"
export * as StatementSource from "./StatementSource.ts"
export * as WebhookSender from "./WebhookSender.ts"
export * from "./storage/index.ts"
