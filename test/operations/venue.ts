/** A venue with everything it declares, its people, and the outside parties with tokens of their own. */
import { type Caller, type Operation, type Read, Queries } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Participant } from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as RegisterQueries from "#core/overviews/register/RegisterQueries.ts"
import * as Calls from "../engine/calls.ts"
import type { Outsider } from "../engine/outsiders.ts"
import { world } from "../engine/world.ts"

export type { Outsider }

export const person = (
  sub: string,
  roles: Caller.Caller["roles"],
  options: Partial<Pick<Caller.Caller, "holderId" | "party">> = {}
): Caller.Caller => ({
  sub,
  name: null,
  email: null,
  roles,
  holderId: null,
  party: null,
  ...options
})

let count = 0

export const operator = person("olga", ["operator"])
export const approver = person("anna", ["approver"])
export const auditor = person("aida", ["auditor"])

/** Instant at which every story starts. */
export const start = Instant.of("2026-07-30T10:00:00Z")
export const atStart = TestClock.setTime(Instant.toEpochMillis(start))

export const engine = () => Effect.provide(world())

export const settle = Calls.settle

/** Makes a write and has it approved as often as it needs; returns the id of its operation. */
export const write = (
  declared: Operation.Operation,
  params: Readonly<Record<string, string>>,
  body: Parameters<typeof JSON.stringify>[0],
  ifMatch: string | null = null
) =>
  Effect.gen(function* () {
    const key = `venue-${++count}`
    const text = JSON.stringify(body)
    const made = yield* Calls.submit(declared, operator, { params, body: text, key, ifMatch })
    const opened =
      declared.approvers === 0
        ? made
        : yield* Calls.approve(String(Calls.field(made, "actionKey")), approver)
    yield* settle
    return String(Calls.field(opened, "operationId"))
  })

/** The refusal's slug and check, or that there was none. */
export const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no refusal"
    const error: unknown = result.failure
    if (typeof error !== "object" || error === null || !("slug" in error)) return error
    const details = "details" in error ? (error.details as { readonly check?: string }) : {}
    return details.check === undefined ? error.slug : `${String(error.slug)} ${details.check}`
  })

/** One value, as a caller reads it. */
export const read = <P, V>(
  read: Read.One<P, V>,
  params: P,
  as: {
    readonly caller?: Caller.Caller
    readonly point?: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
  } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.one(read, { caller: as.caller ?? auditor, params, point: as.point ?? {} })
  )

/** A register with all its lines, as a caller reads it. */
export const register = (
  params: (typeof RegisterQueries.register.params)["Type"],
  as: {
    readonly caller?: Caller.Caller
    readonly point?: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
  } = {}
) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { caller = auditor, point = {} } = as
    const { record, rows, ...around } = yield* queries.streamed(RegisterQueries.register, {
      caller,
      params,
      point
    })
    const lines = yield* Stream.runCollect(rows ?? Stream.die("a register has lines"))
    return { ...around, value: { ...record, lines } }
  })

/** A whole list, as a caller reads it. */
export const list = <R, F, P, V>(
  read: Read.List<R, F, P, V>,
  params: P,
  as: {
    readonly caller?: Caller.Caller
    readonly point?: { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
  } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(read, {
      caller: as.caller ?? auditor,
      params,
      point: as.point ?? {},
      page: { limit: 1000 }
    })
  )

/** A party with a token of its own at the node. */
export { outsider as join } from "../engine/outsiders.ts"

/** Submits the commands of an outside party in one transaction; then the engine reads it. */
export const act = (who: Outsider, ...commands: ReadonlyArray<Ledger.Command>) =>
  Effect.andThen(who.submit(...commands), settle)

/** The same, while the engine reads nothing. */
export const actUnseen = (who: Outsider, ...commands: ReadonlyArray<Ledger.Command>) =>
  who.submit(...commands)

/** The contract of a template that a party sees; there is exactly one. */
export const contractOf = <T extends Templates.Template>(who: Outsider, template: T) =>
  Effect.map(who.find(template), (found) => {
    const [only] = found
    if (only === undefined || found.length !== 1) {
      throw new Error(`${found.length} contracts of ${Templates.key(template.typeRef)}`)
    }
    return only.contractId
  })

/** The offset up to which the venue has read. */
export const offsetNow = Effect.flatMap(Participant, ({ ledgerEnd }) => ledgerEnd)

export const venueParty = Effect.map(Ledger.Ledger, ({ venue }) => venue)
