/** A venue of promises: values, async iterators, errors that are thrown, and a venue that closes. */
import { Venue } from "@bursar/engine-core"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { layer, terms } from "./market.ts"

const collected = async <A>(iterable: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const each of iterable) found.push(each)
  return found
}

describe("an open venue", () => {
  it("makes, approves and awaits a write, and reads what it made", async () => {
    await using venue = await Venue.open(layer)
    const olive = venue.as({ sub: "olive", roles: ["operator"] })
    const anna = venue.as({ sub: "anna", roles: ["approver"] })
    const action = await olive.write("instrument.record", terms)
    await anna.approve(action)
    const { result } = await olive.done(action)
    expect(result.instrumentId).toBe("elf")
    expect((await olive.read("instruments.get", { instrumentId: "elf" })).legalName).toBeNull()
    const page = await olive.list("instruments.list")
    expect(page.value).toHaveLength(1)
    const all = await collected(olive.list("instruments.list"))
    expect(all.map(({ instrumentId }) => instrumentId)).toEqual(["elf"])
    const events = await collected(olive.feed({ until: "now" }))
    expect(events.map(({ type }) => type)).toContain("approval.approved")
    const register = olive.read("instruments.register", { instrumentId: "elf" })
    expect(await collected(register.rows)).toEqual([])
    expect((await collected(register.csv)).join("")).toContain("holderId")
    expect((await register.answer()).offset).toBe(0)
  })

  it("throws a refusal as an error that says what its value says", async () => {
    await using venue = await Venue.open(layer)
    const olive = venue.as({ sub: "olive", roles: ["operator"] })
    const thrown = await olive
      .write("instrument.record", { ...terms, fees: { subscription: "2", redemption: "0" } })
      .catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Venue.Refused)
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown).toMatchObject({
      name: "Refused",
      slug: "invalid-request",
      status: 400,
      retryable: false,
      check: null,
      recovery: null,
      pointer: "/body/fees/subscription"
    })
    const action = await olive.write("instrument.record", terms)
    await expect(olive.done(action)).rejects.toMatchObject({
      slug: "state-conflict",
      status: 409,
      recovery: expect.stringContaining("One approver")
    })
    const listing = olive.list("operations.list", { limit: 0 })
    await expect(listing).rejects.toMatchObject({ pointer: "/query/limit" })
    await expect(collected(listing)).rejects.toBeInstanceOf(Venue.Refused)
  })

  it("works in the background once it runs, and stops as it is closed", async () => {
    const closed: Array<string> = []
    const watched = Layer.effectDiscard(
      Effect.addFinalizer(() => Effect.sync(() => closed.push("closed")))
    )
    const venue = await Venue.open(Layer.mergeAll(layer, watched))
    venue.run()
    const olive = venue.as({ sub: "olive", roles: ["operator"] })
    const anna = venue.as({ sub: "anna", roles: ["approver"] })
    const action = await olive.write("instrument.record", terms)
    await anna.approve(action)
    expect((await olive.done(action)).state).toBe("succeeded")
    expect(closed).toEqual([])
    await venue.close()
    expect(closed).toEqual(["closed"])
  })
})
