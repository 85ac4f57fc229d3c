/** Types of the calls of a room of a venue's own, of every client; checked by `npm run types`, never run. */
import { Venue } from "@bursar/engine-core"
import type { Decimal } from "@bursar/engine-core/kernel"
import { ClientTable } from "@bursar/http-host/api"
import * as Client from "@bursar/http-host/client"
import * as PlainClient from "@bursar/http-host/plain-client"
import { Effect } from "effect"
import { room } from "../../examples/10-a-room-of-its-own/loans.ts"

const rooms = [room] as const
const terms = { loanId: "l", borrower: "b::1220aa", dueAt: "2026-02-01T00:00:00Z" }

export const inProcess = Effect.gen(function* () {
  const venue = yield* Venue.makeWith({ rooms })
  const olive = venue.as({ sub: "olive", roles: ["operator"] })
  const action = yield* olive.write("x-loan.grant", { ...terms, principal: "10.5" })
  const { result } = yield* olive.done(action)
  const principal: Decimal.Decimal = result.principal
  const state: "running" | "overdue" | "repaid" | "written-off" = result.state
  // @ts-expect-error a number of JavaScript loses digits
  yield* olive.write("x-loan.grant", { ...terms, principal: 10.5 })
  // @ts-expect-error no write is called so
  yield* olive.write("x-loan.grants", terms)
  // @ts-expect-error a list is no value
  yield* olive.read("x-loans.list", {})
  const page = yield* olive.list("x-loans.list", { where: { state: ["running"] } })
  // @ts-expect-error no loan is in such a state
  yield* olive.list("x-loans.list", { where: { state: ["gone"] } })
  const refused = yield* Effect.flip(olive.write("x-loan.write-off", { loanId: "l" }))
  const slug = refused._tag === "Refused" ? refused.slug : null
  // Writes and reads of the engine stay beside those of the room.
  yield* olive.read("holders.get", { holderId: "h" })
  // @ts-expect-error a venue without the room has none of its calls
  ;(yield* Venue.make).as({ sub: "o", roles: [] }).write("x-loan.grant", terms)
  return [principal, state, page.value[0]?.loanId, slug === "x-loan-not-overdue"]
})

export const asPromises = async (layer: Parameters<typeof Venue.open>[0]) => {
  const olive = (await Venue.open(layer, { rooms })).as({ sub: "olive", roles: ["operator"] })
  const action = await olive.write("x-loan.grant", { ...terms, principal: "10.5" })
  const principal: Decimal.Decimal = (await olive.done(action)).result.principal
  // @ts-expect-error no write is called so
  await olive.write("x-loan.grants", terms)
  for await (const { loanId } of olive.list("x-loans.list")) return [principal, loanId]
  // @ts-expect-error a venue that is opened without the room has none of its calls
  return (await Venue.open(layer)).as({ sub: "o", roles: [] }).read("x-loans.get", { loanId: "l" })
}

const plain = PlainClient.make({
  baseUrl: "http://venue.test",
  authorization: "Bearer b",
  table: ClientTable.ofRooms(rooms)
})

export const overHttp = async () => {
  const action = await plain.write("x-loan.grant", { ...terms, principal: "10.5" })
  const text: string = (await plain.done(action)).result.principal
  // @ts-expect-error no write is called so
  await plain.write("x-loan.grants", terms)
  const page = await plain.list("x-loans.list")
  const holders = await plain.list("holders.list")
  return [text, page.value[0]?.loanId, holders.value[0]?.holderId]
}

const declared = Client.ofRooms(rooms)

export const withEffect = (client: Client.Client) =>
  Effect.gen(function* () {
    const written = yield* client.write(declared.operation("x-loan.write-off"), { loanId: "l" })
    const { result } = yield* client.wait(written)
    // @ts-expect-error no read is called so
    declared.read("x-loans.gets")
    const { value } = yield* client.one(declared.read("x-loans.get"), { loanId: "l" })
    const principal: Decimal.Decimal = value.principal
    return [result?.state, principal]
  })
