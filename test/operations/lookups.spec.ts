/** Look-ups of the transaction that stores a run: as many for a dozen instruments as for three, but of new holds. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Documents } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { compare } from "#core/reconciliation/run/CompareSteps.ts"
import * as RecordSteps from "#core/reconciliation/run/RecordSteps.ts"
import { RunId, type Scope } from "#core/reconciliation/run/Run.ts"
import { world } from "../engine/world.ts"
import * as Calls from "../engine/calls.ts"
import { bodyOf, registrar } from "./instrumentBody.ts"
import * as Reconciling from "./reconciling.ts"

/** Storage in memory that counts the look-ups of records by their ids. */
const counting = (counts: { lookUps: number }) =>
  Layer.effect(
    Documents,
    Effect.map(Documents, (documents) => ({
      ...documents,
      get: (of: Parameters<typeof documents.get>[0]) => {
        counts.lookUps++
        return documents.get(of)
      }
    }))
  ).pipe(Layer.provideMerge(Memory.layer))

/** An instrument whose register has units that the ledger has not: its supply differs. */
const differing = Effect.fnUntraced(function* (instrumentId: string) {
  yield* Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId })
  const records = yield* Records
  const now = yield* Instant.now
  const entry = {
    ...{ registrar: registrar as never, instrumentId, party: registrar as never },
    ...{ units: Decimal.of("7"), locked: Decimal.zero, since: now, emptySince: null }
  }
  const act = { cause: { by: "run", runId: "fault" }, now } as const
  yield* records.transact(Effect.orDie(records.open(registerEntries, entry, act)))
})

/** Look-ups of two runs over so many instruments: the first opens holds, the second joins them. */
const lookUpsOf = (count: number) => {
  const counts = { lookUps: 0 }
  return Effect.gen(function* () {
    const ids = Array.from({ length: count }, (_, n) => `fund-${n}`)
    yield* Effect.forEach(ids, differing)
    const records = yield* Records
    const scope = { instrumentIds: ids, checks: ["register-supply"] } as unknown as Scope
    return yield* Effect.forEach(["run_1", "run_2"], (text) =>
      Effect.gen(function* () {
        const compared = yield* compare(scope)
        counts.lookUps = 0
        const runId = Schema.decodeSync(RunId)(text)
        const act = { cause: { by: "run", runId } as const, now: yield* Instant.now }
        yield* records.transactAlone(
          RecordSteps.record({ runId, trigger: "manual", scope, compared }, act)
        )
        const { lookUps } = counts
        const holds = yield* Reconciling.openHolds
        assert.lengthOf(holds, count, "each instrument has a hold")
        return lookUps
      })
    )
  }).pipe(Effect.scoped, Effect.provide(world({ storage: counting(counts) })))
}

describe("the transaction that stores a run", () => {
  it.effect(
    "looks up for each instrument the new id of a hold that it opens, and nothing more",
    () =>
      Effect.gen(function* () {
        const [opening = 0, joining = 0] = yield* lookUpsOf(3)
        const many = yield* lookUpsOf(12)
        assert.deepStrictEqual(many, [opening + 12 - 3, joining])
        assert.isAbove(joining, 0)
      })
  )
})
