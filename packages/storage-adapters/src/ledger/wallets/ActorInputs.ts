/** Inputs of an actor from its command line and files: policy, instruments' terms, prices. */
import { readFileSync } from "node:fs"
import { JsonText } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as Deliveries from "./Deliveries.ts"
import type { ParsedFlags } from "./Duty.ts"
import * as Flags from "./Flags.ts"
import * as OracleBot from "./OracleBot.ts"
import * as Policy from "./Policy.ts"
import * as Pricing from "./Pricing.ts"

/** Schema of a policy file: consents, and terms that are not on the ledger. */
const File = Schema.Struct({
  ...Policy.Policy.fields,
  instruments: Schema.optionalKey(Schema.Unknown),
  terms: Schema.optionalKey(Schema.String),
  payments: Schema.optionalKey(Deliveries.Payments)
})

export const file = (flags: Flags.Flags): ParsedFlags<typeof File.Type> => {
  const path = flags.text("policy")
  return path === undefined
    ? Result.succeed({})
    : Result.flatMap(json(path), (content) => Flags.shaped(File, content))
}

const json = (path: string): ParsedFlags<unknown> =>
  Result.flatMap(textOf(path), (text) =>
    Result.match(JsonText.parse(text), {
      onSuccess: Result.succeed,
      onFailure: ({ message }) => Flags.usage(`${path}: ${message}`)
    })
  )

const textOf = (path: string): ParsedFlags<string> => {
  try {
    return Result.succeed(readFileSync(path, "utf8"))
  } catch (error) {
    return Flags.usage(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Policy and instrument terms of an actor that prices orders. */
interface Terms {
  readonly policy: Policy.Policy
  readonly instruments: ReadonlyArray<Pricing.Terms>
}

export const terms = (flags: Flags.Flags): ParsedFlags<Terms> =>
  Result.gen(function* () {
    const { instruments = [], ...policy } = yield* file(flags)
    const listed = yield* Flags.shaped(Schema.Array(Pricing.Terms), instruments)
    const flagged = yield* termsOf(flags)
    return { policy, instruments: flagged === null ? listed : [...listed, flagged] }
  })

/**
 * Reads the file at every evaluation of the plan: a new price takes effect, and an incomplete file
 * is read at the next.
 */
const atEveryLook = <A>(read: () => ParsedFlags<A>): ParsedFlags<() => A> =>
  Result.map(read(), (first) => {
    let last = first
    return () => {
      last = Result.getOrElse(read(), () => last)
      return last
    }
  })

export const termsAtEveryLook = (flags: Flags.Flags): ParsedFlags<() => Terms> =>
  atEveryLook(() => terms(flags))

/** Reads the payments of a registrar's file at every evaluation of the plan. */
export const paymentsAtEveryLook = (flags: Flags.Flags): ParsedFlags<() => Deliveries.Payments> =>
  atEveryLook(() => Result.map(file(flags), ({ payments }) => payments ?? []))

const termsOf = (flags: Flags.Flags): ParsedFlags<Pricing.Terms | null> => {
  const instrumentId = flags.text("instrument")
  if (instrumentId === undefined) return Result.succeed(null)
  const flagValues = {
    instrumentId,
    unitDecimals: numberOf(flags.text("unit-decimals")),
    cashDecimals: numberOf(flags.text("cash-decimals")),
    feeRate: flags.text("fee-rate"),
    redemptionFeeRate: flags.text("redemption-fee-rate"),
    pricing: flags.text("pricing")
  }
  return Flags.shaped(
    Pricing.Terms,
    Object.fromEntries(Object.entries(flagValues).filter(([, value]) => value !== undefined))
  )
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)

/** Parses a price file: one JSON object a line. */
export const quotesOf = (path: string): ParsedFlags<ReadonlyArray<OracleBot.Quote>> =>
  Result.gen(function* () {
    const quotes: Array<unknown> = []
    for (const [index, line] of (yield* textOf(path)).split("\n").entries()) {
      if (line.trim() === "") continue
      const quote = JsonText.parse(line)
      if (Result.isFailure(quote)) {
        return yield* Flags.usage(`${path}, line ${index + 1}: ${quote.failure.message}`)
      }
      quotes.push(quote.success)
    }
    return yield* Flags.shaped(Schema.Array(OracleBot.Quote), quotes)
  })

export const audienceOf = (
  flags: Flags.Flags
): ParsedFlags<{ readonly audience?: OracleBot.Audience }> =>
  Result.gen(function* () {
    if (flags.text("venue") === undefined) return {}
    return {
      audience: {
        venue: yield* Flags.party(flags, "venue"),
        fund: yield* Flags.party(flags, "fund"),
        registrar: yield* Flags.party(flags, "registrar"),
        attestors: yield* Flags.parties(flags.attestors)
      }
    }
  })
