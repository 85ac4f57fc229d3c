/** The engine's ports, to be implemented by adapters and proven by the exported suites. */
export * as AuditAnchor from "./AuditAnchor.ts"
export { Crypto } from "./Crypto.ts"
export { Ids } from "./Ids.ts"
export * as Ledger from "./Ledger.ts"
export * as ScreeningSource from "./ScreeningSource.ts"
export * as WebhookSender from "./WebhookSender.ts"
export * from "./storage/index.ts"
