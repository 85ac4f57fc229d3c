/** Write that closes a holder for good, and ends its admissions. */
import { Effect, Option, Schema, Stream } from "effect"
import { inForce } from "../../restraints/restriction/RestrictionLookups.ts"
import { admissions, placed } from "../../admissions/admission/Admission.ts"
import { ending } from "../../admissions/admission/AdmissionOperations.ts"
import { instrumentsOf } from "../../instruments/register/HoldingLookups.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { RedemptionMachine } from "../../orders/redemption/RedemptionMachine.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { SubscriptionMachine } from "../../orders/subscription/SubscriptionMachine.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { HolderInvitation, HolderRegistration } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { createAndExercise, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { type Holder, HolderId, holders } from "./Holder.ts"
import { judge } from "./CloseRules.ts"
import { decide, HolderMachine } from "./HolderMachine.ts"
import * as HolderView from "./HolderView.ts"

/** How many admissions end in one transaction with a holder; those of a holder of more end before. */
const endingsMax = 50

/**
 * The holder's admissions end with it: an offer is withdrawn, a credential revoked, so that no place
 * under a holder cap is kept for nobody and nothing restricted can be sent to it any more.
 */
export const close = Operation.defineOnLedger("holder.close", {
  doc: "Closes a holder for good, and ends its admissions.",
  route: "POST /v1/holders/{holderId}:close",
  makers: ["operator", "compliance"],
  approvers: 1,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`,
    holderId: ({ holderId }) => holderId
  },
  input: Schema.Struct({
    holderId: HolderId,
    /** Who asked for the end, as ISO 20022 has it: the venue (ASIN) or the holder (CLIN). */
    closedAs: Field.optional(Schema.Literals(["ASIN", "CLIN"]))
  }),
  result: HolderView.HolderView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("holder.close.plan")(function* ({ holderId }, act) {
    const records = yield* Records
    const holder = yield* records.get(holders, holderId)
    yield* Effect.fromResult(decide(holder, { on: "close" }))
    const [restriction] = yield* inForce({ holderIds: [holderId] })
    const closing = {
      restriction: restriction?.restrictionId ?? null,
      holds: Option.getOrNull(yield* Stream.runHead(instrumentsOf(holder))),
      openOrder: yield* openOrderOf(holderId)
    }
    yield* Effect.fromResult(judge(closing))
    const standing = yield* records.list(admissions, {
      where: { holderId: [holderId], state: placed },
      limit: endingsMax + 1
    })
    const [first, ...rest] = standing.slice(0, endingsMax).map(({ record }) => ending(record))
    if (first === undefined) return { commands: [closingOf(holder, act)], last: true }
    return standing.length > endingsMax
      ? { commands: [first, ...rest], last: false }
      : { commands: [first, ...rest, closingOf(holder, act)], last: true }
  }),
  finish: Effect.fnUntraced(function* ({ holderId, closedAs }, act) {
    const records = yield* Records
    const holder = yield* records
      .get(holders, holderId)
      .pipe(Effect.catchTag("Refused", () => Effect.die(new Error("a holder vanished"))))
    const at = act.now
    // A registration that ends closes its holder; an invitation may be taken back for less.
    const closed = Machine.allows(HolderMachine, holder.state, "close")
      ? yield* records.record(holders, holder, { on: "close", at }, act)
      : holder
    if (closedAs === null) return HolderView.of(closed)
    return HolderView.of(
      yield* records.record(holders, closed, { on: "close-as", closedAs, at }, act)
    )
  })
})

export const operations = [close] as const

/**
 * The commands that close a holder. One that declined has no contract, so an invitation is created
 * and withdrawn in one transaction.
 */
const closingOf = (holder: Holder, act: OperationAct) => {
  if (holder.registrationCid !== null) {
    return exercise(HolderRegistration, holder.registrationCid, "Close", {})
  }
  if (holder.invitationCid !== null) {
    return exercise(HolderInvitation, holder.invitationCid, "Withdraw", {})
  }
  const invitation = {
    venue: act.venue,
    holderId: holder.holderId,
    holder: holder.party,
    custodian: holder.custodian,
    predecessor: holder.predecessor,
    attributesDigest: "0".repeat(64),
    validUntil: holder.validUntil
  }
  return createAndExercise(HolderInvitation, invitation, "Withdraw", {})
}

const openStates = {
  subscription: SubscriptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(SubscriptionMachine, state)
  ),
  redemption: RedemptionMachine.schema.literals.filter(
    (state) => !Machine.isTerminal(RedemptionMachine, state)
  )
} as const

/**
 * Look-up of an open order of the holder. A burned redemption is open too: the holder is still owed
 * cash.
 */
const openOrderOf = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const of = (state: ReadonlyArray<string>) =>
    ({ where: { holderId: [holderId], state }, limit: 1 }) as const
  const [bought] = yield* records.list(subscriptions, of(openStates.subscription))
  if (bought !== undefined) return bought.record.subscriptionId
  const [sold] = yield* records.list(redemptions, of(openStates.redemption))
  return sold?.record.redemptionId ?? null
})
