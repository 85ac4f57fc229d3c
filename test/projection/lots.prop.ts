/**
 * Stored lots: at every offset those of an independent fold of the movements, however these are cut
 * into updates and batches.
 */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type * as LotRules from "#core/instruments/lot/LotRules.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import {
  begin,
  byHand,
  funds,
  histories,
  parties,
  plainKind,
  shownLot
} from "../rules/lot-histories.ts"
import * as StoredLots from "./stored-lots.ts"
import { runsOf } from "../long-run.ts"

const layer = RecordsLayer.layer.pipe(
  Layer.provide(NodeCrypto.layerCrypto),
  Layer.provide(Memory.layer)
)

const cuts = fc.record({
  updates: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  batch: fc.integer({ min: 1, max: 12 })
})

const [fund] = funds as unknown as readonly [(typeof funds)[number]]
const nobody = { acquisition: null } as const
const stepOf = (
  lotMovement: Pick<LotRules.LotMovement, "from" | "to" | "units">
): LotRules.Step => ({
  ...nobody,
  movement: {
    ...{ ...fund, ...lotMovement, kind: plainKind(lotMovement) },
    ...{ seq: 0, ledgerTime: begin, reference: null }
  }
})
const partyOf = (n: number): Party.Party => parties[n] ?? parties[0]!
const whole = (units: bigint) => Decimal.fromAtoms(units * 10n ** 10n)
const minted = (count: number, to: (n: number) => number): ReadonlyArray<LotRules.Step> =>
  Array.from({ length: count }, (_, n) =>
    stepOf({ from: null, to: partyOf(to(n)), units: whole(1n) })
  )
const gift = (from: number, to: number, units: bigint) =>
  stepOf({ from: partyOf(from), to: partyOf(to), units: whole(units) })
const burned = (from: number, units: bigint) =>
  stepOf({ from: partyOf(from), to: null, units: whole(units) })

/** The steps with numbers from 1, a second apart. */
const numbered = (steps: ReadonlyArray<LotRules.Step>): ReadonlyArray<LotRules.Step> =>
  steps.map((step, index) => ({
    ...step,
    movement: {
      ...step.movement,
      seq: index + 1,
      ledgerTime: Instant.fromNanos(begin + BigInt(index) * 10n ** 9n)
    }
  }))

describe("stored lots", () => {
  it("never differ at an offset from lots kept by hand up to it", async () => {
    await fc.assert(
      fc.asyncProperty(histories, cuts, (steps, cut) =>
        Effect.gen(function* () {
          const history = yield* StoredLots.foldStored(steps, cut)
          for (const [index, until] of history.entries()) {
            const lots = yield* StoredLots.storedLots(index + 1)
            expect(lots.map(shownLot).toSorted()).toEqual(byHand(until))
          }
          const latest = yield* StoredLots.storedLots()
          expect(latest.map(shownLot).toSorted()).toEqual(byHand(steps))
        }).pipe(Effect.provide(layer), Effect.runPromise)
      ),
      { numRuns: runsOf(60) }
    )
  })

  it.each<[string, ReadonlyArray<LotRules.Step>, StoredLots.Cut]>([
    [
      "of a party with more lots than one query reads",
      [...minted(560, () => 0), gift(0, 1, 555n)],
      { updates: [560, 1], batch: 1 }
    ],
    [
      "of a party that gives on in the same batch what it has just received",
      [...minted(40, () => 0), gift(0, 1, 40n), gift(1, 2, 39n), burned(1, 1n), burned(2, 39n)],
      { updates: [1], batch: 44 }
    ],
    [
      "of a party whose received lots are older than those it had",
      [...minted(2, (n) => n), gift(0, 1, 1n), burned(1, 1n)],
      { updates: [1], batch: 1 }
    ]
  ])("are never lost or taken twice: %s", (_, steps, cut) =>
    Effect.gen(function* () {
      const history = yield* StoredLots.foldStored(numbered(steps), cut)
      for (const [index, until] of history.entries()) {
        const lots = yield* StoredLots.storedLots(index + 1)
        expect(lots.map(shownLot).toSorted()).toEqual(byHand(until))
      }
    }).pipe(Effect.provide(layer), Effect.runPromise)
  )
})
