/** Write that closes a holder for good, and ends its admissions. */
import { Effect, Option, Schema, Stream } from "effect"
import { instrumentsOf } from "../../instruments/register/HoldingLookups.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Command } from "../../ports/Ledger.ts"
import type { OperationAct } from "../../records/Act.ts"
import type { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import { HolderInvitation, HolderRegistration } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { createAndExercise, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import { type Holder, holders, decide, HolderMachine } from "./Holder.ts"
import { HolderId } from "./HolderId.ts"
import { judge } from "./CloseRules.ts"
import * as HolderView from "./HolderView.ts"

/** Largest number of admissions that one transaction ends; further ones end in earlier steps. */
const endingsMax = 50

/** Look-ups about a holder to be closed that rooms above contribute; the catalogue gathers them. */
interface HolderTies {
  /** Id of a restriction of the holder in force, of any mode and on any instrument; null: none. */
  readonly restriction: (holderId: HolderId) => Effect.Effect<string | null, Unavailable, Records>
  /** Id of an order of the holder that has not ended; null: none. */
  readonly openOrder: (holderId: HolderId) => Effect.Effect<string | null, Unavailable, Records>
  /** Id of a mint or a reserve redemption of the holder that has not ended; null: none. */
  readonly openReserveOrder: (
    holderId: HolderId
  ) => Effect.Effect<string | null, Unavailable, Records>
  /** Id of a distribution line of the holder that is due, suspended or delivered; null: none. */
  readonly openLine: (holderId: HolderId) => Effect.Effect<string | null, Unavailable, Records>
  /** Id of an instrument that left the holder a carry that pays something; null: none. */
  readonly carry: (holder: Holder) => Effect.Effect<string | null, Unavailable, Records>
  /** Id of an instrument whose income of the holder is not distributed yet; null: none. */
  readonly accrual: (
    holder: Holder,
    act: OperationAct
  ) => Effect.Effect<string | null, Unavailable, Records | LedgerReach>
  /** Commands that end the holder's admissions, up to the limit. */
  readonly endings: (
    holderId: HolderId,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Command>, Unavailable, Records>
}

/**
 * The holder's admissions end with it: offers are withdrawn and credentials revoked, so that no
 * place under a holder cap stays taken and no restricted units can be sent to the holder any more.
 */
export const closing = (ties: HolderTies) =>
  Operation.defineOnLedger("holder.close", {
    doc: "Closes a holder for good, and ends its admissions.",
    summary: ({ holderId }) =>
      sentence`Closes holder ${holderId} for good and ends its admissions.`,
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
      /**
       * Initiator of the closing by the codes of ISO 20022: the venue (ASIN) or the holder (CLIN).
       */
      closedAs: Field.optional(Schema.Literals(["ASIN", "CLIN"]))
    }),
    result: HolderView.HolderView,
    refuses: ["not-found", "state-conflict", "rule-refused"],
    plan: Effect.fn("holder.close.plan")(function* ({ holderId }, act) {
      const records = yield* Records
      const holder = yield* records.get(holders, holderId)
      yield* Effect.fromResult(decide(holder, { on: "close" }))
      const closing = {
        restriction: yield* ties.restriction(holderId),
        holds: Option.getOrNull(yield* Stream.runHead(instrumentsOf(holder))),
        openOrder: (yield* ties.openOrder(holderId)) ?? (yield* ties.openReserveOrder(holderId)),
        openLine: yield* ties.openLine(holderId),
        carry: yield* ties.carry(holder),
        accrual: yield* ties.accrual(holder, act)
      }
      yield* Effect.fromResult(judge(closing))
      const endings = yield* ties.endings(holderId, endingsMax + 1)
      const [first, ...rest] = endings.slice(0, endingsMax)
      if (first === undefined) return { commands: [closingOf(holder, act)], last: true }
      return endings.length > endingsMax
        ? { commands: [first, ...rest], last: false }
        : { commands: [first, ...rest, closingOf(holder, act)], last: true }
    }),
    finish: Effect.fnUntraced(function* ({ holderId, closedAs }, act) {
      const records = yield* Records
      const holder = yield* records
        .get(holders, holderId)
        .pipe(
          Effect.catchTag("Refused", () => Effect.die(new Error("a closed holder has no record")))
        )
      const at = act.now
      // The end of a registration closes its holder; the withdrawal of an invitation alone does
      // not.
      const closed = Machine.allows(HolderMachine, holder.state, "close")
        ? yield* records.append(holders, holder, { on: "close", at }, act)
        : holder
      if (closedAs === null) return HolderView.of(closed)
      return HolderView.of(
        yield* records.append(holders, closed, { on: "close-as", closedAs, at }, act)
      )
    })
  })

/**
 * Makes the command that closes a holder. A holder that declined has no contract, so an invitation
 * is created and withdrawn in one transaction.
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
