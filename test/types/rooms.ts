/** Types of the calls of a room of a venue's own, of every client; checked by `npm run types`, never run. */
import { Venue } from "@bursar/engine-core"
import type { Decimal } from "@bursar/engine-core/kernel"
import { ClientTable } from "@bursar/http-host/api"
import * as Client from "@bursar/http-host/client"
import * as PlainClient from "@bursar/http-host/plain-client"
import type { Room } from "@bursar/engine-core/rooms"
import { Effect, Stream } from "effect"
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
  // @ts-expect-error a list is no value
  await plain.read("x-loans.list", {})
  // @ts-expect-error a value is no list
  await plain.list("x-loans.get", { where: { loanId: "l" } })
  plain.csv("x-loans.list", { state: ["running"] })
  const page = await plain.list("x-loans.list")
  const holders = await plain.list("holders.list")
  return [text, page.value[0]?.loanId, holders.value[0]?.holderId]
}

const named = Client.named({
  baseUrl: "http://venue.test",
  authorization: Effect.succeed("Bearer b"),
  table: ClientTable.ofRooms(rooms)
})

export const byName = Effect.gen(function* () {
  const action = yield* named.write("x-loan.grant", { ...terms, principal: "10.5" })
  const text: string = (yield* named.done(yield* named.approve(action))).result.principal
  // @ts-expect-error a number of JavaScript loses digits
  yield* named.write("x-loan.grant", { ...terms, principal: 10.5 })
  // @ts-expect-error a member is missing
  yield* named.write("x-loan.grant", { loanId: "l" })
  // @ts-expect-error no write is called so
  yield* named.write("x-loan.grants", terms)
  // @ts-expect-error no read is called so
  yield* named.read("x-loans.gets", { loanId: "l" })
  // @ts-expect-error a list is no value
  yield* named.read("x-loans.list", {})
  // @ts-expect-error a value is no list
  yield* named.list("x-loans.get", { where: { loanId: "l" } })
  // @ts-expect-error no loan is in such a state
  yield* named.list("x-loans.list", { where: { state: ["gone"] } })
  const { value } = yield* named.list("x-loans.list", { where: { state: ["running"] } })
  const reading = yield* named.reading("x-loans.get", { loanId: "l" })
  const state: string = reading.value.state
  const rows = yield* Stream.runCollect(named.records("x-loans.list"))
  yield* Stream.runDrain(named.csv("x-loans.list", {}))
  const refused = yield* Effect.flip(named.write("x-loan.write-off", { loanId: "l" }))
  const slugs: Client.NamedOwnCalls<Write, never> = named
  // Writes and reads of the release stay beside those of the room.
  const holder: string = (yield* named.read("holders.get", { holderId: "h" })).holderId
  // @ts-expect-error a client without the room's table has none of its calls
  yield* Client.named(without).write("x-loan.grant", terms)
  return [text, state, value[0]?.loanId, rows[0]?.loanId, holder, refused, slugs]
})

type Write = (typeof rooms)[number] extends infer R ? Room.WriteOf<R> : never
const without = { baseUrl: "http://venue.test", authorization: Effect.succeed("Bearer b") }

/** Slugs of the room's refusals are among those of its write's error. */
export const slugOfWriteOff = Effect.catchIf(
  named.write("x-loan.write-off", { loanId: "l" }),
  (error): error is Extract<typeof error, { readonly slug: string }> =>
    error._tag === "CallRefusal" && error.slug === "x-loan-not-overdue",
  ({ slug }) => Effect.succeed(slug)
)

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
