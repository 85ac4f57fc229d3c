/** The conformance suites for adapters, and the harness they need. */
export * from "./ledger.ts"
export * as FaultyChoices from "./faulty-choices.ts"
export * as FaultyLedger from "./faulty-ledger.ts"
export * as LedgerProbes from "./LedgerProbes.ts"
export * as ReserveLaws from "./ledger-laws/reserves.ts"
export * as SimulatedUnderTest from "./simulated-ledger.ts"
export * as TestDatabase from "../storage/embedded/TestDatabase.ts"
export { type CryptoCheck, cryptoChecks, cryptoSuite } from "./crypto.ts"
export {
  BrokenPromise,
  type Check,
  type Openings,
  type OpeningsCheck,
  type ReopenCheck
} from "./Check.ts"
export {
  type FurtherOpenings,
  openingsChecks,
  reopenChecks,
  storageChecks,
  storageSuite
} from "./storage.ts"
export * as FaultyStorage from "./faulty-storage.ts"
