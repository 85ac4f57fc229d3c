/** Write that sets a holder's attributes and the end of its registration. */
import { Effect, Option, Schema } from "effect"
import { condition, judge } from "../../kernel/Gates.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Crypto } from "../../ports/Crypto.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { HolderInvitation, HolderRegistration } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import { count, optionally, phrase, sentence } from "../../writes/Summary.ts"
import { type Holder, holders, decide } from "../holder/Holder.ts"
import { HolderId } from "../holder/HolderId.ts"
import { ChangedList } from "./Attribute.ts"
import { changesOf } from "./AttributeChanges.ts"
import * as HolderView from "../holder/HolderView.ts"
import * as AttributeRules from "./AttributeRules.ts"

const Setting = Schema.Struct({
  holderId: HolderId,
  attributes: ChangedList,
  /** New end of the registration; without it, the end stays. */
  validUntil: Field.optional(Instant.schema)
})

/**
 * The ledger keeps a digest of the attributes. The registration's choice SetAttributes replaces the
 * digest under the holder's earlier signature; a holder that has not answered its invitation is
 * invited again under the new digest. A lapsed registration is renewed by naming a new end, because
 * the ledger has no choice by which the holder could renew it alone
 * (docs/domain/holders.md#registration).
 */
export const setAttributes = Operation.defineOnLedger("holder.set-attributes", {
  doc: "States, verifies, refuses or withdraws attributes of a holder, each with its evidence.",
  summary: ({ attributes, holderId, validUntil }) =>
    sentence`Changes ${count(attributes.length, "attribute")} of holder ${holderId}${optionally(validUntil, (validUntil) => phrase` and lets its registration end at ${validUntil}`)}.`,
  changes: Effect.fnUntraced(function* (input, { now }) {
    const records = yield* Records
    const holder = Option.getOrNull(yield* records.find(holders, input.holderId))
    return holder === null ? [] : changesOf(holder, input, now)
  }),
  route: "POST /v1/holders/{holderId}:set-attributes",
  makers: ["operator", "compliance"],
  approvers: 1,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`,
    holderId: ({ holderId }) => holderId
  },
  input: Setting,
  result: HolderView.HolderView,
  lasts: ({ attributes, holderId, validUntil }) =>
    Effect.map(
      Effect.flatMap(Records, (records) => records.find(holders, holderId)),
      Option.exists(
        (holder) =>
          AttributeRules.areSet(holder.attributes, attributes) &&
          (validUntil === null || holder.validUntil === validUntil)
      )
    ),
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("holder.set-attributes.plan")(function* (input, act) {
    const crypto = yield* Crypto
    const records = yield* Records
    const holder = yield* records.get(holders, input.holderId)
    yield* Effect.fromResult(decide(holder, { on: "set-attributes" }))
    yield* Effect.fromResult(AttributeRules.judge(holder.attributes, input.attributes, by(act)))
    const attributes = AttributeRules.change(holder.attributes, input.attributes, by(act))
    const isInTime = input.validUntil === null || Instant.isAfter(input.validUntil, act.now)
    yield* Effect.fromResult(judge([condition("valid-until", isInTime)]))
    const attributesDigest = crypto.sha256(AttributeRules.digestText(attributes))
    const validUntil = input.validUntil ?? holder.validUntil
    const [first, ...rest] = commands(holder, { attributesDigest, validUntil, act })
    return { commands: [first, ...rest], last: true }
  }),
  finish: Effect.fnUntraced(function* (input, act) {
    const records = yield* Records
    const holder = yield* records
      .get(holders, input.holderId)
      .pipe(
        Effect.catchTag("Refused", () =>
          Effect.die(new Error("a holder whose attributes were set has no record"))
        )
      )
    const attributes = AttributeRules.change(holder.attributes, input.attributes, by(act))
    const fact = { on: "set-attributes", attributes, at: act.now } as const
    // An attribute may have ended between plan and commit: shown as the record reads now.
    const recorded = yield* records.append(holders, holder, fact, act)
    return HolderView.of(Collection.ripen(holders, recorded, act.now) as typeof recorded)
  })
})

export const operations = [setAttributes] as const

const by = ({ now, actor: setBy }: OperationAct): AttributeRules.ChangeOrigin => ({ now, setBy })

const commands = (
  holder: Holder,
  to: {
    readonly attributesDigest: string
    readonly validUntil: Instant.Instant | null
    readonly act: OperationAct
  }
) => {
  const { attributesDigest, validUntil } = to
  if (holder.registrationCid !== null) {
    const argument = { attributesDigest, validUntil }
    return [
      exercise(HolderRegistration, holder.registrationCid, "SetAttributes", argument)
    ] as const
  }
  const again = create(HolderInvitation, {
    venue: to.act.venue,
    holderId: holder.holderId,
    holder: holder.party,
    custodian: holder.custodian,
    predecessor: holder.predecessor,
    attributesDigest,
    validUntil
  })
  return holder.invitationCid === null
    ? ([again] as const)
    : ([exercise(HolderInvitation, holder.invitationCid, "Withdraw", {}), again] as const)
}
