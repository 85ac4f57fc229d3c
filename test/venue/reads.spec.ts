/** Reads of a venue's people: values, points of the past, lists, tables and the feed. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { people, run, terms } from "./market.ts"

const ids = ["elf-1", "elf-2", "elf-3"]

/** Records three instruments, one after another. */
const recorded = Effect.gen(function* () {
  const { anna, olive } = yield* people
  for (const instrumentId of ids) {
    const action = yield* olive.write("instrument.record", { ...terms, instrumentId })
    yield* anna.approve(action)
    yield* olive.done(action)
  }
  return olive
})

describe("a list", () => {
  it("is a page, the next page by its cursor, and all records as a stream", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const first = yield* olive.list("instruments.list", { limit: 2 })
        expect(first.value.map(({ instrumentId }) => instrumentId)).toEqual(ids.slice(0, 2))
        const last = yield* olive.list("instruments.list", {
          limit: 2,
          ...(first.next === null ? {} : { after: first.next })
        })
        expect(last.value.map(({ instrumentId }) => instrumentId)).toEqual(ids.slice(2))
        expect(last.next).toBeNull()
        const all = yield* Stream.runCollect(olive.list("instruments.list").stream)
        expect(all.map(({ instrumentId }) => instrumentId)).toEqual(ids)
      })
    ))

  it("takes the filters of its query, and refuses a word that is none of theirs", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const where = { kind: ["instrument.record"], state: ["succeeded"] } as const
        expect((yield* olive.list("operations.list", { where })).value).toHaveLength(3)
        const wrong = { state: ["done"] } as unknown as typeof where
        expect(yield* Effect.flip(olive.list("operations.list", { where: wrong }))).toMatchObject({
          slug: "invalid-request",
          details: { errors: [{ pointer: "/query/state/0" }] }
        })
      })
    ))

  it("refuses a page, a window and a point that it does not have", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        for (const [options, pointer] of [
          [{ limit: 0 }, "/query/limit"],
          [{ limit: 1001 }, "/query/limit"],
          [{ updatedFrom: "2026-01-01T00:00:00Z" }, "/query/updatedFrom"],
          [{ at: 0 }, "/query/at"],
          [{ asOf: "yesterday" }, "/query/asOf"]
        ] as const) {
          expect(yield* Effect.flip(olive.list("operations.list", options))).toMatchObject({
            slug: "invalid-request",
            details: { errors: [{ pointer }] }
          })
        }
      })
    ))

  it("is a table where it is declared as one", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const { csv } = olive.list("instruments.movements", { where: { instrumentId: "elf-1" } })
        expect(yield* Stream.mkString(csv)).toMatch(/^("\w+",?)+\r\n$/)
        const refused = yield* Effect.flip(Stream.mkString(olive.list("operations.list").csv))
        expect(refused).toMatchObject({ details: { detail: "operations.list has no table." } })
      })
    ))
})

describe("a value", () => {
  it("is read again as it was, by the point of its answer", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const before = yield* olive.read("instruments.policy", { instrumentId: "elf-1" }).answer
        const { anna } = yield* people
        const action = yield* olive.write("policy.set", {
          instrumentId: "elf-1",
          holderCap: 200,
          replaces: "1"
        })
        yield* anna.approve(action)
        yield* olive.done(action)
        const now = yield* olive.read("instruments.policy", { instrumentId: "elf-1" })
        const then = yield* olive.read(
          "instruments.policy",
          { instrumentId: "elf-1" },
          { asOf: before.now }
        )
        expect(then).toEqual(before.value)
        expect(now).not.toEqual(before.value)
      })
    ))

  it("has its rows, whole, as a stream and as a table", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const reading = olive.read("instruments.register", { instrumentId: "elf-1" })
        const { head, lines } = yield* reading
        expect(head.totalUnits).toBe(Decimal.zero)
        expect(lines).toEqual([])
        expect(yield* Stream.runCollect(reading.rows)).toEqual([])
        expect(yield* Stream.mkString(reading.csv)).toContain("holderId")
      })
    ))

  it("refuses a parameter that is missing, where a request has it", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const none = {} as { readonly instrumentId: string }
        expect(yield* Effect.flip(olive.read("instruments.get", none))).toMatchObject({
          slug: "invalid-request",
          details: { errors: [{ pointer: "/path/instrumentId", detail: "it is missing" }] }
        })
      })
    ))
})

describe("a precheck", () => {
  it("judges an act by all its conditions, and writes nothing", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const act = { instrumentId: "elf-1", holderId: "h-1", amount: Decimal.of("100") }
        const refused = yield* Effect.flip(olive.precheck("subscription.claim", act))
        expect(refused).toMatchObject({ slug: "not-found" })
        expect((yield* olive.list("subscriptions.list")).value).toEqual([])
      })
    ))
})

describe("the feed", () => {
  it("has every event once and in order, and goes on after a kept cursor", () =>
    run(
      Effect.gen(function* () {
        const olive = yield* recorded
        const all = yield* Stream.runCollect(olive.feed({ until: "now" }))
        const numbers = all.map(({ seq }) => seq)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        expect(new Set(numbers).size).toBe(numbers.length)
        const approved = yield* Stream.runCollect(
          olive.feed({ type: ["approval.approved"], until: "now" })
        )
        expect(approved).toHaveLength(3)
        const after = all.at(-1)?.cursor ?? ""
        expect(yield* Stream.runCollect(olive.feed({ after, until: "now" }))).toEqual([])
        const { anna } = yield* people
        const action = yield* olive.write("instrument.record", { ...terms, instrumentId: "elf-4" })
        yield* anna.reject(action)
        const later = yield* Stream.runCollect(olive.feed({ after }).pipe(Stream.take(2)))
        expect(later.map(({ type }) => type)).toEqual(["approval.requested", "approval.rejected"])
      })
    ))
})
