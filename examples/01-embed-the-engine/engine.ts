/** The engine in one process: in-memory storage, a simulated ledger, and the venue's port to it. */
import { Engine } from "@bursar/engine-core"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Layer } from "effect"

const node = SimulatedLedger.layerMemory({ ledgerId: "example", participantId: "node-1" })

/** The engine has one token, the venue's, and cannot act as any other party. */
const venue = Layer.unwrap(
  Effect.gen(function* () {
    const { admin } = yield* SimulatedLedger.Participant
    const { token } = yield* admin.addParty({
      hint: "venue",
      kind: "local",
      userId: "bursar-engine"
    })
    return SimulatedLedger.Venue.layer({ token })
  })
)

export const layer = Engine.layer.pipe(
  Layer.provideMerge(venue),
  Layer.provideMerge(Layer.mergeAll(node, Memory.layer, NodeCrypto.layer))
)
