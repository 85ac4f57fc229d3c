/** The simulated ledger keeps the laws of the port, in memory and on a database. */
import { ledgerSuite } from "@bursar/storage-adapters/conformance"
import * as InMemory from "./simulated-ledger.memory.ts"
import * as OnPostgres from "./simulated-ledger.postgres.ts"

const onPostgres = OnPostgres.open()

ledgerSuite("the simulated ledger in memory", InMemory.memory, InMemory.supports)
ledgerSuite("the simulated ledger on PostgreSQL", onPostgres.postgres, InMemory.supports)
