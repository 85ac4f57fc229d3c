/** What the console's pages of the venue show, computed without a browser. */
import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Vocabulary } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { callTable } from "@bursar/http-host/plain-client"
import * as Venue from "../../packages/http-host/console/src/venue/Venue.ts"
import * as JsonNumbers from "#host/plain-client/JsonNumbers.ts"
import * as Audit from "#core/records/Audit.ts"

describe("the venue", () => {
  const tenantId = "venue-1"
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
  const detail = fc.option(
    fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/u),
      fc.oneof(fc.string(), fc.integer({ min: -9_000_000, max: 9_000_000 })),
      { maxKeys: 5 }
    ),
    { nil: null }
  )
  const chainOf = (details: ReadonlyArray<Readonly<Record<string, string | number>> | null>) =>
    Audit.chain(
      {
        tenantId,
        head: { seq: 41, hash: "a".repeat(64), checkpoint: 0 },
        at: Instant.of("2026-07-31T12:00:00.123456Z"),
        sha256
      },
      details.map((each, at) =>
        Audit.entry({ action: "config.loaded", stage: "succeeded", status: at, detail: each })
      )
    ).map((row) => JsonNumbers.make(callTable).parse(Audit.print(row), "audit-log.list"))

  it("finds an audit log chained as the engine chains it, whatever a record tells", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(detail, { minLength: 1, maxLength: 4 }), async (details) => {
        const rows = chainOf(details) as ReadonlyArray<Record<string, unknown>>
        const last = 41 + rows.length
        expect(await Venue.chainOf(rows.toReversed(), tenantId)).toEqual({
          first: "42",
          last: last.toString(),
          brokenAt: null
        })
        expect((await Venue.chainOf(rows, "venue-2"))?.brokenAt).toBe("42")
      }),
      { numRuns: 30 }
    )
  })

  it("sees a record of the audit log that was changed, left out or put elsewhere", async () => {
    const rows = chainOf([null, { size: 7 }, { change: "new" }, null]) as ReadonlyArray<
      Record<string, unknown>
    >
    const broken = async (changed: ReadonlyArray<Record<string, unknown>>) =>
      (await Venue.chainOf(changed, tenantId))?.brokenAt
    expect(await broken(rows)).toBeNull()
    expect(await broken(rows.map((row, at) => (at === 1 ? { ...row, actor: "eve" } : row)))).toBe(
      "43"
    )
    expect(
      await broken(rows.map((row, at) => (at === 1 ? { ...row, detail: { size: "8" } } : row)))
    ).toBe("43")
    expect(await broken(rows.filter((_, at) => at !== 2))).toBe("45")
    expect(await Venue.chainOf([], tenantId)).toBeNull()
  })

  it.each([
    [{ state: "queued" }, ["queued"]],
    [{ state: "running", startedAt: "x" }, ["queued", "running"]],
    [{ state: "succeeded", updateId: "u" }, ["queued", "running", "committed", "succeeded"]],
    [{ state: "failed" }, ["queued", "running", "failed"]]
  ])("shows what an operation has reached, and nothing ahead: %j", (operation, reached) => {
    const steps = Venue.operationSteps({ createdAt: "x", ...operation })
    expect(steps.filter(({ isReached }) => isReached).map(({ name }) => name)).toEqual(reached)
  })

  it("makes a failed operation again with every digit of its request, and without what was null", () => {
    expect(
      Venue.entriesOf({
        amount: "12345678901234567890.0123456789",
        count: 7n,
        reason: null,
        isWhole: false,
        rows: [{ x: 1, y: null }, "z"]
      })
    ).toEqual({
      amount: "12345678901234567890.0123456789",
      count: "7",
      isWhole: false,
      rows: [{ x: "1" }, "z"]
    })
  })

  it("says in words what a receiver answered to a test", () => {
    expect([...Venue.listedFailures].toSorted()).toEqual(
      [...Vocabulary.DeliveryFailure.members].toSorted()
    )
    expect(
      Venue.testSentence({ delivered: true, status: 204, durationMs: 12, failure: null })
    ).toBe("The receiver took it after 12 ms, with status 204.")
    expect(
      Venue.testSentence({ delivered: false, status: 500, durationMs: 9, failure: "status" })
    ).toContain("500")
    expect(
      Venue.testSentence({ delivered: false, status: null, durationMs: 9, failure: "to-come" })
    ).toContain("to-come")
  })
})
