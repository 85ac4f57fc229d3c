/** Judges the order of the town's events: each once, by ascending number, and for one record only after an event that may precede it. */
import { Catalogue, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { dealingCycles } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import { gated, holds, paid, same } from "../books.ts"
import * as BankAccounts from "./bank-accounts.ts"
import { atoms, cycleCapacities, whole } from "./figures.ts"
import { debtOf } from "./paying.ts"
import { beginning } from "./model.ts"
import { ends } from "./asking.ts"
import { type Holder, note, type Town } from "./town.ts"

type Payload = Readonly<Record<string, unknown>>

/** Events that may precede an event of the same record; null: none has to. */
const after: Readonly<Record<string, ReadonlyArray<string | null>>> = {
  "subscription.priced": [null, "subscription.created"],
  "subscription.created": [null, "subscription.priced"],
  "subscription.delivered": ["subscription.priced", "subscription.created"],
  "subscription.ended": [
    null,
    "subscription.priced",
    "subscription.created",
    "subscription.delivered"
  ],
  "redemption.priced": [null],
  "redemption.funded": ["redemption.priced", "redemption.funded"],
  "redemption.burned": ["redemption.priced", "redemption.funded"],
  "redemption.settled": ["redemption.burned"],
  "redemption.withdrawn": [null, "redemption.priced", "redemption.funded"],
  "dealing-cycle.settled": [null],
  "dealing-cycle.released": [null],
  "operation.succeeded": [null],
  "operation.failed": [null],
  "instrument.paused": [null],
  "reconciliation.hold": [null, "reconciliation.hold"],
  "hold.released": ["instrument.paused", "reconciliation.hold"],
  "holder.restricted": [null],
  "holder.unrestricted": ["holder.restricted"],
  "distribution.payable": [null, "distribution.held"],
  "distribution.held": [null, "distribution.payable"],
  "distribution.paid": ["distribution.payable"],
  "standing-approval.granted": [null],
  "standing-approval.revoked": ["standing-approval.granted"]
}

/** The record that an event is one in the life of. */
const subject = (type: string, resourceId: string, payload: Payload): string => {
  if (type.startsWith("operation.")) return `operation ${String(payload["operationId"])}`
  if (type === "instrument.paused") return `hold ${String(payload["holdId"])}`
  if (type.startsWith("hold.") || type === "reconciliation.hold") return `hold ${resourceId}`
  if (/^holder\.(?:un)?restricted$/u.test(type))
    return `restriction ${String(payload["restrictionId"])}`
  return `${type.slice(0, type.indexOf("."))} ${resourceId}`
}

export const make = () => {
  let seq = 0
  const last = new Map<string, string>()
  const counts = new Map<string, number>()

  /** A holder and instrument are recovered once by an operation. */
  const recoveries = new Set<string>()
  const recoveredOnce = (payload: Payload, holderId: string, instrumentId: string | null) => {
    const key = `${String(payload["operationId"])} ${holderId} ${instrumentId}`
    holds(!recoveries.has(key), `${key} was recovered twice`)
    recoveries.add(key)
  }

  const one = Effect.fnUntraced(function* (
    town: Town,
    event: {
      readonly type: string
      readonly resourceId: string
      readonly instrumentId: string | null
      readonly payload: string
    }
  ) {
    const { resourceId, type } = event
    const payload = JSON.parse(event.payload) as Payload
    const key = subject(type, resourceId, payload)
    const may = after[type]
    counts.set(type, (counts.get(type) ?? 0) + 1)
    note(town, `event ${type}`)
    if (may !== undefined) {
      const before = last.get(key) ?? null
      holds(may.includes(before), `${type} of ${key} after ${before}`)
      last.set(key, type)
    }
    if (type === "operation.succeeded" || type === "operation.failed") {
      const operationId = String(payload["operationId"])
      const how = type === "operation.succeeded" ? "succeeded" : "failed"
      if (!(yield* ends(town, operationId, how))) yield* own(town, String(payload["kind"]), payload)
    }
    if (type === "holder.restricted") yield* restricted(town, payload)
    if (type === "holder.unrestricted") unrestricted(town, payload)
    if (/^(?:subscription\.ended|redemption\.settled|redemption\.withdrawn)$/u.test(type)) {
      ended(town, { type, orderId: resourceId, state: payload["state"] })
      town.orders.delete(resourceId)
    }
    if (type === "dealing-cycle.settled") yield* dealt(town, resourceId)
    if (type === "holder.recovered" || type === "holder.forced-transfer") {
      const from = payload["from"] as { readonly holderId: string }
      const to = payload["to"] as { readonly holderId: string }
      holds(from.holderId !== to.holderId, `${from.holderId} was moved to itself`)
      if (type === "holder.recovered") {
        recoveredOnce(payload, from.holderId, event.instrumentId)
        const lost = town.byId.get(from.holderId)
        if (lost !== undefined) carried(town, lost)
      }
    }
    if (type === "reconciliation.run") {
      // A town may leave orders waiting and burned ones unpaid; a check fails to run only while the
      // ledger does not answer.
      const verdict = String(payload["verdict"])
      const finds = payload["findings"] !== 0
      // An incomplete run may have found nothing in the checks that did run.
      if (verdict !== "incomplete")
        same(verdict !== "clear", finds, `the run ${resourceId}: ${verdict}`)
      if (verdict === "incomplete") {
        const { checks } = yield* Effect.flatMap(Records, (records) =>
          Effect.orDie(records.get(runs, resourceId))
        )
        const failed = checks.filter(({ ran, why }) => !ran && why !== "ledger-unreachable")
        holds(failed.length === 0, `the run ${resourceId} is incomplete`)
      }
    }
    if (type === "redemption.burned") town.burned.add(resourceId)
    if (type === "dealing-cycle.settled" || type === "dealing-cycle.released") {
      town.cycles.delete(resourceId)
    }
  })

  /** Reads the events that the town has not read yet. */
  const hear = Effect.fnUntraced(function* (town: Town) {
    const feed = yield* Feed
    for (;;) {
      const { events } = yield* feed.read({ order: "asc", after: seq, limit: 500 })
      if (events.length === 0) return
      for (const event of events) {
        holds(event.seq === seq + 1, `event ${event.seq} came after ${seq}`)
        seq = event.seq
        yield* one(town, event)
      }
    }
  })
  const skip = Effect.gen(function* () {
    seq = (yield* (yield* Feed).head).seq
  })
  return { hear, skip, last, counts }
}
export type EventOrder = ReturnType<typeof make>

/** The books note what an order that ended as it should came to, by their own figures. */
const ended = (
  town: Town,
  event: { readonly type: string; readonly orderId: string; readonly state: unknown }
) => {
  const order = town.orders.get(event.orderId)
  if (order === undefined || event.type === "redemption.withdrawn") return
  if (event.type === "subscription.ended" && event.state !== "closed") {
    // The bank lines of an order that was released are free to pay another.
    town.bank.used = town.bank.used.filter(({ by }) => by !== event.orderId)
    BankAccounts.returns(town.banking, event.orderId)
    return
  }
  const { priced } = order
  if (priced === null) throw new Error(`audit: ${event.orderId} was settled unpriced`)
  if (event.type === "redemption.settled") {
    if (order.payment === "ledger") town.sold.set(event.orderId, { order, cents: priced.cash })
    return
  }
  town.closed.set(event.orderId, order)
  if (priced.refund === 0n) return
  note(town, `refund ${order.payment}${order.cycleId === null ? "" : " in a cycle"}`)
  if (order.payment === "wire") debtOf(town, order)
}

/**
 * Checks by hand how much a gate dealt of each redemption, and books the remainder as an order of
 * its own.
 */
const dealt = Effect.fnUntraced(function* (town: Town, cycleId: string) {
  const records = yield* Records
  const { fills } = yield* records.get(dealingCycles, cycleId)
  if (fills.length === 0) return
  note(town, "gated")
  const dealtParts = fills.map(({ filled, redemptionId }) => {
    const soldOrder = town.sold.get(redemptionId)
    if (soldOrder === undefined)
      throw new Error(`audit: ${redemptionId} was dealt and has not settled`)
    return { id: redemptionId, order: soldOrder.order, filled: atomsOf(filled) }
  })
  const soldUnits = dealtParts.map(({ id, order }) => ({ id, units: order.priced?.units ?? 0n }))
  const dealtUnits = dealtParts.reduce((sum, { filled }) => sum + filled, 0n)
  const atom = dealtParts[0]?.order.fund.atom ?? 1n
  // A part that would be paid nothing is none, and what it would have used of the capacity is unused.
  const paidParts = (capacity: bigint) => {
    const shares = gated(soldUnits, capacity, atom)
    return new Map(
      dealtParts.map(({ id, order }) => {
        const { price, units } = order.priced ?? { price: 0n, units: 0n }
        const share = shares.get(id) ?? 0n
        const isPaid = share === units || paid(share, price, order.fund.fees.redemption) > 0n
        return [id, isPaid ? share : 0n] as const
      })
    )
  }
  const byHand =
    [dealtUnits, ...cycleCapacities.map((units) => BigInt(units) * whole)]
      .map(paidParts)
      .find(
        (shares) => [...shares.values()].reduce((sum, share) => sum + share, 0n) === dealtUnits
      ) ?? paidParts(dealtUnits)
  for (const { filled, id, order } of dealtParts) {
    same(filled, byHand.get(id), `what a gate dealt of ${id}`)
    const { price, units } = order.priced ?? { price: 0n, units: 0n }
    if (filled === units) continue
    town.sold.set(id, { order, cents: paid(filled, price, order.fund.fees.redemption) })
  }
  for (const { redemptionId, remainderId } of fills) {
    const order = town.sold.get(redemptionId)?.order
    if (remainderId === null || order === undefined) continue
    const record = yield* records.get(redemptions, remainderId)
    same(record.remainderOf, redemptionId, `${remainderId} is what is left of`)
    const rest = (order.priced?.units ?? 0n) - (byHand.get(redemptionId) ?? 0n)
    same(record.units === null ? null : atomsOf(record.units), rest, `the units of ${remainderId}`)
    town.orders.set(remainderId, {
      ...order,
      id: remainderId,
      amount: null,
      ordered: rest,
      cutOffAt: record.cutOffAt,
      cycleId: record.cycleId,
      priced: null,
      remainderOf: redemptionId
    })
  }
})

const atomsOf = (units: Decimal.Decimal): bigint => atoms(Decimal.formatPlain(units))

/** The writes that the engine opens itself: what falls due lets go, a match is restricted, a due month is executed. */
const engines = [
  ...Catalogue.timely.map(({ operation }) => operation.kind),
  "holder.restrict",
  "distribution.execute"
]

const own = Effect.fnUntraced(function* (town: Town, kind: string, payload: Payload) {
  if (town.ended.has(String(payload["operationId"]))) return
  holds(
    payload["role"] === null,
    `a ${kind} that nobody asked for ran as ${String(payload["role"])}`
  )
  holds(engines.includes(kind), `the engine opened a ${kind} itself`)
  note(town, `engine ${kind}`)
})

/** One that the books have not asked for: the engine's own of a match, or one that was carried. */
const restricted = Effect.fnUntraced(function* (town: Town, payload: Payload) {
  const restrictionId = String(payload["restrictionId"])
  if (town.model.restrictions.has(restrictionId)) return
  const records = yield* Records
  const { holderId, instrumentId, mode, reason, supersedes } = yield* records.get(
    restrictions,
    restrictionId
  )
  const span = beginning(town.step)
  span.from = town.step
  const endsAt = payload["autoReleaseAt"]
  const before = supersedes === null ? undefined : town.model.restrictions.get(supersedes)
  if (supersedes === null) {
    same([mode, reason, instrumentId], ["freeze", "sanctions", null], `what the engine restricts`)
  } else {
    same([mode, reason], [before?.mode, before?.reason], `what ${restrictionId} carries on`)
    same(town.byId.get(holderId)?.predecessor, before?.holderId, `whose ${restrictionId} was`)
  }
  town.model.restrict({
    restrictionId,
    holderId,
    instrumentId,
    mode,
    reason,
    endsAt: typeof endsAt === "string" ? Date.parse(endsAt) : null,
    span,
    carried: supersedes !== null,
    ended: null
  })
  note(town, supersedes === null ? "restricted by the engine" : "restriction carried")
})

/**
 * Marks the lost holder as succeeded and, once it has no units left, its restrictions as possibly
 * carried to the successor.
 */
const carried = (town: Town, lost: Holder) => {
  lost.stateByEvents = "succeeded"
  if (town.funds.some(({ instrumentId }) => town.observer.units(instrumentId, lost.party) > 0n))
    return
  for (const { span } of town.model.restrictionsOf(lost.holderId)) {
    span.maybeUntil = Math.min(span.maybeUntil, town.step)
  }
}

const unrestricted = (town: Town, payload: Payload) => {
  const restrictionId = String(payload["restrictionId"])
  const how = String(payload["how"])
  const bookedRestriction = town.model.restrictions.get(restrictionId)
  holds(bookedRestriction !== undefined, `${restrictionId} was ${how}, and was never there`)
  if (bookedRestriction === undefined) return
  if (how === "lapsed") {
    holds(bookedRestriction.endsAt !== null, `${restrictionId} lapsed and had no end`)
    bookedRestriction.ended ??= "lapsed"
    bookedRestriction.span.maybeUntil = Math.min(bookedRestriction.span.maybeUntil, town.step)
    bookedRestriction.span.until = Math.min(bookedRestriction.span.until, town.step)
  } else {
    // Two approvers and a maker were written down before.
    holds(
      bookedRestriction.span.maybeUntil < Number.POSITIVE_INFINITY,
      `${restrictionId} was lifted by nobody`
    )
  }
}
