/**
 * Loads the acts of an update that name its movements: subscription, redemption, transfer, forced
 * move.
 */
import { Effect, Result } from "effect"
import type { Whole } from "../../projection/FromLedger.ts"
import { contracts } from "../../projection/Contract.ts"
import type { Exercised, LfRecord } from "../../ports/Ledger.ts"
import { Records } from "../../records/Records.ts"
import { PrimaryMarket } from "../../templates/Market.ts"
import { IssuerPowersAgreement } from "../../templates/Powers.ts"
import {
  Allocation,
  BurnRequest,
  Credential,
  Holding,
  TransferOffer
} from "../../templates/Registry.ts"
import { MintOrder, ReserveRedemptionOrder } from "../../templates/Reserve.ts"
import {
  decodeArgument,
  decodePayload,
  key,
  type Payload,
  type Template
} from "../../templates/Template.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import type { Movement } from "./Movement.ts"
import { type MovementClaim, type Kinds, plain } from "./MovementRules.ts"

type ClaimMembers = Pick<MovementClaim, "kinds" | "reference">
type Reference = { readonly kind: string; readonly id: string }

/** Movement kind of each choice; some need the contract's payload. */
const acts: {
  readonly [act: string]: (
    event: Exercised,
    payload: LfRecord | undefined,
    update: Pick<Whole, "updateId">
  ) => ClaimMembers
} = {
  // Unlocks and transfers that are consequences of the exercise are parts of this act.
  [named(IssuerPowersAgreement, "ForceMove")]: ({ arg, nodeId }, _, { updateId }) =>
    Result.match(decodeArgument(IssuerPowersAgreement, "ForceMove", arg), {
      onFailure: () => unnamed,
      onSuccess: ({ cause }) => ({
        kinds: { ...plain, across: cause.kind === "forced" ? "forced-transfer" : "recovery" },
        reference: { resourceKind: "exercise", id: `${updateId}:${nodeId}` }
      })
    }),
  [named(Credential, "Receive")]: ({ arg }) =>
    Result.match(decodeArgument(Credential, "Receive", arg), {
      onFailure: () => unnamed,
      onSuccess: ({ reference }) => byReference(reference)
    }),
  [named(BurnRequest, "Accept")]: (_, payload) =>
    ofOrder(payload, BurnRequest, ({ reference }) => reference),
  // The deposit that moves and is locked, and the units minted for it, are parts of the order's act.
  [named(MintOrder, "Settle")]: (_, payload) =>
    ofOrder(payload, MintOrder, ({ mintId: id }) => ({ kind: "mint", id })),
  [named(ReserveRedemptionOrder, "Settle")]: (_, payload) =>
    ofOrder(payload, ReserveRedemptionOrder, ({ reserveRedemptionId: id }) => ({
      kind: "reserve-redemption",
      id
    })),
  [named(PrimaryMarket, "BurnFor")]: ({ arg }) =>
    Result.match(decodeArgument(PrimaryMarket, "BurnFor", arg), {
      onFailure: () => unnamed,
      onSuccess: ({ redemptionId: id }) => byReference({ kind: "redemption", id })
    }),
  [named(Allocation, "Allocation_ExecuteTransfer")]: () => unnamed,
  [named(TransferOffer, "Accept")]: () => unnamed,
  [named(Credential, "ReceiveTransfer")]: () => unnamed
}

/** Choices of holdings are acts too: a holding that is split or merged did not move. */
const holdings = key(Holding.typeRef)

/** Acts whose reference is in the contract that they consume. */
const readPayload: ReadonlySet<string> = new Set([
  named(BurnRequest, "Accept"),
  named(MintOrder, "Settle"),
  named(ReserveRedemptionOrder, "Settle")
])

const unnamed: ClaimMembers = { kinds: plain, reference: null }

/** Names an act by the reference that its contract gives. */
function ofOrder<T extends Template>(
  payload: LfRecord | undefined,
  template: T,
  referenceOf: (payload: Payload<T>) => Reference
): ClaimMembers {
  if (payload === undefined) return unnamed
  return Result.match(decodePayload(template, payload), {
    onFailure: () => unnamed,
    onSuccess: (order) => byReference(referenceOf(order))
  })
}

function named(template: Template, choice: string): string {
  return `${key(template.typeRef)}:${choice}`
}

/** Loads the acts of an update; a burn has the reference of the request or the order that it consumes. */
export const of = Effect.fnUntraced(function* (update: Whole) {
  const exercises = update.events.filter((event) => event._tag === "Exercised")
  const requests = exercises.filter((event) => readPayload.has(actOf(event)))
  const records = yield* Records
  const found = yield* records.many(
    contracts,
    requests.map(({ contractId }) => contractId)
  )
  const payloads = new Map(found.map(({ contractId, payload }) => [contractId, payload]))
  return exercises.flatMap((event): ReadonlyArray<MovementClaim> => {
    const act = acts[actOf(event)]
    const span = { nodeId: event.nodeId, until: event.lastDescendant }
    if (act !== undefined) {
      const payload = payloads.get(event.contractId) as LfRecord | undefined
      return [{ ...span, ...act(event, payload, update) }]
    }
    return key(event.template) === holdings ? [{ ...span, ...unnamed }] : []
  })
})

const actOf = (event: Exercised): string => `${key(event.template)}:${event.choice}`

const names: { readonly [kind: string]: Partial<Kinds> } = {
  subscription: { into: "subscription" },
  redemption: { outOf: "redemption" },
  distribution: { into: "distribution" }
}

const byReference = (reference: Reference): ClaimMembers => ({
  kinds: { ...plain, ...(Object.hasOwn(names, reference.kind) ? names[reference.kind] : {}) },
  reference: shown(reference)
})

/**
 * Reference that names a record; null for an unknown kind, since requesters write references
 * freely.
 */
const shown = ({ kind, id }: Reference): Movement["reference"] => {
  const resourceKind = ResourceKind.members.find((member) => member === kind)
  return resourceKind === undefined ? null : { resourceKind, id }
}
