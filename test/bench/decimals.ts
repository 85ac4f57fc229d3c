/** Multiply two figures and round to cents: our decimals against the ones people use. */
import { Decimal } from "@bursar/engine-core/kernel"
import Big from "big.js"
import { BigNumber } from "bignumber.js"
import { Decimal as DecimalJs } from "decimal.js"
import { BigDecimal, Effect } from "effect"
import { type Bench, computing, inTurns, type Row } from "./measure.ts"

/** Figures of the golden vectors: units and balances by prices, rates and factors. */
const figures = [
  ["95812.973076", "1.0437"],
  ["963751533.51", "0.000096553"],
  ["12345.678901", "1.0481"],
  ["1234.567891", "0.995"]
] as const

const products = <A>(read: (text: string) => A, multiply: (a: A, b: A) => unknown) => {
  const pairs = figures.map(([a, b]) => [read(a), read(b)] as const)
  return (times: number): unknown => {
    let product: unknown
    for (let i = 0; i < times; i++) {
      const pair = pairs[i & 3]
      if (pair !== undefined) product = multiply(pair[0], pair[1])
    }
    return product
  }
}

const to = { places: 2, rounding: "half-up" } as const

const ours = products(Decimal.of, (a, b) => Decimal.multiplyRounded(a, b, to))

const others = {
  "decimal.js": products(
    (text) => new DecimalJs(text),
    (a, b) => a.times(b).toDecimalPlaces(2, DecimalJs.ROUND_HALF_UP)
  ),
  "big.js": products(
    (text) => new Big(text),
    (a, b) => a.times(b).round(2, Big.roundHalfUp)
  ),
  "bignumber.js": products(
    (text) => new BigNumber(text),
    (a, b) => a.times(b).decimalPlaces(2, BigNumber.ROUND_HALF_UP)
  ),
  "effect BigDecimal": products(BigDecimal.fromStringUnsafe, (a, b) =>
    BigDecimal.round(BigDecimal.multiply(a, b), { scale: 2, mode: "half-from-zero" })
  )
}

export const bench: Bench = async ({ rounds }) => {
  DecimalJs.set({ precision: 40, rounding: DecimalJs.ROUND_HALF_UP })
  const rows: Array<Row> = []
  for (const [name, other] of Object.entries(others)) {
    const compared = await Effect.runPromise(
      inTurns({ rounds, ours: computing(ours), bound: computing(other) })
    )
    rows.push({
      bench: `decimal multiply and round, ${name}`,
      unit: "products/s",
      against: name,
      goal: null,
      ...compared
    })
  }
  const fastest = Math.max(...rows.map(({ bound }) => bound.speed.median))
  return rows.map((row) =>
    row.bound.speed.median === fastest
      ? { ...row, goal: 4, note: "the fastest of the others" }
      : row
  )
}
