/**
 * The client makes every write there is: whatever a declaration takes arrives as it was given.
 *
 * Switched off one by one and seen red: the member that If-Match fills left in the body, a key sent
 * for `key: null`, the removal that is read where its answer has nothing to show.
 */
import { Catalogue, Operation } from "@bursar/engine-core"
import * as Client from "@bursar/http-host/client"
import { Effect, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { inputsOf, some } from "../vocabulary/inputs.ts"
import { bearer, open, type Venue } from "./venue.ts"

type Declared = Catalogue.DeclaredOperation

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
    options: { readonly ifMatch?: string | null } = {}
  ) => {
    const maker = await makerOf(policy as Operation.Operation)
    // If-Match is not in a request's fingerprint: each asks for something of its own.
    const input = { instrumentId: "i-1", holderCap: ++holderCap, ...terms }
    return maker.write(policy, input as never, options)
  }

  it("says so by the member of its input, by ifMatch, or by both where they agree", async () => {
    for (const [replaces, ifMatch] of [
      ["7", undefined],
      [null, "7"],
      ["7", "7"],
      ["7", null]
    ] as const) {
      const call = await write({ replaces }, ifMatch === undefined ? {} : { ifMatch })
      expect(replacesOf(await run(call))).toBe("7")
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
