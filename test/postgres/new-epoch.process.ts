/** A new ledger epoch in a store on PostgreSQL: the same records as in memory, and nothing of one that was killed. */
import { Catalogue } from "@bursar/engine-core"
import { Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import * as TestDatabase from "#adapters/storage/embedded/TestDatabase.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { policyVersions } from "#core/instruments/policy/PolicyVersion.ts"
import { lots } from "#core/instruments/lot/Lot.ts"
import { movements } from "#core/instruments/register/Movement.ts"
import { textOf } from "#core/projection/ShownRecords.ts"
import { contracts } from "#core/projection/Contract.ts"
import { lostRecords } from "#core/projection/LostRecord.ts"
import * as Calls from "../engine/calls.ts"
import { all, instance, type Sight } from "../operations/away.ts"
import { recordsTerms } from "../operations/terms-again.ts"
import { deal } from "../simulation/dealing.ts"

const kept = [
  ...Catalogue.collections.filter(({ keptBy }) => keptBy === "ledger"),
  ...[contracts, lostRecords, movements, lots]
]

/** Every record that the ledger keeps, without the times at which a store wrote it. */
const held = Effect.gen(function* () {
  const found: Array<string> = []
  for (const collection of kept) {
    for (const record of yield* all(collection as (typeof kept)[0])) {
      const { createdAt: _, updatedAt: __, ...body } = record
      found.push(`${collection.name} ${textOf(Object.entries(body).toSorted())}`)
    }
  }
  return found.toSorted()
})

/** Storage whose first commit of an epoch dies after all was written. */
const dying = <R>(storage: Layer.Layer<Memory.Storage | R>) => {
  let left = 1
  return Layer.effect(
    ProjectionLog,
    Effect.map(ProjectionLog, (log) => ({
      ...log,
      bootstrap: (options: Parameters<typeof log.bootstrap>[0]) =>
        Effect.andThen(
          log.bootstrap(options),
          Effect.suspend(() => (left-- > 0 ? Effect.die(new Error("killed")) : Effect.void))
        )
    }))
  ).pipe(Layer.provideMerge(storage))
}

const away = <R>(
  ledger: Ledger.Ledger["Service"],
  options: {
    readonly storage: Layer.Layer<Memory.Storage | R>
    readonly terms: Parameters<typeof recordsTerms>[0]
    readonly at: readonly [stop: number, back: number, last: number]
  }
) => {
  const sight: Sight = { end: 0, horizon: 0 }
  const [stop, back, last] = options.at
  return Effect.gen(function* () {
    yield* Calls.catchUp
    yield* recordsTerms(options.terms)
    sight.end = stop
    yield* Calls.catchUp
    const before = yield* held
    Object.assign(sight, { end: back, horizon: back })
    const exit = yield* Effect.exit(Calls.catchUp)
    assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it began", "killed")
    assert.deepStrictEqual(yield* held, before)
    yield* Calls.catchUp
    assert.strictEqual((yield* Effect.flatMap(ProjectionLog, (log) => log.head)).ledgerEpoch, 2)
    const begun = yield* held
    sight.end = last
    yield* Calls.catchUp
    return { begun, after: yield* held }
  }).pipe(Effect.provide(instance(ledger, { sight, storage: dying(options.storage) })))
}

const bothStorages = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const last = yield* ledger.ledgerEnd
  const terms = {
    instrument: (yield* all(instruments)).find(({ instrumentId }) => instrumentId === "fund-a")!,
    versions: yield* all(policyVersions)
  }
  for (const part of [5, 3, 2]) {
    const stop = Math.floor(last / part)
    const at = [stop, Math.floor((stop + last) / 2), last] as const
    const url = Redacted.make(yield* TestDatabase.url)
    const stored = yield* away(ledger, { storage: Layer.orDie(Postgres.layer({ url })), terms, at })
    const inMemory = yield* away(ledger, { storage: Memory.layer, terms, at })
    assert.deepStrictEqual(stored, inMemory)
  }
})

describe("a new ledger epoch on PostgreSQL", () => {
  it("gives the records that it gives in memory, also where its first commit was killed", async () => {
    await Calls.runCase(deal({ seed: 4, days: 2 }, Effect.scoped(bothStorages)))
  })
})
