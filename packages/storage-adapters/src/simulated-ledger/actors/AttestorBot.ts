/** The attestor's program: prices each claim at a published point, in the instrument's own places. */
import { Date, Decimal, Instant, Rational, TimeOfDay, Zone } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

type Claim = Templates.Payload<typeof Templates.SubscriptionClaim>
type Point = World.Found<typeof Templates.OraclePoint>

const places = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const text = (schema: typeof Decimal.text) => Schema.optionalKey(schema)

/** What an attestor knows of an instrument beside the ledger: the terms its figures follow. */
export const Terms = Schema.Struct({
  instrumentId: Schema.String,
  unitDecimals: places,
  /** 2 where nothing is said. */
  cashDecimals: Schema.optionalKey(places),
  /** A fraction of the cash; 0 where nothing is said. */
  feeRate: text(Decimal.text),
  /** What one unit is worth by definition; then only the income is published. */
  parValue: text(Decimal.text),
  /** `latest` takes the newest point there is. */
  pricing: Schema.optionalKey(Schema.Literals(["latest", "forward", "historic"])),
  /** Without one, forward begins at the claim itself. */
  cutOff: Schema.optionalKey(
    Schema.Struct({
      time: TimeOfDay.schema,
      days: Schema.Array(Schema.Literals(Date.weekdays)).check(Schema.isMinLength(1)),
      zone: Zone.schema
    })
  )
})
export type Terms = typeof Terms.Type

export interface Options {
  readonly instruments: ReadonlyArray<Terms>
  readonly policy: Policy.Policy
}

/** units = ⌊(A − ⌈A·f⌉)/p⌋: cash is taken rounded up, units are given rounded down. */
export const unitsFor = (
  amount: Decimal.Decimal,
  of: { readonly price: Decimal.Decimal; readonly terms: Terms }
): Decimal.Decimal => {
  const { terms } = of
  const fee = Rational.round(
    Rational.multiply(Rational.of(amount), Rational.of(terms.feeRate ?? Decimal.zero)),
    { places: terms.cashDecimals ?? 2, rounding: "ceiling" }
  )
  return Rational.round(
    Rational.divide(Rational.of(Decimal.subtract(amount, fee)), Rational.of(of.price)),
    { places: terms.unitDecimals, rounding: "floor" }
  )
}

export const plan =
  ({ instruments, policy }: Options): World.Plan =>
  (world) =>
    World.find(world, Templates.SubscriptionClaim).flatMap((claim) => {
      const { payload, contractId } = claim
      const terms = instruments.find(({ instrumentId }) => instrumentId === payload.instrument.id)
      const mine =
        payload.attestors.includes(world.party) && !payload.attested.includes(world.party)
      if (terms === undefined || !mine) return []
      const ids = [contractId, payload.subscriptionId, payload.instrument.id]
      if (Policy.judge(policy, ids) !== "accept") return []
      const point = pointFor(world, claim, terms)
      return point === undefined ? [] : attest(world, { claim, point, terms })
    })

const attest = (
  world: World.World,
  of: {
    readonly claim: World.Found<typeof Templates.SubscriptionClaim>
    readonly point: Point
    readonly terms: Terms
  }
): ReadonlyArray<World.Act> => {
  const { claim, point, terms } = of
  const price = priceOf(point, terms)
  const units = counted(claim.payload, price, terms)
  if (units === null || !Decimal.isPositive(units)) return []
  return [
    World.answer(
      "attest",
      {
        template: Templates.SubscriptionClaim,
        contractId: claim.contractId,
        choice: "Attest"
      },
      { attestor: world.party, pointCid: point.contractId, price, units },
      {
        subscriptionId: claim.payload.subscriptionId,
        price: Decimal.formatPlain(price),
        units: Decimal.formatPlain(units)
      }
    )
  ]
}

/** An order in units is taken as it is; one in cash buys what the formula says. */
const counted = (claim: Claim, price: Decimal.Decimal, terms: Terms): Decimal.Decimal | null =>
  claim.orderedUnits ?? (claim.cash === null ? null : unitsFor(claim.cash, { price, terms }))

const priceOf = ({ payload }: Point, terms: Terms): Decimal.Decimal =>
  payload.metric === "income" ? (terms.parValue ?? Decimal.one) : payload.value

const metrics: ReadonlySet<string> = new Set(["price", "index", "income"])

/** Who attests after another attests the same point. */
const pointFor = (
  world: World.World,
  { payload: claim, createdAt }: World.Found<typeof Templates.SubscriptionClaim>,
  terms: Terms
): Point | undefined => {
  const points = World.find(world, Templates.OraclePoint).filter(
    ({ payload }) =>
      payload.instrumentId === claim.instrument.id &&
      payload.venue === claim.venue &&
      (claim.oracle === null || payload.oracle === claim.oracle) &&
      metrics.has(payload.metric)
  )
  if (claim.pointCid !== null) return points.find(({ contractId }) => contractId === claim.pointCid)
  const inTime = points.toSorted((left, right) =>
    Instant.compare(left.payload.valuationTime, right.payload.valuationTime)
  )
  switch (terms.pricing ?? "latest") {
    case "latest":
      return inTime.at(-1)
    case "historic":
      return inTime.findLast(({ payload }) => Instant.isBefore(payload.valuationTime, createdAt))
    case "forward": {
      const from = cutOffAfter(terms, createdAt)
      return inTime.find(({ payload }) => Instant.atOrAfter(payload.valuationTime, from))
    }
  }
}

/** A week, and a day on either side for zones whose clock jumps over a midnight. */
const daysLookedAt = 9

/** The cut-off next after the claim, on one of its days in its own zone. */
const cutOffAfter = ({ cutOff }: Terms, claimedAt: Instant.Instant): Instant.Instant => {
  if (cutOff === undefined) return claimedAt
  const { zone, time, days } = cutOff
  let date = Date.previous(Zone.dateAt(zone, claimedAt))
  for (let looked = 0; looked < daysLookedAt; looked++, date = Date.next(date)) {
    if (!days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(zone, { date, time })
    if (Instant.isAfter(at, claimedAt)) return at
  }
  throw new Error("a cut-off names at least one day of the week")
}
