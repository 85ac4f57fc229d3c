/**
 * The engine in one process: in-memory storage, a simulated ledger, the venue's port to it, and
 * readers of the statements that its configured sources send.
 */
import { ConfiguredSource, Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import * as Statements from "@bursar/storage-adapters/statements"
import { randomBytes } from "node:crypto"
import { Effect, Layer, Schema } from "effect"
import { sources } from "../statements.ts"

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

const settings = Layer.succeed(Settings, {
  ...settingsDefaults,
  statementSources: Schema.decodeUnknownSync(Schema.Array(ConfiguredSource.SourceText))(
    sources("elf-usd")
  ).map(ConfiguredSource.of),
  /** Key under which files of statements and account numbers are sealed. */
  sealingKeys: [{ keyId: "key-1", secret: new Uint8Array(randomBytes(32)) }]
})

export const layer = Engine.layer.pipe(
  Layer.provideMerge(venue),
  Layer.provideMerge(Layer.mergeAll(node, Memory.layer, NodeCrypto.layer)),
  Layer.provideMerge(Layer.mergeAll(settings, Statements.layer))
)
