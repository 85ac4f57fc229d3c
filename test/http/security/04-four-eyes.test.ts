/**
 * Security test 4 (API5): no caller gets past four eyes, by key, by repeating, by a second role or
 * by a race.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { actionOf, decide, operationsOf, write } from "../people.ts"
import { bearer, open, type Venue } from "../venue.ts"

let venue: Venue
beforeAll(async () => {
  venue = await open()
})
afterAll(() => venue.close())

let ids = 0
const fresh = () => `bypass-${++ids}`
const as = (sub: string, ...roles: ReadonlyArray<string>) => bearer(roles, { sub })

/** `hold.release` needs two signatures, `policy.set` one. */
const release = (id: string, call: { readonly as: string; key?: string; reason?: string }) =>
  write(venue, {
    path: `/v1/holds/${id}:release`,
    as: call.as,
    body: `{"reason":"${call.reason ?? "x"}"}`,
    ...(call.key === undefined ? {} : { key: call.key })
  })
const setPolicy = (id: string, by: string) =>
  write(venue, { path: `/v1/instruments/${id}/policy:set`, as: by })
const approve = (action: string, by: string, key?: string) =>
  decide(venue, { verb: "approve", action, as: by, ...(key === undefined ? {} : { key }) })

/** Number of operations on a record after all queued work has run. */
const ran = async (id: string) => {
  await venue.settle()
  const all = await operationsOf(venue, await as("looker", "auditor"))
  return all.filter(({ resource }) => resource.id === id)
}

// Each switched off in a copy and seen red: the maker in `mayApprove`; the auditor in `mayApprove` and
// where a call approves an equal action; `signedBy` in `sign`; the state in `decided`; the fingerprint of a used key.
describe("its maker", () => {
  it("never approves by the action's key, whatever roles it holds", async () => {
    const id = fresh()
    const both = await as("both", "operator", "approver")
    const action = actionOf(await setPolicy(id, both))
    const own = await approve(action, both)
    expect([own.status, own.slug]).toEqual([403, "same-approver"])
    expect(await ran(id)).toEqual([])
  })

  it("never approves by sending the call again", async () => {
    const id = fresh()
    const both = await as("both", "operator", "approver")
    await setPolicy(id, both)
    const again = await setPolicy(id, both)
    expect([again.status, again.written?.state, again.written?.signedBy]).toEqual([
      200,
      "awaiting",
      []
    ])
    expect(await ran(id)).toEqual([])
  })

  it("never approves under a second role, signed in anew without the first", async () => {
    const id = fresh()
    const action = actionOf(await setPolicy(id, await as("two-hats", "operator")))
    const hat = await as("two-hats", "approver")
    const byKey = await approve(action, hat)
    expect([byKey.status, byKey.slug]).toEqual([403, "same-approver"])
    const repeated = await setPolicy(id, hat)
    expect([repeated.status, repeated.written?.state]).toEqual([200, "awaiting"])
    expect(await ran(id)).toEqual([])
  })

  it("never slips another body under its key", async () => {
    const id = fresh()
    const maker = await as("slipper", "operator")
    await release(id, { as: maker, key: `slip-${id}` })
    const other = await release(id, { as: maker, key: `slip-${id}`, reason: "other" })
    expect([other.status, other.slug]).toEqual([422, "idempotency-key-reused"])
  })

  it("never lets the body under an approver's call differ from the one that awaits", async () => {
    const id = fresh()
    await release(id, { as: await as("olga", "operator"), key: `same-${id}` })
    const other = await release(id, {
      as: await as("ann", "approver"),
      key: `same-${id}`,
      reason: "other"
    })
    expect([other.status, other.slug]).toEqual([403, "permission-denied"])
    expect(await ran(id)).toEqual([])
  })
})

describe("an auditor", () => {
  it("never approves because it is an approver as well, by key or by repeating", async () => {
    const id = fresh()
    const action = actionOf(await setPolicy(id, await as("olga", "operator")))
    for (const roles of [
      ["auditor", "approver"],
      ["auditor", "approver", "operator", "risk", "compliance"],
      ["auditor"]
    ]) {
      const auditor = await as("auditor-1", ...roles)
      const byKey = await approve(action, auditor)
      expect([byKey.status, byKey.slug]).toEqual([403, "auditor-never-approves"])
    }
    const repeated = await setPolicy(id, await as("auditor-1", "auditor", "approver"))
    expect([repeated.status, repeated.slug]).toEqual([403, "auditor-never-approves"])
    expect(await ran(id)).toEqual([])
  })
})

describe("one approver", () => {
  it("never signs twice where two have to, by key, by repeating, or under two roles", async () => {
    const id = fresh()
    const action = actionOf(await release(id, { as: await as("olga", "operator") }))
    const ann = await as("ann", "approver")
    expect((await approve(action, ann)).status).toBe(202)
    for (const again of [
      await approve(action, ann),
      await approve(action, ann, "another-key"),
      await release(id, { as: ann }),
      await approve(action, await as("ann", "approver", "compliance")),
      await release(id, { as: await as("ann", "approver", "monitor") })
    ]) {
      expect([again.status, again.written?.state, again.written?.signedBy]).toEqual([
        200,
        "awaiting",
        ["ann"]
      ])
    }
    expect(await ran(id)).toEqual([])
  })

  it("never approves what was rejected", async () => {
    const id = fresh()
    const action = actionOf(await setPolicy(id, await as("olga", "operator")))
    const reject = { verb: "reject", action, as: await as("bob", "approver") } as const
    expect((await decide(venue, reject)).status).toBe(200)
    const late = await approve(action, await as("ann", "approver"))
    const repeated = await setPolicy(id, await as("ann", "approver"))
    expect([late.status, late.slug]).toEqual([409, "approval-rejected"])
    expect([repeated.status, repeated.slug]).toEqual([409, "approval-rejected"])
    expect(await ran(id)).toEqual([])
  })
})

describe("twenty approvers at once", () => {
  it.each([
    ["one signature", 1],
    ["two signatures", 2]
  ])("run an action of %s more than once", async (_, needed) => {
    const id = fresh()
    const maker = await as("olga", "operator")
    const made = needed === 1 ? await setPolicy(id, maker) : await release(id, { as: maker })
    const action = actionOf(made)
    const crowd = await Promise.all(
      Array.from({ length: 20 }, (_, index) => as(`crowd-${index}`, "approver"))
    )
    const answers = await Promise.all(crowd.map((one) => approve(action, one)))
    expect(answers.filter(({ status }) => status === 202).length).toBe(needed)
    expect(answers.filter(({ slug }) => slug === "approval-decided").length).toBe(20 - needed)
    const operations = await ran(id)
    expect(operations.length).toBe(1)
    const signers = operations[0]?.signedBy ?? []
    expect([signers.length, new Set(signers).size]).toEqual([needed, needed])
    expect(signers).not.toContain("olga")
  })

  it("of whom ten approve and ten reject either run it or reject it", async () => {
    const id = fresh()
    const action = actionOf(await setPolicy(id, await as("olga", "operator")))
    const crowd = await Promise.all(
      Array.from({ length: 20 }, (_, index) => as(`torn-${index}`, "approver"))
    )
    const answers = await Promise.all(
      crowd.map((one, index) =>
        decide(venue, { verb: index % 2 === 0 ? "approve" : "reject", action, as: one })
      )
    )
    const taken = answers.filter(({ status }) => status < 300)
    expect(taken.length).toBe(1)
    expect((await ran(id)).length).toBe(taken[0]?.status === 202 ? 1 : 0)
  })
})
