/** Decimals (security test 28): written in one form, and kept to their last digit on every way. */
import { Catalogue, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { Effect } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { recoveryEvents } from "#core/powers/Recovery.ts"
import { announcing } from "#core/records/EventDeclaration.ts"
import { tables } from "../tables.ts"
import { bearer, json, open, type Problem, send, type Venue } from "../venue.ts"

/** Decimals that a caller may write, at the limits of precision and size. */
const exact = [
  "0.0000000001",
  "-0.0000000001",
  "9007199254740993",
  "1222223333.00000001",
  "1234567890123456789012345678.0123456789",
  "-9999999999999999999999999999.9999999999"
]

const bad = [
  "1e3",
  "1E-3",
  ".5",
  "1.",
  "01",
  "+1",
  "-0",
  "-0.0",
  "NaN",
  "Infinity",
  "0x10",
  "1_000",
  "0.00000000001",
  "1.00000000000",
  "99999999999999999999999999999",
  '"1"',
  "1,5"
]

// Each switched off in a copy and seen red: the places in the grammar of Decimal.ts, the sign of
// zero in it, and `PlainNumber` in favour of a double where a body is read.
describe("a figure over the wire and in PostgreSQL", () => {
  let venue: Venue
  let operator = ""
  beforeAll(async () => {
    venue = await open({ tables, storage: TestDatabase.layer })
    operator = await bearer(["operator"])
  })
  afterAll(() => venue.close())

  let made = 0
  const note = async (amount: string) => {
    const holderId = `figure-${++made}`
    const body = `{"holderId":"${holderId}","text":"one","amount":${amount},"owner":null}`
    const answer = await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
    return { holderId, answer }
  }
  const text = async (path: string) => (await send(venue, { path, as: operator })).text()

  it("never has lost a digit on its way through the store, a record, a list or an operation", async () => {
    for (const amount of exact) {
      const { holderId, answer } = await note(amount)
      expect([amount, answer.status]).toEqual([amount, 202])
      const { operationId } = await json<{ operationId: string }>(answer.clone())
      expect(await answer.text()).toContain(`"amount":${amount}`)
      await venue.settle()
      const inFull = Decimal.format(Decimal.of(amount))
      expect(await text(`/v1/holders/${holderId}`)).toContain(`"amount":${inFull}`)
      expect(await text(`/v1/holders?holderId=${holderId}`)).toContain(`"amount":${inFull}`)
      expect(await text(`/v1/operations/${operationId}`)).toContain(`"amount":${amount}`)
    }
  })

  it("never has lost a digit in the feed", async () => {
    for (const amount of exact) {
      const { type, payload } = announcing(recoveryEvents)("holder.recovered", {
        operationId: "op_1",
        from: { holderId: "old" },
        to: { holderId: "new" },
        quantity: Decimal.of(amount)
      })
      const event = {
        type,
        payload,
        resourceKind: "holder" as const,
        resourceId: "new",
        instrumentId: null,
        party: null,
        holderIds: ["old", "new"]
      }
      await venue.run(
        Effect.flatMap(Records, (records) => records.transact(records.announce([event])))
      )
      const inFull = Decimal.format(Decimal.of(amount))
      expect(await text("/v1/events?type=holder.recovered&order=desc&limit=1")).toContain(
        `"quantity":${inFull}`
      )
    }
  })

  it("never adds up to another sum than whole numbers do", async () => {
    const parts = fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n })
    const [figures = []] = fc.sample(fc.array(parts, { minLength: 40, maxLength: 40 }), {
      numRuns: 1,
      seed: 28
    })
    for (const figure of figures) {
      const body = `{"holderId":"sum-${++made}","text":"two","amount":${plain(figure)},"owner":null}`
      await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
    }
    await venue.settle()
    const list = await text("/v1/holders?text=two")
    const read = [...list.matchAll(/"amount":(-?[0-9]+\.[0-9]{10})/g)].map(([, at = ""]) => at)
    expect(read).toHaveLength(figures.length)
    const sum = figures.reduce((total, one) => total + one, 0n)
    expect(Decimal.format(Decimal.sum(read.map(Decimal.of)))).toBe(plain(sum))
  })

  it.each(bad)("written as %s is refused", async (amount) => {
    const { answer } = await note(amount)
    expect(answer.status).toBe(400)
    const { errors } = await json<Problem>(answer)
    // The JSON is at fault or the figure is; nothing else is wrong with this body.
    expect(errors?.map(({ pointer }) => /^\/body(\/amount)?$/u.test(pointer))).toEqual([true])
  })
})

describe("an order's amount", () => {
  it("written in any other way is refused", async () => {
    const venue = await open({ tables: Catalogue })
    const as = await bearer(["operator"])
    for (const amount of bad) {
      const body = `{"instrumentId":"i","holderId":"h","payment":"wire","amount":${amount}}`
      const answer = await send(venue, { method: "POST", path: "/v1/subscriptions", as, body })
      expect([amount, answer.status]).toEqual([amount, 400])
    }
    await venue.close()
  })
})

/** A figure of ten places from its smallest parts. */
const plain = (parts: bigint): string => {
  const digits = (parts < 0n ? -parts : parts).toString().padStart(11, "0")
  return `${parts < 0n ? "-" : ""}${digits.slice(0, -10)}.${digits.slice(-10)}`
}
