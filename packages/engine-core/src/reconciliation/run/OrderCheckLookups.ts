/**
 * Look-ups of the checks of orders: burned redemptions that are unpaid, and orders that wait for a
 * price or a burn.
 */
import { Effect, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { Point } from "./Check.ts"
import type * as BurnedUnpaid from "./checks/BurnedUnpaid.ts"
import type * as ClaimAging from "./checks/ClaimAging.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Streams the redemptions of an instrument in these states at the point. */
const redemptionsIn = (
  { instrumentId }: InstrumentIdentity,
  { pin }: Point,
  state: ReadonlyArray<"claimed" | "funded" | "burned">
) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(redemptions, { pin, where: { instrumentId: [instrumentId], state } })
        .pipe(Stream.map(({ record }) => record))
    )
  )

/** Streams the redemptions of an instrument that are burned and not settled. */
export const burned = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<BurnedUnpaid.BurnedRedemption, Unavailable, Records> =>
  redemptionsIn(instrument, at, ["burned"]).pipe(
    Stream.map((self) => {
      const { burnedAt, cash, currency, holderId, instrumentId, proceeds, redemptionId } = self
      if (burnedAt === null || proceeds === null) {
        throw new Error(`redemption ${redemptionId}: corrupt history, burned without proceeds`)
      }
      return {
        instrumentId,
        redemptionId,
        holderId,
        currency,
        proceeds,
        paid: cash.matched,
        burnedAt
      }
    })
  )

interface OrderedAmount {
  readonly amount: Redemption["amount"]
  readonly units: Redemption["units"]
  readonly currency: string
}

/** Amount that an order names: cash of an order by amount, units of any other. */
const orderedOf = ({ amount, currency, units }: OrderedAmount) => {
  if (amount !== null) return { ordered: amount, unit: currency }
  if (units === null) throw new Error("an order names neither an amount nor units")
  return { ordered: units, unit: "units" }
}

/** Streams the claimed orders of an instrument that are not priced, and its funded redemptions. */
export const waiting = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<ClaimAging.WaitingOrder, Unavailable, Records> => {
  const { instrumentId } = instrument
  const claims = Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(subscriptions, {
        pin: at.pin,
        where: { instrumentId: [instrumentId], state: ["claimed"] }
      })
    )
  ).pipe(
    Stream.map(
      ({ record }): ClaimAging.WaitingOrder => ({
        instrumentId,
        kind: "subscription",
        orderId: record.subscriptionId,
        holderId: record.holderId,
        ...orderedOf(record),
        since: record.cutOffAt
      })
    )
  )
  const givingBack = redemptionsIn(instrument, at, ["claimed", "funded"]).pipe(
    Stream.map(
      (self): ClaimAging.WaitingOrder => ({
        instrumentId,
        kind: "redemption",
        orderId: self.redemptionId,
        holderId: self.holderId,
        ...orderedOf(self),
        since: self.fundedAt ?? self.cutOffAt
      })
    )
  )
  return Stream.concat(claims, givingBack)
}
