/** Multiply two figures and round to cents: our decimals against the ones people use. */
import { Decimal } from "@bursar/engine-core/kernel"
import Big from "big.js"
import { BigNumber } from "bignumber.js"
import { Decimal as DecimalJs } from "decimal.js"
import { BigDecimal } from "effect"
import { compare, fastest, type Row, row } from "./measure.ts"

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
    let last: unknown
    for (let i = 0; i < times; i++) {
      const pair = pairs[i & 3]
      if (pair !== undefined) last = multiply(pair[0], pair[1])
    }
    return last
  }
}

export const bench = (): ReadonlyArray<Row> => {
  DecimalJs.set({ precision: 40, rounding: DecimalJs.ROUND_HALF_UP })
  const to = { places: 2, rounding: "half-up" } as const
  const [ours, ...others] = compare([
    { name: "bursar", run: products(Decimal.of, (a, b) => Decimal.multiplyRounded(a, b, to)) },
    {
      name: "decimal.js",
      run: products(
        (text) => new DecimalJs(text),
        (a, b) => a.times(b).toDecimalPlaces(2, DecimalJs.ROUND_HALF_UP)
      )
    },
    {
      name: "big.js",
      run: products(
        (text) => new Big(text),
        (a, b) => a.times(b).round(2, Big.roundHalfUp)
      )
    },
    {
      name: "bignumber.js",
      run: products(
        (text) => new BigNumber(text),
        (a, b) => a.times(b).decimalPlaces(2, BigNumber.ROUND_HALF_UP)
      )
    },
    {
      name: "effect BigDecimal",
      run: products(BigDecimal.fromStringUnsafe, (a, b) =>
        BigDecimal.round(BigDecimal.multiply(a, b), { scale: 2, mode: "half-from-zero" })
      )
    }
  ])
  const best = fastest(others)
  return others.map((other) =>
    row({
      bench: "decimal multiply and round",
      ours: ours?.perSecond ?? 0,
      unit: "products/s",
      against: other.name,
      theirs: other.perSecond,
      target: other === best ? 4 : null,
      ...(other === best ? { note: "the fastest of the others" } : {})
    })
  )
}
