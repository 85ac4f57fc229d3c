/** The example's room behind a host in memory, called over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { json, type Problem } from "../http/venue.ts"
import { hangs } from "../waiting.ts"
import { play, playClock } from "./loan-story.ts"
import * as Served from "./served.ts"

let served: Served.Served
beforeAll(async () => {
  served = await Served.serve(Served.inMemory())
})
afterAll(() => served?.close())

describe("a host with a room of loans", () => {
  it("has no count of the room's writes before the first of them", async () => {
    const text = await (await fetch(`${served.at.management}/metrics`)).text()
    const lines = text.split("\n").filter((line) => line.includes("x-loan"))
    for (const label of ['kind="x-loan.grant"', '"/v1/x-loans/{loanId}"', '"x-loan-not-overdue"']) {
      expect([label, lines.some((line) => line.includes(label))]).toEqual([
        label,
        label !== '"x-loan-not-overdue"'
      ])
    }
    expect(lines.filter((line) => !line.endsWith(" 0"))).toEqual([])
  })

  it.each([
    ["/v1/events?type=x-loan.overdu", "/query/type", "EventType", "x-loan.overdue"],
    ["/v1/events?resourceKind=x-lone", "/query/resourceKind", "ResourceKind", "x-loan"],
    ["/v1/audit-log?action=x-loan.grand", "/query/action", "AuditAction", "x-loan.grant"],
    ["/v1/operations?kind=x-loan.writeoff", "/query/kind", "OperationKind", "x-loan.write-off"]
  ])("takes a word that no room has: %s", async (path, pointer, set, nearest) => {
    const authorization = `Bearer ${await served.token("ada", ["auditor"])}`
    const answer = await fetch(`${served.at.api}${path}`, { headers: { authorization } })
    const problem = await json<Problem>(answer)
    expect(problem).toMatchObject({ status: 400, errors: [{ pointer }] })
    expect(problem.detail).toContain(`no word of ${set}; the nearest: ${nearest}`)
    const right = path.replace(/=.*/u, `=${nearest}`)
    expect((await fetch(`${served.at.api}${right}`, { headers: { authorization } })).status).toBe(
      200
    )
  })

  it("registers a webhook for an event that no room has", async () => {
    const olive = await served.as("olive", ["operator"])
    const register = (type: `x-${string}.${string}`) =>
      olive.write("webhook.register", {
        url: "https://receiver.example/events",
        events: ["hold.released", type]
      })
    await expect(register("x-loan.over")).rejects.toMatchObject({
      slug: "invalid-request",
      problem: { errors: [{ pointer: "/body/events/1" }] }
    })
    // The word is taken: what is refused is a port that the host may not post to.
    await expect(register("x-loan.overdue")).rejects.toMatchObject({ slug: "webhook-url-refused" })
  })

  it("lacks what the room's declarations promise", { timeout: hangs }, () => play(served))
  it("tells nobody of a loan that the clock alone finds overdue", { timeout: hangs }, () =>
    playClock(served)
  )
})
