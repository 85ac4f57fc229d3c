/** Fold of a batch of movements into lots, in the transaction that records the movements. */
import { Effect } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import type { Movement } from "../register/Movement.ts"
import type { RecordedMovements } from "../register/MovementFromLedger.ts"
import { idOf as entryIdOf } from "../register/RegisterEntry.ts"
import { type Acquisition, type Fact, idOf, type Lot, lots } from "./Lot.ts"
import * as LotLookups from "./LotLookups.ts"
import * as LotRules from "./LotRules.ts"

/**
 * Acquisitions that rooms above contribute, by the kind of the act that minted the units: the base
 * price and cost of each movement whose act states them.
 */
export type Acquisitions = { readonly [K in ResourceKind]?: AcquisitionsOf }

/** Loads the acquisitions of minted units, with one look-up for all movements. */
export type AcquisitionsOf = (
  minted: ReadonlyArray<Movement>
) => Effect.Effect<ReadonlyMap<Movement, Acquisition>, Unavailable, Records>

/**
 * Folds the movements of a batch into lots. The givers' open lots are loaded first, and each
 * movement finds those that the movements before it have left or opened.
 */
export const folding = (acquisitions: Acquisitions) =>
  Effect.fn("Lots.fold")(function* (recorded: ReadonlyArray<RecordedMovements>) {
    const records = yield* Records
    const movements = recorded.flatMap((share) => share.movements)
    const acquired = yield* acquisitionsOf(acquisitions, movements)
    const stored = yield* lotsToLeave(movements)
    const books: LotRules.OpenBooks = Map.groupBy(stored.values(), entryIdOf)
    const open = (lot: Lot, share: RecordedMovements) =>
      Effect.map(LedgerRecord.open(lots, lot, share), (opened) => stored.set(idOf(lot), opened))
    for (const share of recorded) {
      for (const lot of LotRules.ofSnapshot(share.begunMovements, share.ledgerTime))
        yield* open(lot, share)
      for (const movement of share.movements) {
        const acquisition = acquired.get(movement) ?? null
        const { parts, opened, missing } = LotRules.enter(books, { movement, acquisition })
        for (const { lot, units, cost } of parts) {
          const id = idOf(lot)
          const fact: Fact = { on: onOf(movement), seq: movement.seq, units, cost }
          stored.set(id, yield* records.append(lots, stored.get(id)!, fact, share.act))
        }
        for (const lot of opened) yield* open(lot, share)
        if (Decimal.isPositive(missing)) yield* logMissing(movement, missing)
      }
    }
  })

const onOf = ({ to }: Movement): Fact["on"] => (to === null ? "relieve" : "move")

/**
 * The check `lots-holdings` reports the difference to people; the log names the movement that made
 * it.
 */
const logMissing = (movement: Movement, missing: Decimal.Decimal) =>
  Effect.logError("a movement takes more units than its giver's lots have", {
    instrumentId: movement.instrumentId,
    movement: movement.seq,
    party: movement.from,
    missing: Decimal.formatPlain(missing)
  })

// ---- acquisitions of minted units

/**
 * Loads the acquisitions of the minted units among the movements. An act that has a lot already
 * brings no second one: units that are minted again in its name have no price.
 */
const acquisitionsOf = Effect.fnUntraced(function* (
  acquisitions: Acquisitions,
  movements: ReadonlyArray<Movement>
) {
  const acquired = new Map<Movement, Acquisition>()
  const minted = movements.filter(({ from, reference }) => from === null && reference !== null)
  for (const [kind, ofKind] of Map.groupBy(minted, ({ reference }) => reference!.resourceKind)) {
    const found = yield* acquisitions[kind]?.(ofKind) ?? Effect.succeed(new Map())
    for (const [movement, acquisition] of found) acquired.set(movement, acquisition)
  }
  const named = [...acquired].flatMap(([movement, { lotId }]) =>
    lotId === null ? [] : [{ movement, id: idOf({ ...movement, lotId }) }]
  )
  if (named.length === 0) return acquired
  const records = yield* Records
  const there = yield* records.many(
    lots,
    named.map(({ id }) => id)
  )
  const taken = new Set(there.map(idOf))
  for (const { movement, id } of named) {
    if (taken.has(id)) acquired.delete(movement)
    taken.add(id)
  }
  return acquired
})

// ---- lots that units leave

/**
 * Loads, of each party that gives units in the movements, its oldest open lots, by id: as many as
 * have the units that it gives in all. Lots of other instruments and younger lots are not read.
 */
const lotsToLeave = Effect.fnUntraced(function* (movements: ReadonlyArray<Movement>) {
  const found = new Map<string, Stored<Lot>>()
  const givenUnits = new Map<string, Decimal.Decimal>()
  for (const { from, to, units, ...asset } of movements) {
    if (from === null || from === to) continue
    const id = entryIdOf({ ...asset, party: from })
    givenUnits.set(id, Decimal.add(givenUnits.get(id) ?? Decimal.zero, units))
  }
  for (const lot of yield* LotLookups.oldestLotsOf(givenUnits)) found.set(idOf(lot), lot)
  return found
})
