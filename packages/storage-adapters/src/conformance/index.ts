/** The conformance suites for adapters, and the harness they need. */
export * from "./ledger.ts"
export * as FaultyLedger from "./faulty-ledger.ts"
export * as LedgerProbes from "./LedgerProbes.ts"
export * as SimulatedUnderTest from "./simulated-ledger.ts"
export * as TestDatabase from "../embedded/TestDatabase.ts"
export { Broken, type Check } from "./Check.ts"
export { storageChecks, storageSuite } from "./storage.ts"
export * as FaultyStorage from "./faulty-storage.ts"
