/**
 * Look-ups of items in flight at the moment of a statement: orders and locks that may explain a
 * difference of units (docs/domain/reconciliation.md#in-flight).
 */
import { Effect, Stream } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf, holdings } from "../../instruments/register/Holding.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as Zone from "../../kernel/Zone.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import type { ExternalStatement } from "../../statements/external-statement/ExternalStatement.ts"
import type { StatementBasis } from "../../vocabulary/sets.ts"
import type { Point } from "./Check.ts"
import * as Rules from "./InFlightRules.ts"
import { pinAt } from "./StatementPinLookups.ts"

/** The statement whose differences are explained. */
interface StatementComparison {
  readonly instrument: Instrument
  readonly source: ExternalSource
  readonly statement: ExternalStatement
  /** Pin of the statement's moment. */
  readonly pin: Pin.ResolvedPin
  readonly at: Point
  /** Converts base units to units as the statement states them. */
  readonly show: (units: Decimal.Decimal) => Decimal.Decimal
}

/** Basis of the positions of a statement: that of the file, else that of its source. */
export const basisOf = ({
  source,
  statement
}: Pick<StatementComparison, "source" | "statement">): StatementBasis =>
  statement.basis ?? source.basis ?? "settled"

/** End of the statement's business date, in the zone of its source. */
export const dayEndOf = ({
  source,
  statement
}: Pick<StatementComparison, "source" | "statement">): Instant.Instant =>
  Zone.startOfDay(Zone.of(source.zone), Date.next(statement.businessDate))

/**
 * Streams the orders in flight at the moment of a statement, and those that were priced from then to
 * the end of its day, each once: of these holders, or of all where `holderIds` is null. Memory holds
 * the ids of the orders alone.
 */
export const streamOrders = (
  comparison: StatementComparison,
  holderIds: ReadonlyArray<string> | null
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const { instrument, statement, pin, at, show } = comparison
      const where = {
        instrumentId: [instrument.instrumentId],
        ...(holderIds === null ? {} : { holderId: holderIds })
      }
      const streams = [
        records
          .stream(subscriptions, { pin, where: { ...where, state: ["priced", "delivered"] } })
          .pipe(Stream.map(({ record }) => Rules.ofSubscription(record))),
        records
          .stream(redemptions, { pin, where: { ...where, state: ["priced", "funded", "burned"] } })
          .pipe(Stream.map(({ record }) => Rules.ofRedemption(record)))
      ]
      const dayEnd = dayEndOf(comparison)
      if (dayEnd > statement.asOf) {
        const until = yield* pinAt(Instant.min(dayEnd, at.pin.judgedAt), at)
        const query = { pin: until, where, updatedFrom: statement.asOf }
        streams.push(
          records
            .stream(subscriptions, query)
            .pipe(Stream.map(({ record }) => Rules.ofLaterSubscription(record, statement.asOf))),
          records
            .stream(redemptions, query)
            .pipe(Stream.map(({ record }) => Rules.ofLaterRedemption(record, statement.asOf)))
        )
      }
      const streamedIds = new Set<string>()
      return Stream.fromIterable(streams).pipe(
        Stream.flatMap((stream) => stream),
        Stream.flatMap((found) => Stream.fromIterable(found)),
        Stream.filter(({ item: { resourceKind, id } }) => {
          const key = `${resourceKind}/${id}`
          if (streamedIds.has(key)) return false
          streamedIds.add(key)
          return true
        }),
        Stream.map((inFlight): Rules.InFlight => {
          const { item } = inFlight
          return { ...inFlight, item: { ...item, amount: show(item.amount) } }
        })
      )
    })
  )

/**
 * Collects the items of `streamOrders`: for few holders, or for a difference that any order may
 * explain.
 */
export const ordersOf = (
  comparison: StatementComparison,
  holderIds: ReadonlyArray<string> | null
) => Stream.runCollect(streamOrders(comparison, holderIds))

/**
 * Loads the locked holdings of holders at the moment of a statement, which may leave them out. A
 * holder with a redemption in flight has none: its units are the redemption's, and locked for it.
 */
export const locksOf = Effect.fnUntraced(function* (
  { instrument, pin, show }: StatementComparison,
  {
    orders,
    holderIds
  }: {
    readonly holderIds: ReadonlyArray<string>
    readonly orders: ReadonlyArray<Rules.InFlight>
  }
) {
  const records = yield* Records
  const redeeming = new Set(
    orders.flatMap(({ holderId, item }) => (item.resourceKind === "redemption" ? holderId : []))
  )
  const others = holderIds.filter((holderId) => !redeeming.has(holderId))
  if (others.length === 0) return []
  const found: ReadonlyArray<Stored<{ holderId: string; party: string }>> = yield* records.many(
    holders,
    others,
    pin
  )
  const holderOf = new Map(found.map(({ holderId, party }) => [party, holderId]))
  if (holderOf.size === 0) return []
  return yield* records
    .stream(holdings, {
      pin,
      where: { asset: [assetKeyOf(instrument)], owner: [...holderOf.keys()] }
    })
    .pipe(
      Stream.filter(({ record }) => record.lock !== null),
      Stream.map(
        ({ record }): Rules.InFlight => ({
          holderId: holderOf.get(record.owner) ?? "",
          item: {
            resourceKind: "contract",
            id: record.contractId,
            amount: Decimal.negate(show(record.amount)),
            since: record.createdAt
          },
          isUnmoved: false,
          settleBy: null
        })
      ),
      Stream.runCollect
    )
})
