/** Folds a random history into stored lots, a batch at a time, for tests over any storage. */
import { Records } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import type * as Pin from "#core/kernel/Pin.ts"
import type { Lot } from "#core/instruments/lot/Lot.ts"
import * as LotLookups from "#core/instruments/lot/LotLookups.ts"
import type * as LotRules from "#core/instruments/lot/LotRules.ts"
import * as LotSteps from "#core/instruments/lot/LotSteps.ts"
import type { Movement } from "#core/instruments/register/Movement.ts"
import type { RecordedMovements } from "#core/instruments/register/MovementFromLedger.ts"
import { begin, funds, parties } from "../rules/lot-histories.ts"

export const pinAt = (offset: number): Pin.ResolvedPin => ({
  offset: Offset.of(offset),
  ledgerTime: null,
  select: { by: "offset" },
  judgedAt: begin
})

/** A step of a history as the movement that an update at this offset records. */
export const movementOf = ({ acquisition, movement }: LotRules.Step, offset: number): Movement => ({
  ...movement,
  reference: acquisition?.origin ?? null,
  at: movement.ledgerTime,
  offset: Offset.of(offset),
  updateId: `u${offset}`,
  restricted: false,
  balanceAfter: movement.units,
  holdersAfter: 1
})

/** Updates of a history: so many steps each, by turns, at the offsets from 1. */
export const updatesOf = (steps: ReadonlyArray<LotRules.Step>, sizes: ReadonlyArray<number>) => {
  const updates: Array<ReadonlyArray<LotRules.Step>> = []
  for (let n = 0; n < steps.length; ) {
    const size = sizes[updates.length % sizes.length] ?? 1
    updates.push(steps.slice(n, n + size))
    n += size
  }
  return updates
}

export interface Cut {
  /** Numbers of steps of an update, by turns. */
  readonly updates: ReadonlyArray<number>
  /** Number of updates of a batch. */
  readonly batch: number
}

/** Fold of lots that is told the acquisitions of a history. */
export const foldOf = (steps: ReadonlyArray<LotRules.Step>) => {
  const acquired = new Map(
    steps.map(({ acquisition, movement }) => [
      `${movement.instrumentId} ${movement.seq}`,
      acquisition
    ])
  )
  const acquisitionsOf: LotSteps.AcquisitionsOf = (minted) =>
    Effect.succeed(
      new Map(
        minted.flatMap((movement) => {
          const found = acquired.get(`${movement.instrumentId} ${movement.seq}`)
          return found === null || found === undefined ? [] : [[movement, found] as const]
        })
      )
    )
  return LotSteps.folding({ subscription: acquisitionsOf })
}

/** Folds a history into lots; returns the steps up to each offset. */
export const foldStored = Effect.fnUntraced(function* (
  steps: ReadonlyArray<LotRules.Step>,
  cut: Cut
) {
  const records = yield* Records
  const fold = foldOf(steps)
  const updates = updatesOf(steps, cut.updates)
  const shares = updates.map((steps, index) => sharesOf(steps, index + 1))
  for (let n = 0; n < shares.length; n += cut.batch) {
    yield* records.transactAlone(fold(shares.slice(n, n + cut.batch).flat()))
  }
  return updates.map((_, index) => updates.slice(0, index + 1).flat())
})

/** One update's share of each instrument, as the readings of movements find them. */
export const sharesOf = (
  steps: ReadonlyArray<LotRules.Step>,
  offset: number
): ReadonlyArray<RecordedMovements> =>
  funds.flatMap(({ instrumentId }) => {
    const own = steps.filter(({ movement }) => movement.instrumentId === instrumentId)
    const [first] = own
    if (first === undefined) return []
    const now = first.movement.ledgerTime
    const cause = { by: "update" as const, updateId: `u${offset}`, offset, effectiveAt: now }
    return [
      {
        act: { cause: { ...cause, offset: Offset.of(offset) }, now, offset: Offset.of(offset) },
        ledgerTime: Instant.max(now, begin),
        movements: own.map((step) => movementOf(step, offset)),
        begunMovements: []
      }
    ]
  })

/** The open lots of every party of every instrument, at the offset or the latest. */
export const storedLots = Effect.fnUntraced(function* (offset?: number) {
  const found: Array<Lot> = []
  for (const fund of funds) {
    const pin = offset === undefined ? undefined : pinAt(offset)
    const books = yield* LotLookups.openLotsOf({ ...fund, parties }, pin)
    for (const lots of books.values()) found.push(...lots)
  }
  return found
})
