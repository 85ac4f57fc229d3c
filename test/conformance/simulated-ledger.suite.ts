/** The simulated ledger keeps the laws of the port, in memory and on a database. */
import { ledgerSuite } from "@bursar/storage-adapters/conformance"
import { afterAll, beforeAll } from "vitest"
import * as Simulated from "./simulated-ledger.layers.ts"

beforeAll(() => Simulated.database.context(), 120_000)
afterAll(() => Simulated.database.dispose())

ledgerSuite("the simulated ledger in memory", Simulated.memory, Simulated.supports)
ledgerSuite("the simulated ledger on PostgreSQL", Simulated.postgres, Simulated.supports)
