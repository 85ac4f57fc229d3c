/** The store in memory keeps every promise of the storage ports; its only opening is also the second. */
import { storageSuite } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer } from "effect"

const opening = Layer.succeedContext(Effect.runSync(Effect.scoped(Layer.build(Memory.layer))))

storageSuite("memory", opening, { second: opening })
