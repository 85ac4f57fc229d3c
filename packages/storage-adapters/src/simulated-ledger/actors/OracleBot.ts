/** The oracle's program: publishes the points of a price file, and corrects what the file corrects. */
import { Decimal, Instant, Month, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as World from "./World.ts"

/** One line of a price file. */
export const Quote = Schema.Struct({
  instrumentId: Schema.String,
  /** `price` where nothing is said; also `index` or `income`. */
  metric: Schema.optionalKey(Schema.Literals(["price", "index", "income"])),
  value: Decimal.text,
  valuationTime: Instant.schema,
  period: Schema.optionalKey(Month.schema),
  withholdingRate: Schema.optionalKey(Decimal.text),
  statementRef: Schema.optionalKey(Schema.String)
})
export type Quote = typeof Quote.Type

/** Who gets to see an oracle's points of an instrument. */
export interface Audience {
  readonly venue: Party.Party
  readonly fund: Party.Party
  readonly registrar: Party.Party
  readonly attestors: ReadonlyArray<Party.Party>
}

export interface Options {
  /** Asked at every look: a file may have grown. */
  readonly quotes: () => ReadonlyArray<Quote>
  /** For instruments without a market that names this oracle. */
  readonly audience?: Audience
}

type Published = Templates.Payload<typeof Templates.OraclePoint>

export const plan =
  ({ quotes, audience }: Options): World.Plan =>
  (world) => {
    const points = World.find(world, Templates.OraclePoint).filter(
      ({ payload }) => payload.oracle === world.party
    )
    return latest(quotes()).flatMap((quote) => {
      const before = points.find(({ payload }) => isSame(payload, quote))
      if (before === undefined) {
        const seenBy = audienceOf(world, quote.instrumentId) ?? audience
        return seenBy === undefined ? [] : [publish(world.party, quote, seenBy)]
      }
      return Decimal.equals(before.payload.value, quote.value) ? [] : [correct(before, quote)]
    })
  }

const metricOf = ({ metric }: Quote): string => metric ?? "price"

const isSame = (point: Published, quote: Quote): boolean =>
  point.instrumentId === quote.instrumentId &&
  point.metric === metricOf(quote) &&
  Instant.equals(point.valuationTime, quote.valuationTime)

const keyOf = (quote: Quote): string =>
  `${quote.instrumentId}:${metricOf(quote)}:${Instant.format(quote.valuationTime)}`

/** A later line about the same instrument, metric and time replaces an earlier one. */
const latest = (quotes: ReadonlyArray<Quote>): ReadonlyArray<Quote> => [
  ...new Map(quotes.map((quote) => [keyOf(quote), quote])).values()
]

/** The market that names this oracle says who reads its points. */
const audienceOf = (world: World.World, instrumentId: string): Audience | undefined =>
  World.find(world, Templates.PrimaryMarket).find(
    ({ payload }) => payload.instrument.id === instrumentId && payload.oracle === world.party
  )?.payload

const stated = (quote: Quote) => ({
  value: quote.value,
  valuationTime: quote.valuationTime,
  period: quote.period ?? null,
  withholdingRate: quote.withholdingRate ?? null,
  statementRef: quote.statementRef ?? null
})

const told = (quote: Quote) => ({
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
          ...stated(quote),
          corrects: null
        })
      ]
    },
    told: told(quote)
  }
}

const correct = (before: World.Found<typeof Templates.OraclePoint>, quote: Quote): World.Act =>
  World.answer(
    "correct",
    { template: Templates.OraclePoint, contractId: before.contractId, choice: "Correct" },
    stated(quote),
    told(quote)
  )
