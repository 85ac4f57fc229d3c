/** Values of a venue's calls as an inspector prints them: a decimal as a decimal, an instant as a text. */
import { inspect } from "node:util"
import { Decimal } from "@bursar/engine-core/kernel"
import { Venue } from "@bursar/storage-adapters/venue"
import { describe, expect, it } from "vitest"
import { people, run, terms } from "./market.ts"
import { Effect, Stream } from "effect"

const fees = { subscription: "0.0025", redemption: "0" }
const withFees = { ...terms, fees }

const recorded = Effect.gen(function* () {
  const { anna, olive } = yield* people
  const action = yield* olive.write("instrument.record", withFees)
  yield* anna.approve(action)
  return { done: yield* olive.done(action), olive }
})

describe("a value of a venue", () => {
  it("never prints a decimal or an instant as the integer that it is in memory", () =>
    run(
      Effect.gen(function* () {
        const { done, olive } = yield* recorded
        const value = yield* olive.read("instruments.get", { instrumentId: "elf" })
        const page = yield* olive.list("instruments.list")
        const streamed = yield* Stream.runCollect(olive.list("instruments.list").stream)
        const printed = [done, done.result, value, page.value, page.value[0], streamed[0]]
        for (const text of printed.map((each) => inspect(each, { depth: 9 }))) {
          expect(text).toContain("0.0025")
          expect(text).toMatch(/createdAt: '\d{4}-\d\d-\d\dT/)
          expect(text).not.toMatch(/\d+n\b/)
        }
      })
    ))

  it("is the value that it was, with its decimals, and shows no member more", () =>
    run(
      Effect.gen(function* () {
        const { done, olive } = yield* recorded
        const value = yield* olive.read("instruments.get", { instrumentId: "elf" })
        expect(Object.keys(done.result)).toEqual(
          Object.keys(value).filter((name) => name in done.result)
        )
        expect(value.fees?.subscription).toBe(Decimal.of("0.0025"))
        expect(Object.getOwnPropertySymbols({ ...value })).toEqual([])
      })
    ))

  it("prints so in a venue of promises", async () => {
    await using venue = await Venue.open(Venue.memory())
    const olive = venue.as({ sub: "olive", roles: ["operator"] })
    const anna = venue.as({ sub: "anna", roles: ["approver"] })
    const action = await olive.write("instrument.record", withFees)
    expect(inspect(action)).toContain("state: 'awaiting'")
    await anna.approve(action)
    const { result } = await olive.done(action)
    expect(inspect(result, { depth: 9 })).toContain("subscription: 0.0025")
    for await (const each of olive.list("instruments.list")) {
      expect(inspect(each, { depth: 9 })).toContain("subscription: 0.0025")
    }
  })
})
