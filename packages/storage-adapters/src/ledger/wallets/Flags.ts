/** Parser of command line flags, which refuses a wrong one with a sentence. */
import { parseArgs } from "node:util"
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import { Data, Result, Schema } from "effect"

/** The command line is not valid; the message has the fault. */
export class Usage extends Data.TaggedError("Usage")<{ readonly why: string }> {
  override get message(): string {
    return this.why
  }
}

const names = [
  "door",
  "token-file",
  "key-file",
  "party",
  "policy",
  "wait",
  "transport",
  "contract-id",
  "holder-id",
  "document-hash",
  "instrument",
  "instrument-admin",
  "payment-instrument",
  "payment-admin",
  "order-id",
  "subscription-id",
  "redemption-id",
  "reference",
  "line-id",
  "paid-on",
  "amount",
  "units",
  "price",
  "metric",
  "valuation-time",
  "expires-at",
  "settle-before",
  "execute-before",
  "venue",
  "fund",
  "registrar",
  "provider",
  "issuer",
  "custodian",
  "to",
  "terms",
  "prices",
  "unit-decimals",
  "cash-decimals",
  "fee-rate",
  "redemption-fee-rate",
  "pricing"
] as const
export type Name = (typeof names)[number]

export interface Flags {
  readonly words: ReadonlyArray<string>
  readonly text: (name: Name) => string | undefined
  readonly attestors: ReadonlyArray<string>
}

export const parse = (args: ReadonlyArray<string>): Result.Result<Flags, Usage> => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
        attestor: { type: "string", multiple: true }
      }
    })
    const flagValues: { readonly [name: string]: unknown } = values
    const { attestor } = flagValues
    return Result.succeed({
      words: positionals,
      text: (name) => {
        const value = flagValues[name]
        return typeof value === "string" ? value : undefined
      },
      attestors: Array.isArray(attestor) ? attestor.map(String) : []
    })
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error))
  }
}

export const usage = (why: string): Result.Result<never, Usage> => Result.fail(new Usage({ why }))

export const needed = (flags: Flags, name: Name): Result.Result<string, Usage> => {
  const text = flags.text(name)
  return text === undefined ? usage(`--${name} is missing`) : Result.succeed(text)
}

const readAs =
  <A>(parse: (text: string) => Result.Result<A, { readonly detail: string }>) =>
  (flags: Flags, name: Name): Result.Result<A, Usage> =>
    Result.flatMap(needed(flags, name), (text) =>
      Result.mapError(parse(text), ({ detail }) => new Usage({ why: `--${name}: ${detail}` }))
    )

export const party = readAs(Party.parse)
export const decimal = readAs(Decimal.parse)
export const instant = readAs(Instant.parse)

export const optional = <A>(
  flags: Flags,
  name: Name,
  read: (flags: Flags, name: Name) => Result.Result<A, Usage>
): Result.Result<A | null, Usage> =>
  flags.text(name) === undefined ? Result.succeed(null) : read(flags, name)

export const parties = (
  texts: ReadonlyArray<string>
): Result.Result<ReadonlyArray<Party.Party>, Usage> =>
  Result.all(
    texts.map((text) =>
      Result.mapError(Party.parse(text), ({ detail }) => new Usage({ why: `${text}: ${detail}` }))
    )
  )

/** Decodes a value of a file or a flag by its schema. */
export const shaped = <A>(
  schema: Schema.Codec<A, unknown>,
  value: unknown
): Result.Result<A, Usage> =>
  Result.mapError(
    Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(value),
    ({ message }) => new Usage({ why: message })
  )
