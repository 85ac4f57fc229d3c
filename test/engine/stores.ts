/** The stores an engine of the tests runs on: in memory, and a database of its own. */
import { ScreeningSource, StatementSource } from "@bursar/engine-core/ports"
import { Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Layer } from "effect"
import { ledgerOf } from "./world.ts"

const key = { id: 1, secret: new Uint8Array(32).fill(7) }

/** Ports of an engine, over each of the stores. */
export const stores = [
  ["memory", Memory.layer],
  ["PostgreSQL", TestDatabase.layer]
].map(([name, store]) => ({
  name: name as string,
  ports: Layer.mergeAll(
    store as typeof Memory.layer,
    NodeCrypto.layer,
    StatementSource.layerNone,
    ScreeningSource.layerNone,
    ledgerOf(),
    Layer.succeed(Settings, { ...settingsDefaults, cursorKeys: [key] })
  )
}))

/** An engine that knows no operations and no templates: for reads and feeds alone. */
export const engine = Engine.layerOf({ operations: [], fromLedger: [] })
