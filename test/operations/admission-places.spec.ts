/** Places under an instrument's holder cap, beside offers and deletions that are made at the same time. */
import { Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { admissions } from "#core/admissions/Admission.ts"
import { admissionPlaces } from "#core/admissions/AdmissionPlaces.ts"
import { takenOf } from "#core/admissions/PlaceSteps.ts"
import { instruments, isRecorded } from "#core/instruments/instrument/Instrument.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"

const onboards = (holderId: string) =>
  Calls.write(
    "holder.onboard",
    {},
    {
      ...{ holderId, party: `${holderId}::1220${"ab".repeat(32)}` },
      admissions: [{ instrumentId: "fund-a" }]
    }
  )

describe("the places under a holder cap", () => {
  it.effect("are not lost to a failed offer whose operation retention has deleted", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ holderCap: 1 })
      const records = yield* Records
      const operationId = "op-deleted"
      yield* records.transact(
        records.open(
          admissionPlaces,
          { instrumentId: "fund-a", reserved: [{ admissionId: "adm-deleted", operationId }] },
          { cause: { by: "operation", operationId }, now: yield* Instant.now, trace: null }
        )
      )
      assert.strictEqual((yield* onboards("h1")).why, "")
    }).pipe(Effect.provide(world()))
  )

  it.effect("count an offer once that is listed while the places are counted", () =>
    Effect.gen(function* () {
      yield* Fund.opened({ holderCap: 2 })
      assert.strictEqual((yield* onboards("h1")).why, "")
      const records = yield* Records
      const instrument = yield* records.get(instruments, "fund-a")
      if (!isRecorded(instrument)) throw new Error("the instrument is not recorded")
      let isListed = false
      // The offer is listed between the look-up of the reservations and the count.
      const lists: Records["Service"]["list"] = (collection, query) => {
        if (collection.name !== admissions.name || isListed) return records.list(collection, query)
        isListed = true
        return Effect.succeed([])
      }
      const taken = yield* takenOf(instrument, { operationId: "op-next" }).pipe(
        Effect.provideService(Records, Records.of({ ...records, list: lists }))
      )
      assert.isTrue(isListed)
      assert.strictEqual(taken.count, 1)
    }).pipe(Effect.provide(world()))
  )
})
