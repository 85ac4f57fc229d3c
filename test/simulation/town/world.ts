/** The world of a simulated town, all of whose randomness comes from its seed. */
import { settingsDefaults, Settings } from "@bursar/engine-core"
import { Base32, Instant } from "@bursar/engine-core/kernel"
import type { ConfiguredSource } from "@bursar/engine-core"
import { Ids, ScreeningSource, StatementSource } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Clock, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { reader } from "#adapters/statements/Statements.ts"
import * as Intakes from "../../operations/intakes.ts"
import * as Faults from "../faults.ts"

/** A key that a name always has: the same town has the same parties. */
export const keyOf = (hint: string): Uint8Array =>
  new Uint8Array(createHash("sha256").update(`key of ${hint}`).digest())

const ids = (seed: number): Ids["Service"] => {
  const die = Faults.dice(seed ^ 0x1d5)
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => die.roll(256))
  const hex = (count: number) => Buffer.from(bytes(count)).toString("hex")
  return {
    make: (prefix) =>
      Effect.map(
        Clock.currentTimeMillis,
        (millis) => `${prefix}_${Base32.encode(millis, bytes(10))}`
      ),
    uuid: Effect.sync(
      () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}`
    ),
    bytes: (count) => Effect.sync(() => bytes(count))
  }
}

const ledger = (faults: SimulatedLedger.Faults.Faults) => {
  const node = SimulatedLedger.layerMemory({
    ledgerId: "town",
    participantId: "participant-1",
    faults
  })
  const venue = Layer.unwrap(
    Effect.gen(function* () {
      const participant = yield* SimulatedLedger.Participant
      const { token } = yield* participant.admin.addParty({
        hint: "venue",
        kind: "local",
        userId: "bursar-engine",
        publicKey: keyOf("venue")
      })
      return SimulatedLedger.Venue.layer({ token })
    })
  )
  return venue.pipe(Layer.provideMerge(node), Layer.orDie)
}

/** Answer of the screening source about a holder at the next request. */
export type Finding = "nothing-yet" | "none" | "possible" | "confirmed"

/** A source with random answers, which it records. */
export interface Source {
  listVersion: string
  readonly say: (holderId: string) => Finding
}

const screening = (source: Source): ScreeningSource.Source => ({
  screens: "yes",
  listVersion: Effect.sync(() => source.listVersion),
  ask: ({ holderId }) =>
    Effect.gen(function* () {
      const found = source.say(holderId)
      if (found === "nothing-yet") return { found }
      const screenedAt = yield* Instant.now
      return { found, screenedAt, listVersion: source.listVersion, validUntil: null, reason: null }
    })
})

/** An instance goes on with the lists of the one that died. */
const cursorKeys = [{ id: 1, secret: keyOf("cursors") }]

/** Every port of an engine. */
export const ports = (options: {
  readonly seed: number
  readonly faults: SimulatedLedger.Faults.Faults
  readonly source: Source
  /** Sources of the bank's statements. */
  readonly statementSources: ReadonlyArray<ConfiguredSource.ConfiguredSource>
}) =>
  Layer.mergeAll(
    Memory.layer,
    NodeCrypto.layerCrypto,
    Layer.succeed(Ids, ids(options.seed)),
    ledger(options.faults),
    Layer.succeed(Settings, {
      ...{ ...settingsDefaults, ...Intakes.sealing, lease: 9_000, cursorKeys },
      statementSources: options.statementSources
    }),
    Layer.succeed(StatementSource.StatementSource, reader),
    Layer.succeed(ScreeningSource.ScreeningSource, screening(options.source))
  )

export type Ports = Layer.Success<ReturnType<typeof ports>>
