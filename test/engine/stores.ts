/** The stores an engine of the tests runs on: in memory, and a database of its own. */
import { Engine } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { ports } from "./world.ts"

const cursorKeys = [{ id: 1, secret: new Uint8Array(32).fill(7) }]

/** Ports of an engine, over each of the stores. */
export const stores = [
  { name: "memory", storage: Memory.layer },
  { name: "PostgreSQL", storage: TestDatabase.layer as typeof Memory.layer }
].map(({ name, storage }) => ({ name, ports: ports({ storage, settings: { cursorKeys } }) }))

/** An engine that knows no operations and no templates: for reads and feeds alone. */
export const engine = Engine.layerOf({ operations: [], fromLedger: [] })
