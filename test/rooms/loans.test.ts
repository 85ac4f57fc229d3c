/** A room of a venue's own in an engine: four eyes, figures, the ledger, the clock, events and refusals. */
import { Catalogue } from "@bursar/engine-core"
import { machineLaws } from "@bursar/engine-core/testing"
import { Venue } from "@bursar/storage-adapters/venue"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { LoanMachine, room } from "../../examples/10-a-room-of-its-own/loans.ts"
import { loanRules } from "../../examples/10-a-room-of-its-own/rules.ts"
import * as Document from "#host/api/Document.ts"
import * as Route from "#host/api/Route.ts"

machineLaws(LoanMachine)

const catalogue = Catalogue.withRooms([room])

const ledger = { entities: [loanRules] }

const rooms = [room] as const
const layer = () => Venue.memory({ clock: "2026-01-05", rooms, ledger })

const grant = {
  loanId: "l-1",
  borrower: "borrower::1220aa",
  principal: "1000.50",
  dueAt: "2026-02-01T00:00:00Z"
}

describe("a loan", () => {
  it("is granted by one person, shown without its figures, or lost to the feed", async () => {
    const outcome = await Effect.runPromise(
      Effect.gen(function* () {
        const venue = yield* Venue.makeWith({ rooms })
        const olive = venue.as({ sub: "olive", roles: ["operator"] })
        const anna = venue.as({ sub: "anna", roles: ["approver"] })
        const precheck = yield* olive.read("x-loans.precheck", grant)
        const action = yield* olive.write("x-loan.grant", grant)
        yield* anna.approve(action)
        const { result } = yield* olive.done(action)
        const early = yield* Effect.flip(olive.write("x-loan.write-off", { loanId: "l-1" }))
        const events = yield* Stream.runCollect(olive.feed({ until: "now" }))
        return { precheck, action, result, early, types: events.map(({ type }) => type) }
      }).pipe(Effect.provide(layer()))
    )
    expect(outcome.precheck).toMatchObject({ act: "x-loan.grant", allowed: true })
    expect(outcome.action).toMatchObject({ state: "awaiting", kind: "x-loan.grant" })
    expect(outcome.action.figures).toEqual({
      principal: "1000.5",
      dueAt: "2026-02-01T00:00:00.000000Z"
    })
    expect(outcome.result).toMatchObject({ loanId: "l-1", state: "running" })
    expect(String(outcome.early)).toContain("x-loan-not-overdue: The loan is not overdue.")
    expect(outcome.types).toContain("approval.approved")
  })

  it("is not granted to a program of promises", async () => {
    const venue = await Venue.open(layer(), { rooms })
    const olive = venue.as({ sub: "olive", roles: ["operator"] })
    const action = await olive.write("x-loan.grant", grant)
    await venue.as({ sub: "anna", roles: ["approver"] }).approve(action)
    expect((await olive.done(action)).result).toMatchObject({ loanId: "l-1", state: "running" })
    for await (const { loanId } of olive.list("x-loans.list")) expect(loanId).toBe("l-1")
    await venue.close()
    await expect(Venue.open(Venue.memory(), { rooms })).rejects.toThrow(
      "The venue's engine does not have the room x-loans"
    )
  })

  it("is granted for nothing", async () => {
    const refused = await Effect.runPromise(
      Effect.gen(function* () {
        const venue = yield* Venue.makeWith({ rooms })
        const olive = venue.as({ sub: "olive", roles: ["operator"] })
        return yield* Effect.flip(olive.write("x-loan.grant", { ...grant, principal: "0" }))
      }).pipe(Effect.provide(layer()))
    )
    expect(String(refused)).toContain("condition x-loan-principal")
  })
})

describe("the document of a host with the room", () => {
  it("lacks a route, a word or a refusal of the room, or of the engine", () => {
    const routes = Route.table(catalogue)
    const text = Document.text(routes, catalogue)
    for (const word of [
      "/v1/x-loans/{loanId}:write-off",
      "x-loan.overdue",
      "x-loan-not-overdue",
      "x-loan-due-later"
    ]) {
      expect(text).toContain(word)
    }
    expect(routes.length).toBe(Route.table(Catalogue).length + 5)
    expect(Document.text(Route.table(Catalogue))).not.toContain("x-loan")
  })
})
