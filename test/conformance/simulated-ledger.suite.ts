/** The simulated ledger keeps the laws of the port. */
import { ledgerSuite } from "@bursar/storage-adapters/conformance"
import * as Simulated from "./simulated-ledger.layers.ts"

ledgerSuite("the simulated ledger in memory", Simulated.memory, Simulated.supports)
