/** Writes of a reserve redemption: start, cancel, and the settlement that the engine opens by itself. */
import { Effect, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import type { OperationAct } from "../../records/Act.ts"
import * as Timely from "../../records/Timely.ts"
import * as Field from "../../templates/Field.ts"
import { ReserveRedemptionOrder, Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import { exercise } from "../../templates/Template.ts"
import * as Amount from "../../kernel/Amount.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import { ReserveId, reserves } from "../reserve/Reserve.ts"
import * as Gates from "./ReserveOrderGates.ts"
import * as Lookups from "./ReserveOrderLookups.ts"
import * as Steps from "./ReserveOrderSteps.ts"
import * as ReserveOrderView from "./ReserveOrderView.ts"
import {
  type ReserveRedemption,
  ReserveRedemptionId,
  reserveRedemptions
} from "./ReserveRedemption.ts"

const Start = Schema.Struct({
  /** Id of the redemption; the engine makes one when the caller names none. */
  reserveRedemptionId: Field.optional(ReserveRedemptionId),
  ...Steps.starting,
  units: Amount.orderUnits
})
type Start = typeof Start.Type

const idOf = ({ reserveRedemptionId }: Pick<Start, "reserveRedemptionId">) =>
  RecordId.made(reserveRedemptionId, "a reserve redemption")

const hrefOf = ({
  reserveId,
  reserveRedemptionId
}: {
  readonly reserveId: string
  readonly reserveRedemptionId: string
}): string => `/v1/reserves/${reserveId}/redemptions/${reserveRedemptionId}`

const shown = (id: string) =>
  Effect.map(Steps.reload(reserveRedemptions, id), (record) => ReserveOrderView.redemption(record))

/** Loads and checks the start of a redemption; refuses an id that exists before any gate. */
const starting = Effect.fnUntraced(function* (input: Start, act: OperationAct) {
  const ids = { ...input, id: input.reserveRedemptionId }
  const reserve = yield* Steps.reserveOf(reserveRedemptions, ids)
  const deadline = yield* Steps.deadlineOf(input, act)
  const context = yield* Lookups.ofStartingRedemption(reserve, input, act.now)
  const loaded = { ...context, units: input.units, deadline }
  return { ...loaded, rows: Gates.againstRedemption(loaded) }
})

export const start = Operation.defineOnLedger("reserve-redemption.start", {
  doc: "Starts a reserve redemption: units that their owner then locks from its wallet are paid by an asset of the reserve.",
  summary: ({ asset, holderId, reserveId, units }, { resource }) =>
    sentence`Starts redemption ${resource.id} of holder ${holderId}: ${units} units for asset ${asset.id} of reserve ${reserveId}.`,
  route: "POST /v1/reserves/{reserveId}/redemptions",
  makers: ["operator"],
  approvers: 0,
  figuresFor: "every-role",
  resource: {
    kind: "reserve-redemption",
    id: (input) => idOf(input),
    href: (input) => hrefOf({ ...input, reserveRedemptionId: idOf(input) }),
    turnOf: Steps.turnOf,
    holderId: ({ holderId }) => holderId,
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: Start,
  complete: (input, makeId) =>
    input.reserveRedemptionId === null
      ? { ...input, reserveRedemptionId: Schema.decodeSync(ReserveRedemptionId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(reserveRedemptions, (input) => [idOf(input)], ["started", "ready"]),
  result: ReserveOrderView.ReserveRedemptionView,
  refuses: ["already-exists", "invalid-request", "not-found", "rule-refused", "state-conflict"],
  gates: (input, act) => Effect.map(starting(input, act), ({ rows }) => rows),
  plan: Effect.fn("reserve-redemption.start.plan")(function* (input, act) {
    const loaded = yield* starting(input, act)
    yield* Effect.fromResult(judge(loaded.rows))
    const { deadline, holder, reserve } = loaded
    const { judging } = yield* Lookups.judgingOf(reserve, loaded)
    const reserveCid = yield* Steps.reserveCidOf(reserve)
    const started = exercise(ReserveTemplate, reserveCid, "StartRedemption", {
      reserveRedemptionId: idOf(input),
      owner: holder.party,
      units: input.units,
      asset: input.asset,
      payout: Gates.payoutOf(loaded) ?? Decimal.zero,
      executeBefore: deadline,
      ...judging
    })
    return { commands: [started], last: true }
  }),
  finish: (input) => shown(idOf(input))
})

const ById = Schema.Struct({ reserveId: ReserveId, reserveRedemptionId: ReserveRedemptionId })
type ById = typeof ById.Type

const resource = {
  kind: "reserve-redemption",
  id: ({ reserveRedemptionId }: ById) => reserveRedemptionId,
  href: hrefOf,
  concerns: Concerns.ofRecord(
    reserveRedemptions,
    ({ reserveRedemptionId }: ById) => reserveRedemptionId
  )
} as const

const cancel = Operation.defineOnLedger("reserve-redemption.cancel", {
  doc: "Cancels a reserve redemption that has not settled; its locked units are free again.",
  summary: ({ reserveId, reserveRedemptionId }, { holderId }) =>
    sentence`Cancels redemption ${reserveRedemptionId} of reserve ${reserveId}${concerning({ holderId })}.`,
  route: "POST /v1/reserves/{reserveId}/redemptions/{reserveRedemptionId}:cancel",
  makers: ["operator", "risk"],
  approvers: 0,
  resource,
  input: ById,
  result: ReserveOrderView.ReserveRedemptionView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("reserve-redemption.cancel.plan")(function* ({
    reserveId,
    reserveRedemptionId: id
  }) {
    const self = yield* Steps.cancelling(reserveRedemptions, { reserveId, id })
    // Past the deadline the owner may have unlocked its units by itself: the command then names
    // none.
    const argument = { lockedUnitsCid: self.heldCid }
    return {
      commands: [exercise(ReserveRedemptionOrder, Steps.orderCidOf(self), "Cancel", argument)],
      last: true
    }
  }),
  finish: ({ reserveRedemptionId }) => shown(reserveRedemptionId)
})

/** Loads and checks the settlement of a redemption. */
const settling = Effect.fnUntraced(function* (
  { reserveId, reserveRedemptionId: id }: ById,
  { now }: Pick<OperationAct, "now">
) {
  const { self, reserve } = yield* Steps.settling(reserveRedemptions, { reserveId, id })
  const loaded = { ...(yield* Lookups.ofRedemption(reserve, self, now)), order: self }
  return { ...loaded, rows: Gates.againstRedemptionSettlement(loaded) }
})

/** Burns the units and pays the asset in one transaction. */
const settle = Operation.defineForEngine("reserve-redemption.settle", {
  doc: "Settles a reserve redemption whose units are locked: the units are burned and the asset is paid in one transaction.",
  summary: ({ reserveId, reserveRedemptionId }, { holderId }) =>
    sentence`Settles redemption ${reserveRedemptionId} of reserve ${reserveId}${concerning({ holderId })}.`,
  resource: { ...resource, turnOf: Steps.turnOf },
  input: ById,
  result: ReserveOrderView.ReserveRedemptionSettled,
  refuses: ["not-found", "rule-refused", "state-conflict"],
  gates: (input, act) => Effect.map(settling(input, act), ({ rows }) => rows),
  plan: Effect.fn("reserve-redemption.settle.plan")(function* (input, act) {
    const loaded = yield* settling(input, act)
    yield* Effect.fromResult(judge(loaded.rows))
    const { order, payoutCredentialCid, reserve } = loaded
    const { judging, lockedCid } = yield* Lookups.judgingOf(reserve, loaded)
    if (lockedCid === null) throw new Error("an asset that is available has a locked holding")
    const argument = {
      reserveCid: yield* Steps.reserveCidOf(reserve),
      payoutCredentialCid,
      lockedCid,
      ...judging
    }
    const orderCid = Steps.orderCidOf(order)
    return {
      commands: [exercise(ReserveRedemptionOrder, orderCid, "Settle", argument)],
      last: true
    }
  }),
  finish: ({ reserveRedemptionId }) =>
    Effect.map(
      Steps.reload(reserveRedemptions, reserveRedemptionId),
      ({ units, asset, payout, coverBefore, coverAfter }: ReserveRedemption) => ({
        ...{ units, asset, payout },
        ...{ coverBefore, coverAfter }
      })
    )
})

export const operations = [start, cancel] as const

/** Writes of a reserve redemption that the engine opens by itself. */
export const timely = [
  Timely.define({
    name: "reserve-redemption.settle",
    doc: "Settles a reserve redemption once its units are locked.",
    collection: reserveRedemptions,
    operation: settle,
    at: (self) => Steps.settlesAt(self),
    request: ({ reserveId, reserveRedemptionId }) => ({ reserveId, reserveRedemptionId })
  }),
  Timely.define({
    name: "reserve-redemption.cancel",
    doc: "Cancels a reserve redemption that has not settled by its deadline; its units are free again.",
    collection: reserveRedemptions,
    operation: cancel,
    at: (self) => Steps.cancelsAt(self),
    request: ({ reserveId, reserveRedemptionId }) => ({ reserveId, reserveRedemptionId })
  })
] as const
