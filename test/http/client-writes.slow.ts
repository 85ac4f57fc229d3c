/**
 * The client makes every write there is: whatever a declaration takes arrives as it was given.
 *
 * Switched off one by one and seen red: the member that If-Match fills left in the body, a key sent
 * for `key: null`, the removal that is read where its answer has nothing to show.
 */
import { Catalogue, Operation } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Arbitrary, Effect, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import { bearer, open, type Venue } from "./venue.ts"

type Declared = Catalogue.DeclaredOperation

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
      .map((n) => Object.fromEntries(members.map(([name, of]) => [name, of[n % of.length]])))
      .filter(sound)
  }
  if (item !== undefined && schema.ast._tag === "Arrays") {
    const items = drawn(item, seed)
    return count.map((n) => items.slice(n, n + 1 + (n % 3))).filter(sound)
  }
  throw new Error(`nothing of ${schema.ast._tag} is drawn`)
}

const some = <A>(schema: Schema.Codec<A, unknown>, seed: string): ReadonlyArray<A> =>
  (drawn(schema as Schema.Codec<unknown, unknown>, seed) as ReadonlyArray<A>).filter(isWellFormed)

/** The write as it is declared, judged by nothing but its shape: what it is asked is what counts. */
const unjudged = (operation: Operation.Operation): Operation.Operation => {
  const { approvers, doc, ifMatch, input, kind, makers, result, route } = operation
  return Operation.define(kind, {
    doc,
    route,
    makers,
    approvers,
    ...(ifMatch === undefined ? {} : { ifMatch }),
    input,
    resource: { kind: "instrument", id: () => "any", href: () => "/v1/instruments/any" },
    result,
    refuses: [],
    // No operation runs here but one that ends in the call of its last approver.
    run: () =>
      Effect.sync(() => (Operation.finishesInCall(operation) ? some(result, kind)[0] : null))
  })
}

/** Bodies for kinds whose members must agree with each other, which random values do not. */
const agreeingBodies: Readonly<Record<string, object>> = {
  "instrument.record": { ...bodyOf(), instrumentId: "given-1" }
}

/** Inputs of a write by its own schema; what If-Match names is a text that a header can be. */
const inputsOf = (operation: Operation.Operation): ReadonlyArray<object> => {
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

let venue: Venue
let approver: Client.Client
const clientOf = (authorization: string) =>
  Client.overFetch({ baseUrl: venue.url, authorization: Effect.succeed(authorization) })

beforeAll(async () => {
  venue = await open({
    tables: { operations: Catalogue.operations.map(unjudged), queries: Catalogue.queries }
  })
  approver = clientOf(await bearer(["approver"]))
})
afterAll(() => venue.close())

const kinds = Catalogue.operations.map((operation) => [operation.kind, operation] as const)
const makerOf = async ({ makers }: Operation.Operation) =>
  clientOf(await bearer([makers[0] ?? "operator"]))
const run = Effect.runPromise

describe("every write of the table", () => {
  it.each(kinds)("%s arrives with the very members it was given", async (kind, operation) => {
    const maker = await makerOf(operation)
    const declared = Client.operation(kind as Declared["kind"])
    const inputs = inputsOf(operation)
    expect(inputs.length).toBeGreaterThan(0)
    const decode = Schema.decodeUnknownSync(operation.input)
    for (const input of inputs) {
      const written = await run(maker.write(declared as never, input as never))
      expect(decode(written.request)).toEqual(input)
    }
  })

  it.each(kinds.filter(([, { approvers }]) => approvers > 0))(
    "%s is approved by another who makes it again, by its maker's key or by none",
    async (kind, operation) => {
      const maker = await makerOf(operation)
      const declared = Client.operation(kind as Declared["kind"]) as never
      const input = inputsOf(operation).at(-1) as never
      for (const key of [null, `the-makers-${kind}`]) {
        const made = await run(maker.write(declared, input, { key }))
        const signed = await run(approver.write(declared, input, { key }))
        expect([made.state, signed.actionKey]).toEqual(["awaiting", made.actionKey])
        expect(signed.signedBy).toEqual(["approver-1"])
        if (signed.operationId === null) await run(maker.reject(made.actionKey ?? ""))
      }
    }
  )
})

describe("a write that replaces what its caller saw", () => {
  const policy = Client.operation("policy.set")
  let holderCap = 0
  const replacesOf = (written: Client.TypedWriteAnswer<unknown>) =>
    (written.request as { readonly replaces?: unknown }).replaces
  const write = async (
    terms: { readonly replaces: string | null },
    of: { readonly ifMatch?: string | null } = {}
  ) => {
    const maker = await makerOf(policy as Operation.Operation)
    // If-Match is not in a request's fingerprint: each asks for something of its own.
    const input = { instrumentId: "i-1", holderCap: ++holderCap, ...terms }
    return maker.write(policy, input as never, of)
  }

  it("says so by the member of its input, by ifMatch, or by both where they agree", async () => {
    for (const [replaces, ifMatch] of [
      ["7", undefined],
      [null, "7"],
      ["7", "7"],
      ["7", null]
    ] as const) {
      const asked = await write({ replaces }, ifMatch === undefined ? {} : { ifMatch })
      expect(replacesOf(await run(asked))).toBe("7")
    }
    expect(replacesOf(await run(await write({ replaces: null })))).toBeUndefined()
  })

  it("is not sent with two that contradict each other, nor by a write that replaces nothing", async () => {
    const maker = await makerOf(policy as Operation.Operation)
    const pause = Client.operation("instrument.pause")
    const paused = { instrumentId: "i-1", holdId: null, reason: "looked into", until: null }
    const torn = Effect.flip(await write({ replaces: "7" }, { ifMatch: "8" }))
    const vain = Effect.flip(maker.write(pause, paused, { ifMatch: "7" }))
    for (const refused of [await run(torn), await run(vain)]) {
      expect(refused).toBeInstanceOf(Client.InputInvalid)
    }
  })
})

describe("a text that JSON cannot carry", () => {
  it.each(["half of \ud800", "a NUL \0"])("is not sent as another one: %j", async (reason) => {
    const pause = Client.operation("instrument.pause")
    const maker = await makerOf(pause as Operation.Operation)
    const input = { instrumentId: "i-1", holdId: null, reason, until: null }
    expect(await run(Effect.flip(maker.write(pause, input)))).toBeInstanceOf(Client.InputInvalid)
  })
})
