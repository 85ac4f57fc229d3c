/** Public interface of the engine: its declarations and services, for embedders and hosts. */
export * as Engine from "./Engine.ts"
export * as Gauges from "./feeds/GaugesRunner.ts"
export * as Metrics from "./engine/Metrics.ts"
export {
  type ConfiguredWebhook,
  type DailyAt,
  Settings,
  defaults as settingsDefaults,
  statementLinesLimit
} from "./engine/Settings.ts"
export * as Audit from "./records/Audit.ts"
export { AuditLog } from "./feeds/AuditLog.ts"
export * as AuditQueries from "./feeds/AuditQueries.ts"
export * as AuditRunner from "./feeds/AuditRunner.ts"
export * as AuditVerify from "./feeds/AuditVerify.ts"
export * as Checkpoint from "./feeds/Checkpoint.ts"
export * as EventQueries from "./feeds/EventQueries.ts"
export * as Signals from "./feeds/SignalRunner.ts"
export * as DeliveryRules from "./records/webhook/DeliveryRules.ts"
export * as Retention from "./engine/Retention.ts"
export * as Schedule from "./engine/Schedule.ts"
export { Screenings } from "./restraints/screening/RescreenRunner.ts"
export { replay } from "./feeds/webhook/ReplayRunner.ts"
export * as Catalogue from "./catalogue.ts"
export { verify } from "./catalogue.ts"
export type { Basis } from "./kernel/Basis.ts"
export * as Conditions from "./kernel/Conditions.ts"
export type { Collection, StoreColumns, WaitingOn } from "./kernel/Collection.ts"
export type { Envelope } from "./kernel/Envelope.ts"
export * as Machine from "./kernel/Machine.ts"
export * as Pin from "./kernel/Pin.ts"
export * as Refusal from "./kernel/Refusal.ts"
export * as ValueSet from "./vocabulary/ValueSet.ts"
export { Follower } from "./projection/Follower.ts"
export { FromLedgerIndex } from "./projection/FromLedgerIndex.ts"
export * as FromLedger from "./projection/FromLedger.ts"
export * as Csv from "./reads/Csv.ts"
export * as Export from "./reads/Export.ts"
export type { PointParams } from "./reads/Point.ts"
export * as Read from "./reads/Read.ts"
export type * as KeptAnswers from "./reads/KeptAnswers.ts"
export {
  type Around,
  type PageParams,
  Queries,
  type PrintedAnswer,
  type Whole
} from "./reads/Queries.ts"
export { reconciliationRun } from "./reconciliation/run/RunCall.ts"
export { RunRequest } from "./reconciliation/run/RunRequest.ts"
export { Reconciler, type StartRunCall, starters } from "./reconciliation/run/Reconciler.ts"
export { RunView } from "./reconciliation/run/RunView.ts"
export * as ConfiguredSource from "./engine/ConfiguredSource.ts"
export * as Intake from "./statements/external-statement/Intake.ts"
export { layer as recordsLayer } from "./records/layer.ts"
export { type Query, Records, type Stored } from "./records/Records.ts"
export * as Worker from "./records/Worker.ts"
export * as Workers from "./records/Workers.ts"
export * as Vocabulary from "./vocabulary/index.ts"
export * as CallRefusals from "./writes/CallRefusals.ts"
export * as Caller from "./writes/Caller.ts"
export { type Answer, type Call, FourEyes } from "./writes/FourEyes.ts"
export * as Operation from "./writes/Operation.ts"
export { fingerprintText } from "./writes/Idempotency.ts"
export { Operations } from "./writes/Operations.ts"
export * as Timely from "./records/Timely.ts"
export { ApprovalView, WriteAnswer } from "./writes/WriteAnswer.ts"
export * as Venue from "./venue/index.ts"
