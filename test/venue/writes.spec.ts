/** Writes of a venue's people: made, repeated, approved, rejected, awaited, refused. */
import { Engine } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as FiguredToys from "../engine/figured-toys.ts"
import { world } from "../engine/world.ts"
import { people, run, terms } from "./market.ts"

describe("a write of two people", () => {
  it("awaits the second, and then has its result by the type of its kind", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive } = yield* people
        const action = yield* olive.write("instrument.record", terms)
        expect(action).toMatchObject({ state: "awaiting", maker: "olive", result: null })
        yield* anna.approve(action)
        const { result, signedBy, state } = yield* olive.done(action)
        expect(state).toBe("succeeded")
        expect(signedBy).toEqual(["anna"])
        expect(result.instrumentId).toBe("elf")
        expect(result.distribution?.withholding).toBe(Decimal.of("0.15"))
        const shown = yield* olive.read("instruments.get", { instrumentId: "elf" })
        expect(shown.instrumentId).toBe("elf")
      })
    ))

  it("is never waited for as long as nobody has signed it", () =>
    run(
      Effect.gen(function* () {
        const { olive } = yield* people
        const action = yield* olive.write("instrument.record", terms)
        const refused = yield* Effect.flip(olive.done(action))
        expect(refused).toMatchObject({
          slug: "state-conflict",
          details: { recovery: expect.stringContaining("One approver other than the maker") }
        })
      })
    ))

  it("never runs once it is rejected, and says so to whoever awaits it", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive } = yield* people
        const action = yield* olive.write("instrument.record", terms)
        const rejected = yield* anna.reject(action, { reason: "not this year" })
        expect(rejected.state).toBe("rejected")
        expect((yield* Effect.flip(olive.done(action))).slug).toBe("approval-rejected")
        expect((yield* Effect.flip(anna.approve(action))).slug).toBe("approval-rejected")
      })
    ))

  it("is withdrawn by its maker alone", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive } = yield* people
        const action = yield* olive.write("instrument.record", terms)
        expect((yield* Effect.flip(anna.withdraw(action))).slug).toBe("permission-denied")
        expect((yield* olive.withdraw(action)).state).toBe("rejected")
      })
    ))

  it("is never signed by its maker", () =>
    run(
      Effect.gen(function* () {
        const { venue } = yield* people
        const both = venue.as({ sub: "both", roles: ["operator", "approver"] })
        const action = yield* both.write("instrument.record", terms)
        expect((yield* Effect.flip(both.approve(action))).slug).toBe("same-approver")
      })
    ))
})

describe("a write under a key", () => {
  it("is made once, however often it is called", () =>
    run(
      Effect.gen(function* () {
        const { olive } = yield* people
        const first = yield* olive.write("instrument.record", terms, { key: "k-1" })
        const again = yield* olive.write("instrument.record", terms, { key: "k-1" })
        expect(again.actionKey).toBe(first.actionKey)
        const other = { ...terms, instrumentId: "other" }
        const refused = yield* Effect.flip(olive.write("instrument.record", other, { key: "k-1" }))
        expect(refused.slug).toBe("idempotency-key-reused")
      })
    ))
})

describe("a write that is refused", () => {
  it("says by its slug why, at the call", () =>
    run(
      Effect.gen(function* () {
        const { olive } = yield* people
        const refused = yield* Effect.flip(
          olive.write("subscription.claim", {
            instrumentId: "none",
            holderId: "h-1",
            amount: "100"
          })
        )
        expect(refused.slug).toBe("not-found")
      })
    ))

  it("fails for whoever awaits it with what its operation ended by", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive, oscar } = yield* people
        // Both are judged before either has run: the second finds the id taken only as it runs.
        const first = yield* olive.write("instrument.record", terms)
        const second = yield* oscar.write("instrument.record", { ...terms, holderCap: 7 })
        yield* anna.approve(first)
        yield* anna.approve(second)
        yield* olive.done(first)
        const refused = yield* Effect.flip(oscar.done(second))
        expect(refused.slug).toBe("already-exists")
      })
    ))

  it("points at each member that is wrong, as a request's body has it", () =>
    run(
      Effect.gen(function* () {
        const { olive } = yield* people
        const wrong = { ...terms, fees: { subscription: "a half", redemption: "0" } }
        const refused = yield* Effect.flip(olive.write("instrument.record", wrong))
        expect(refused).toMatchObject({
          slug: "invalid-request",
          details: { errors: [{ pointer: "/body/fees/subscription" }] }
        })
      })
    ))
})

describe("figures that moved", () => {
  it("are signed by nobody who has not read them", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { anna, olive } = yield* people
        yield* FiguredToys.movePrice(1)
        // The kind of the toy is one of the vocabulary's; its body is the toy's own.
        const body = { counterId: FiguredToys.priceId, by: 2 } as never
        const action = yield* olive.write(FiguredToys.exact.kind, body)
        expect(action.figures).not.toBeNull()
        yield* FiguredToys.movePrice(5)
        const refused = yield* Effect.flip(anna.approve(action))
        expect(refused).toMatchObject({
          slug: "rule-refused",
          details: { gate: "four-eyes", check: "figures-moved" }
        })
        // The action awaits with the new figures: whoever still holds the old ones signs nothing.
        expect((yield* Effect.flip(anna.approve(action))).slug).toBe("rule-refused")
      }).pipe(Effect.provide(world({ operations: [FiguredToys.exact] })))
    ))
})

describe("a caller or a word that is none", () => {
  it("is refused by a sentence with the nearest word", () =>
    run(
      Effect.gen(function* () {
        const { venue, olive, nobody } = yield* people
        const clam = "subscription.clam" as "subscription.claim"
        expect(yield* Effect.flip(olive.write(clam, {} as never))).toMatchObject({
          slug: "not-found",
          details: {
            detail: 'There is no write "subscription.clam"; the nearest is "subscription.claim".'
          }
        })
        const holder = "holder.get" as "holders.get"
        expect(yield* Effect.flip(olive.read(holder, { holderId: "h" }))).toMatchObject({
          slug: "not-found",
          details: { detail: 'There is no read "holder.get"; the nearest is "holders.get".' }
        })
        const far = "zzz" as "holders.get"
        expect(yield* Effect.flip(olive.read(far, { holderId: "h" }))).toMatchObject({
          details: { detail: 'There is no read "zzz".' }
        })
        for (const refused of [
          yield* Effect.flip(nobody.write("instrument.record", terms)),
          yield* Effect.flip(nobody.read("instruments.get", { instrumentId: "elf" })),
          yield* Effect.flip(nobody.list("instruments.list"))
        ]) {
          expect(refused).toMatchObject({
            slug: "permission-denied",
            details: { detail: expect.stringContaining("nobody has no role") }
          })
        }
        const misspelt = venue.as({ sub: "olive", roles: ["operater" as "operator"] })
        expect(yield* Effect.flip(misspelt.write("instrument.record", terms))).toMatchObject({
          slug: "permission-denied",
          details: { detail: 'There is no role "operater"; the nearest is "operator".' }
        })
      })
    ))
})

describe("the engine's work", () => {
  it("is never driven by a caller who waits while it runs in the background", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive } = yield* people
        const action = yield* olive.write("instrument.record", terms)
        yield* anna.approve(action)
        yield* olive.done(action)
        const driven = { run: Effect.never, settle: Effect.die(new Error("driven")) }
        const served = yield* Effect.provideService(people, Engine.Engine, driven)
        yield* Effect.forkScoped(served.venue.run, { startImmediately: true })
        expect((yield* served.olive.done(action)).state).toBe("succeeded")
      }).pipe(Effect.scoped)
    ))

  it("is waited for where it runs in the background", () =>
    run(
      Effect.gen(function* () {
        const { anna, olive, venue } = yield* people
        yield* Effect.forkScoped(venue.run)
        const action = yield* olive.write("instrument.record", terms)
        yield* anna.approve(action)
        expect((yield* olive.done(action)).state).toBe("succeeded")
      }).pipe(Effect.scoped)
    ))
})
