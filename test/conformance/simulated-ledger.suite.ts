/** The simulated ledger keeps the laws of the port, in memory and on a database. */
import { ledgerSuite } from "@bursar/storage-adapters/conformance"
import { afterAll, beforeAll } from "vitest"
import * as InMemory from "./simulated-ledger.memory.ts"
import * as OnPostgres from "./simulated-ledger.postgres.ts"

beforeAll(() => OnPostgres.database.context(), 120_000)
afterAll(() => OnPostgres.database.dispose())

ledgerSuite("the simulated ledger in memory", InMemory.memory, InMemory.supports)
ledgerSuite("the simulated ledger on PostgreSQL", OnPostgres.postgres, InMemory.supports)
