/** Type errors that a check of reconciliation must cause; checked by `npm run types`, never run. */
import { Effect, Stream } from "effect"
import * as Decimal from "#core/kernel/Decimal.ts"
import { compare } from "#core/findings/FindingRules.ts"
import * as Check from "#core/reconciliation/checks/Check.ts"

interface Sums {
  readonly expected: Decimal.Decimal
  readonly actual: Decimal.Decimal
}

const sums: Sums = { expected: Decimal.zero, actual: Decimal.one }
const facts = () => Stream.succeed(sums)
const texts = { doc: "Compares sums.", rule: "lots-against-units", needs: "Sums.", cannot: {} }
const about = {
  instrumentId: "fund-a",
  subject: { resourceKind: "instrument", id: "fund-a" },
  holderId: null,
  unit: "units"
} as const

// A check that is whole.
Check.define("lots-holdings", {
  ...texts,
  facts,
  differences: ({ expected, actual }: Sums, tolerance) =>
    compare({ ...about, severity: "blocking", expected, actual, tolerance })
})

Check.define("lots-holdings", {
  ...texts,
  facts,
  // @ts-expect-error a comparison returns values, never an Effect
  differences: (_: Sums) => Effect.succeed([])
})

Check.define("lots-holdings", {
  ...texts,
  facts,
  // @ts-expect-error the row of the check has no warning
  differences: ({ expected, actual }: Sums, tolerance) =>
    compare({ ...about, severity: "warning", expected, actual, tolerance })
})

// @ts-expect-error a check that warns and blocks says when it blocks
Check.define("nav-price", { ...texts, facts, differences: () => [] })

// @ts-expect-error a check that derives its tolerance says how
Check.define("nav-movement", { ...texts, facts, differences: () => [] })

// @ts-expect-error the table has no such check
Check.define("lots-of-holdings", { ...texts, facts, differences: () => [] })
