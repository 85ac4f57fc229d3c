/** Bot of an oracle: publishes and corrects the points of a price file, and prices redemptions. */
import { Decimal, Instant, Month, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as Policy from "./Policy.ts"
import * as Pricing from "./Pricing.ts"
import * as World from "./World.ts"

/** One line of a price file. */
export const Quote = Schema.Struct({
  instrumentId: Schema.String,
  /** `price` by default. */
  metric: Schema.optionalKey(Schema.Literals(["price", "index", "income"])),
  value: Decimal.text,
  valuationTime: Instant.schema,
  period: Schema.optionalKey(Month.schema),
  withholdingRate: Schema.optionalKey(Decimal.text),
  statementRef: Schema.optionalKey(Schema.String)
})
export type Quote = typeof Quote.Type

/** Readers of an oracle's points of an instrument. */
export interface Audience {
  readonly venue: Party.Party
  readonly fund: Party.Party
  readonly registrar: Party.Party
  readonly attestors: ReadonlyArray<Party.Party>
}

/** Options of an oracle's program. */
export interface Options {
  /** Evaluated each time, because the file may have grown. */
  readonly quotes: () => ReadonlyArray<Quote>
  /** Parties that see the price points of instruments without a market that names this oracle. */
  readonly audience?: Audience
  /** Terms by which the oracle prices redemptions; redemptions of other instruments wait. */
  readonly instruments?: ReadonlyArray<Pricing.Terms>
  /** Redemptions that the oracle prices; all by default. */
  readonly policy?: Policy.Policy
}

type PublishedPoint = Templates.Payload<typeof Templates.OraclePoint>

/** Plan of an oracle: it publishes its points as they come. */
export const plan =
  (options: Options): World.Plan =>
  (world) => [...points(options)(world), ...redemptions(options)(world)]

const points =
  ({ quotes, audience }: Pick<Options, "quotes" | "audience">): World.Plan =>
  (world) => {
    const published = World.find(world, Templates.OraclePoint).filter(
      ({ payload }) => payload.oracle === world.party
    )
    return latest(quotes()).flatMap((quote) => {
      const before = published.find(({ payload }) => isSame(payload, quote))
      if (before === undefined) {
        const seenBy = audienceOf(world, quote.instrumentId) ?? audience
        return seenBy === undefined ? [] : [publish(world.party, quote, seenBy)]
      }
      return Decimal.equals(before.payload.value, quote.value) ? [] : [correct(before, quote)]
    })
  }

const metricOf = ({ metric }: Quote): string => metric ?? "price"

const isSame = (point: PublishedPoint, quote: Quote): boolean =>
  point.instrumentId === quote.instrumentId &&
  point.metric === metricOf(quote) &&
  Instant.equals(point.valuationTime, quote.valuationTime)

const keyOf = (quote: Quote): string =>
  `${quote.instrumentId}:${metricOf(quote)}:${Instant.format(quote.valuationTime)}`

/** A later line of the same instrument, metric and time replaces an earlier one. */
const latest = (quotes: ReadonlyArray<Quote>): ReadonlyArray<Quote> => [
  ...new Map(quotes.map((quote) => [keyOf(quote), quote])).values()
]

/** Readers of the oracle's points, as the market with this oracle names them. */
const audienceOf = (world: World.World, instrumentId: string): Audience | undefined =>
  World.find(world, Templates.PrimaryMarket)
    .map(({ payload }) => payload)
    .filter(({ instrument, oracle }) => instrument.id === instrumentId && oracle === world.party)
    // An expired market still names its readers, where it has no successor.
    .toSorted((a, b) => Number(isPast(world, a)) - Number(isPast(world, b)))[0]

const isPast = (
  { now }: World.World,
  { until }: Templates.Payload<typeof Templates.PrimaryMarket>
): boolean => until !== null && now >= until

const priceFieldsOf = (quote: Quote) => ({
  value: quote.value,
  valuationTime: quote.valuationTime,
  period: quote.period ?? null,
  withholdingRate: quote.withholdingRate ?? null,
  statementRef: quote.statementRef ?? null
})

const detailsOf = (quote: Quote) => ({
  instrumentId: quote.instrumentId,
  metric: metricOf(quote),
  value: Decimal.formatPlain(quote.value),
  valuationTime: Instant.format(quote.valuationTime)
})

const publish = (oracle: Party.Party, quote: Quote, seenBy: Audience): World.Act => {
  const { venue, fund, registrar, attestors } = seenBy
  return {
    name: "publish",
    about: quote.instrumentId,
    change: {
      commandId: `publish:${keyOf(quote)}`,
      commands: [
        Templates.create(Templates.OraclePoint, {
          oracle,
          venue,
          fund,
          registrar,
          attestors,
          instrumentId: quote.instrumentId,
          metric: metricOf(quote),
          ...priceFieldsOf(quote),
          corrects: null
        })
      ]
    },
    details: detailsOf(quote)
  }
}

const correct = (
  before: World.FoundContract<typeof Templates.OraclePoint>,
  quote: Quote
): World.Act =>
  World.answer(
    "correct",
    { template: Templates.OraclePoint, contractId: before.contractId, choice: "Correct" },
    priceFieldsOf(quote),
    detailsOf(quote)
  )

/** Prices redemptions of its instruments, each at the point that the instrument's rule selects. */
export const redemptions =
  ({ instruments = [], policy = Policy.acceptAll }: Omit<Options, "quotes">): World.Plan =>
  (world) =>
    World.find(world, Templates.RedemptionClaim).flatMap((claim) => {
      const { contractId, payload, createdAt } = claim
      const { redemptionId, instrument } = payload
      const terms = instruments.find(({ instrumentId }) => instrumentId === instrument.id)
      if (terms === undefined || payload.oracle !== world.party) return []
      if (Policy.judge(policy, [contractId, redemptionId, instrument.id]) !== "accept") return []
      const claimed = { ...payload, pointCid: null, claimedAt: createdAt }
      const point = Pricing.pointFor(world, claimed, terms)
      const price = point && Pricing.priceOf(point, terms)
      if (point === undefined || !price) return []
      const order = {
        units: payload.orderedUnits,
        amount: payload.orderedAmount,
        free: payload.freeUnits ?? null
      }
      const figures = Pricing.soldBy(order, { point, price, terms })
      if (figures === null || !isPaying(figures)) return []
      const { units, proceeds } = figures
      const details = { units: Decimal.formatPlain(units), proceeds: Decimal.formatPlain(proceeds) }
      return [
        World.answer(
          "price-redemption",
          { template: Templates.RedemptionClaim, contractId, choice: "Price" },
          { pointCid: point.contractId, price, ...figures },
          { redemptionId, price: Decimal.formatPlain(price), ...details }
        )
      ]
    })

/** Checks that an order burns something and pays something: the ledger takes no other. */
const isPaying = (figures: NonNullable<ReturnType<typeof Pricing.soldBy>>): boolean =>
  Decimal.isPositive(figures.units) && Decimal.isPositive(figures.proceeds)
