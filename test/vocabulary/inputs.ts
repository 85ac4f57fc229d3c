/** Random inputs of declared writes and reads, the same in each run. */
import type { Operation } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { Arbitrary, Effect, Schema } from "effect"
import { bodyOf } from "../operations/instrumentBody.ts"

/** Chance also makes NUL and halves of a character, which no text on the wire has. */
const isWellFormed = (value: unknown): boolean =>
  typeof value === "string"
    ? value.isWellFormed() && !value.includes("\0")
    : typeof value !== "object" || value === null || Object.values(value).every(isWellFormed)

const samplesMax = 10

interface Composite {
  readonly fields?: Readonly<Record<string, Schema.Codec<unknown, unknown>>>
  readonly schema?: Schema.Codec<unknown, unknown>
}

/**
 * Random values that a schema takes, the same for a seed every time. A body of many figures, each in a
 * range of its own, is hardly ever drawn at once: then its members, and the items of its lists, are
 * drawn by themselves, and what they make is kept where the whole is taken.
 */
const drawn = (schema: Schema.Codec<unknown, unknown>, seed: string): ReadonlyArray<unknown> =>
  Effect.runSync(
    Arbitrary.sampleEffect(Arbitrary.schema(schema), {
      count: samplesMax,
      size: 4,
      seed,
      maxDiscards: 2_000
    }).pipe(Effect.catchTag("SampleError", () => Effect.sync(() => composed(schema, seed))))
  )

const composed = (schema: Schema.Codec<unknown, unknown>, seed: string): ReadonlyArray<unknown> => {
  const { fields, schema: item } = schema as Composite
  const count = Array.from({ length: samplesMax }, (_, n) => n)
  const sound = Schema.is(schema)
  if (fields !== undefined) {
    const members = Object.entries(fields).map(
      ([name, field]) => [name, drawn(field, `${seed} ${name}`)] as const
    )
    return count
      .map((n) =>
        Object.fromEntries(members.map(([name, values]) => [name, values[n % values.length]]))
      )
      .filter(sound)
  }
  if (item !== undefined && schema.ast._tag === "Arrays") {
    const items = drawn(item, seed)
    return count.map((n) => items.slice(n, n + 1 + (n % 3))).filter(sound)
  }
  throw new Error(`nothing of ${schema.ast._tag} is drawn`)
}

/** Random values that a schema takes, of texts that the wire can carry. */
export const some = <A>(schema: Schema.Codec<A, unknown>, seed: string): ReadonlyArray<A> =>
  (drawn(schema as Schema.Codec<unknown, unknown>, seed) as ReadonlyArray<A>).filter(isWellFormed)

/** Bodies for kinds whose members must agree with each other, which random values do not. */
const agreeingBodies: Readonly<Record<string, object>> = {
  "instrument.record": { ...bodyOf(), instrumentId: "given-1" }
}

/** Inputs of a write by its own schema; what If-Match names is a text that a header can be. */
export const inputsOf = (operation: Operation.Operation): ReadonlyArray<object> => {
  const { ifMatch: member, input, kind } = operation
  const one = agreeingBodies[kind]
  if (one !== undefined) {
    const json = PlainJson.parseTrusted(JSON.stringify(one))
    return [Schema.decodeUnknownSync(input)(json) as object]
  }
  return some(input, kind).map((value, nth) => ({
    ...(value as object),
    ...(member === undefined ? {} : { [member]: `seen-${nth}` })
  }))
}
