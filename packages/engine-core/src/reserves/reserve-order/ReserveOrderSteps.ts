/** Steps and rules that the writes of mints and reserve redemptions share. */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../../engine/Settings.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { type Reserve, ReserveId, reserves, ReserveMachine } from "../reserve/Reserve.ts"
import { isOpen, type Members, ReserveOrderMachine } from "./ReserveOrder.ts"

/** An asset as a caller names it: its id is one that the views of the reserve show. */
const asset = Schema.Struct({
  admin: Party.schema,
  id: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(RecordId.lengthMax))
})

/** Input members that the starts of mints and reserve redemptions share. */
export const starting = {
  reserveId: ReserveId,
  holderId: HolderId,
  asset,
  /** Deadline of the order; absent: by the setting `reserves.orderDeadline`. */
  deadline: Field.optional(Instant.schema)
} as const

/** Longest time from the start of an order to its deadline. */
const longestOrder = Duration.days(7)

/**
 * Returns the deadline of an order that is started now, as the ledger keeps it. Refuses
 * `invalid-request` for one that is more than `longestOrder` ahead.
 */
export const deadlineOf = Effect.fnUntraced(function* (
  { deadline }: { readonly deadline: Instant.Instant | null },
  { now }: Pick<OperationAct, "now">
) {
  const { reserveOrderDeadline } = yield* Settings
  if (deadline === null) return Instant.toMicros(Instant.add(now, reserveOrderDeadline))
  if (Instant.atOrBefore(deadline, Instant.add(now, longestOrder))) {
    return Instant.toMicros(deadline)
  }
  const detail = "The deadline is at most 7 days ahead."
  return yield* Effect.fail(
    refused("invalid-request", { detail, errors: [{ pointer: "/body/deadline", detail }] })
  )
})

/**
 * Operations of one reserve run one after another, since each settlement replaces the reserve's
 * contract.
 */
export const turnOf = ({ reserveId }: { readonly reserveId: string }): string =>
  `reserve:${reserveId}`

/** Loads the reserve of a new order; refuses an id that another order has. */
export const reserveOf = Effect.fnUntraced(function* <R, F>(
  orders: Collection<R, F>,
  { reserveId, id }: { readonly reserveId: string; readonly id: string | null }
) {
  const records = yield* Records
  if (id !== null && Option.isSome(yield* records.find(orders, id))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: `A ${orders.name} of this id exists.` })
    )
  }
  return yield* records.get(reserves, reserveId)
})

/** Loads an order of a reserve; refuses `not-found` for one of another reserve. */
const orderOf = Effect.fnUntraced(function* <R extends Members, F>(
  orders: Collection<R, F>,
  { reserveId, id }: { readonly reserveId: string; readonly id: string }
) {
  const records = yield* Records
  const found = yield* records.get(orders, id)
  if (found.reserveId === reserveId) return found
  return yield* Effect.fail(refused("not-found", { detail: `There is no such ${orders.name}.` }))
})

/** Loads an order that is to settle, with its reserve; refuses `state-conflict` in every other state. */
export const settling = Effect.fnUntraced(function* <R extends Members, F>(
  orders: Collection<R, F>,
  ids: { readonly reserveId: string; readonly id: string }
) {
  const self = yield* orderOf(orders, ids)
  yield* Effect.fromResult(Machine.admit(ReserveOrderMachine, self, "settle"))
  const records = yield* Records
  return { self, reserve: yield* records.get(reserves, ids.reserveId) }
})

/** Loads an order that is to be cancelled; one past its deadline is too. Refuses `state-conflict`. */
export const cancelling = Effect.fnUntraced(function* <R extends Members, F>(
  orders: Collection<R, F>,
  ids: { readonly reserveId: string; readonly id: string }
) {
  const self = yield* orderOf(orders, ids)
  const on = self.state === "expired" ? "release" : "cancel"
  yield* Effect.fromResult(Machine.admit(ReserveOrderMachine, self, on))
  return self
})

/** Contract of a reserve in force; refuses `state-conflict` for a reserve that has none. */
export const reserveCidOf = ({ reserveCid, state }: Pick<Reserve, "reserveCid" | "state">) =>
  reserveCid === null
    ? Effect.fail(
        refused("state-conflict", {
          check: ReserveMachine.name,
          detail: `The reserve is ${state}.`
        })
      )
    : Effect.succeed(reserveCid)

/** Contract of an open order. */
export const orderCidOf = ({ orderCid }: Pick<Members, "orderCid">): string => {
  if (orderCid === null) throw new Error("an open order has a contract")
  return orderCid
}

/** Loads an order that an operation has just changed; one that is not there is a defect. */
export const reload = <R, F>(
  orders: Collection<R, F>,
  id: string
): Effect.Effect<Stored<R>, Effect.Error<ReturnType<Records["Service"]["find"]>>, Records> =>
  Effect.flatMap(Records, (records) => records.find(orders, id)).pipe(
    Effect.map(Option.getOrThrowWith(() => new Error(`${orders.name} ${id} vanished`)))
  )

/** The instant at which an order is due to settle; undefined: it is not ready. */
export const settlesAt = ({
  state,
  heldCid,
  lost,
  readyAt
}: Members): Instant.Instant | undefined =>
  state === "ready" && heldCid !== null && !lost ? (readyAt ?? undefined) : undefined

/** The instant at which the engine cancels an order that has not settled. */
export const cancelsAt = (self: Members): Instant.Instant | undefined =>
  isOpen(self) ? self.deadline : undefined
