/**
 * Look-ups of the facts that a register's lines show beside their units: chunk by chunk, one look-up
 * a kind.
 */
import { Effect, Stream } from "effect"
import { type Admission, admissions, pairOf } from "../../admissions/Admission.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import type { RegisterEntry } from "../../instruments/register/RegisterEntry.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { type Query, Records } from "../../records/Records.ts"
import { restrictions } from "../../restraints/restriction/Restriction.ts"
import { whereInForce } from "../../restraints/restriction/RestrictionLookups.ts"
import { isRestricted } from "../../restraints/restriction/RestrictionRules.ts"

/** Largest number of records of one kind that are held while the lines are streamed. */
const heldMax = 1_000

interface HolderSelection<R, A> {
  readonly pin: Pin.ResolvedPin
  readonly where: Readonly<Record<string, ReadonlyArray<string>>>
  /** Figure of a holder's records that its lines show, such as pending units. */
  readonly figureOf: (found: ReadonlyArray<R>) => A
}

/**
 * Selects records by holder. Few are loaded once and held; of more, those of a chunk's holders are
 * looked up with the chunk, so that memory does not grow with them.
 */
const byHolder = Effect.fnUntraced(function* <R, F, A>(
  collection: Collection<R, F>,
  { pin, where, figureOf }: HolderSelection<R, A>
) {
  const records = yield* Records
  const first = yield* records.list(collection, { pin, where, limit: heldMax + 1 })
  const plain = (rows: ReadonlyArray<{ readonly record: R }>): A =>
    figureOf(rows.map(({ record }) => record))
  if (first.length <= heldMax) {
    const held = plain(first)
    return (_: ReadonlyArray<string>): Effect.Effect<A, Unavailable> => Effect.succeed(held)
  }
  return (holderIds: ReadonlyArray<string>): Effect.Effect<A, Unavailable> =>
    Effect.map(
      foundBy(records, collection, { pin, where: { ...where, holderId: holderIds } }),
      plain
    )
})

/** Largest number of records of a chunk and kind that one page has; more are read as a stream. */
const pageMax = 1_000

/** Loads the records of a chunk. A page needs no connection of its own, as a stream does. */
const foundBy = Effect.fnUntraced(function* <R, F>(
  records: Records["Service"],
  collection: Collection<R, F>,
  query: Query
) {
  const found = yield* records.list(collection, { ...query, limit: pageMax })
  return found.length < pageMax
    ? found
    : yield* Stream.runCollect(records.stream(collection, query))
})

/** States of a redemption whose units are not burned. */
const unburned: ReadonlyArray<Redemption["state"]> = ["claimed", "priced", "funded"]

/** Sums units by holder. */
const summed =
  <R extends { readonly holderId: string }>(unitsOf: (record: R) => Decimal.Decimal | null) =>
  (found: ReadonlyArray<R>): ReadonlyMap<string, Decimal.Decimal> => {
    const sums = new Map<string, Decimal.Decimal>()
    for (const record of found) {
      const units = unitsOf(record) ?? Decimal.zero
      sums.set(record.holderId, Decimal.add(sums.get(record.holderId) ?? Decimal.zero, units))
    }
    return sums
  }

/** A line's holder, its admission, its pending units, and whether it is restricted. */
export interface LineFacts {
  /** Null for a party that is no holder of this venue. */
  readonly holderId: string | null
  readonly admissionState: Admission["state"] | null
  readonly pendingIn: Decimal.Decimal
  readonly pendingOut: Decimal.Decimal
  /** Null where restrictions are concealed. */
  readonly restricted: boolean | null
}

/**
 * Prepares the look-ups of a register's lines at a pin. The result loads the facts of a chunk of
 * lines, in the order of the lines. Concealed restrictions are not looked up.
 */
export const besideOf = Effect.fnUntraced(function* (
  { instrumentId }: { readonly instrumentId: string },
  {
    pin,
    isConcealed,
    show
  }: {
    readonly pin: Pin.ResolvedPin
    readonly isConcealed: boolean
    /** Converts units of the ledger to those that the lines show. */
    readonly show: (units: Decimal.Decimal) => Decimal.Decimal
  }
) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  const incoming = yield* byHolder(subscriptions, {
    pin,
    where: { ...where, state: ["priced"] },
    figureOf: summed(({ lot }) => (lot === null ? null : show(lot.units)))
  })
  const outgoing = yield* byHolder(redemptions, {
    pin,
    where: { ...where, state: unburned },
    figureOf: summed(({ baseUnits, units }) => (baseUnits === null ? units : show(baseUnits)))
  })
  const restricted = isConcealed
    ? null
    : yield* byHolder(restrictions, {
        pin,
        where: whereInForce({ instrumentId }),
        figureOf: (found) => Map.groupBy(found, ({ holderId }): string => holderId)
      })

  return Effect.fnUntraced(function* (entries: ReadonlyArray<RegisterEntry>) {
    const parties = entries.map(({ party }) => party)
    const found = yield* records.many(holderParties, parties, pin)
    const holderOf = new Map(
      found.map(({ party, holderId }): [string, string] => [party, holderId])
    )
    const holderIds = [...holderOf.values()]
    const pairs = holderIds.map((holderId) => pairOf({ holderId, instrumentId }))
    // Sorted by offer: the latest admission of a party wins.
    const admitted =
      pairs.length === 0 ? [] : yield* foundBy(records, admissions, { pin, where: { pair: pairs } })
    const admissionOf = new Map(
      admitted.map(({ record }): [string, Admission] => [record.party, record])
    )
    const unitsIn = yield* incoming(holderIds)
    const unitsOut = yield* outgoing(holderIds)
    const inForce = restricted === null ? null : yield* restricted(holderIds)
    return entries.map(({ party }): LineFacts => {
      const holderId = holderOf.get(party) ?? null
      const pendingOf = (sums: ReadonlyMap<string, Decimal.Decimal>) =>
        (holderId === null ? undefined : sums.get(holderId)) ?? Decimal.zero
      return {
        holderId,
        admissionState: admissionOf.get(party)?.state ?? null,
        pendingIn: pendingOf(unitsIn),
        pendingOut: pendingOf(unitsOut),
        restricted:
          inForce === null
            ? null
            : holderId !== null &&
              isRestricted(inForce.get(holderId) ?? [], { holderId, instrumentId })
      }
    })
  })
})

/** Loads the facts that a chunk of lines shows beside its units. */
export type BesideOf = Effect.Success<ReturnType<typeof besideOf>>
