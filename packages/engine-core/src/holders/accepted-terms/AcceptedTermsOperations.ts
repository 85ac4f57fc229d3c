/** Write that countersigns terms which a holder has signed. */
import { Effect, Schema } from "effect"
import { failed } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import { SignedTerms } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { exercise } from "../../templates/Template.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import { HolderId } from "../holder/HolderId.ts"
import { holders, decide } from "../holder/Holder.ts"
import * as HolderView from "../holder/HolderView.ts"
import { acceptedTerms } from "./AcceptedTerms.ts"

export const accept = Operation.defineOnLedger("accepted-terms.accept", {
  doc: "Countersigns the terms that a holder signed from its own wallet.",
  summary: ({ holderId }) => sentence`Countersigns the terms that holder ${holderId} signed.`,
  route: "POST /v1/holders/{holderId}/accepted-terms:accept",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`,
    holderId: ({ holderId }) => holderId
  },
  input: Schema.Struct({
    holderId: HolderId,
    /** Hash of the signed document; without it, the document signed last. */
    documentHash: Field.optional(Field.digest)
  }),
  result: HolderView.HolderView,
  // Until the holder signs again, what was accepted is all that there is to accept.
  lasts: Effect.fnUntraced(function* ({ holderId, documentHash }, outcome) {
    const records = yield* Records
    const operation = yield* Lasting.operationOf(outcome)
    if (operation === null) return false
    const [newest] = yield* records.list(acceptedTerms, {
      where: {
        holderId: [holderId],
        state: ["signed"],
        ...(documentHash === null ? {} : { documentHash: [documentHash] })
      },
      direction: "desc",
      limit: 1
    })
    return newest === undefined || Instant.isBefore(newest.record.createdAt, operation.createdAt)
  }),
  refuses: ["not-found", "state-conflict", "rule-refused"],
  plan: Effect.fn("accepted-terms.accept.plan")(function* ({ holderId, documentHash }) {
    const records = yield* Records
    const holder = yield* records.get(holders, holderId)
    yield* Effect.fromResult(decide(holder, { on: "accept-terms" }))
    const [signed] = yield* records.list(acceptedTerms, {
      where: {
        holderId: [holderId],
        state: ["signed"],
        ...(documentHash === null ? {} : { documentHash: [documentHash] })
      },
      direction: "desc",
      limit: 1
    })
    if (signed === undefined) {
      return yield* Effect.fail(
        refused("rule-refused", failed("terms-signed", { party: holder.party }))
      )
    }
    return {
      commands: [exercise(SignedTerms, signed.record.signedCid, "AcceptTerms", {})],
      last: true
    }
  }),
  finish: ({ holderId }) =>
    Effect.flatMap(Records, (records) => records.get(holders, holderId)).pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error("the holder of accepted terms has no record"))
      ),
      Effect.map(HolderView.of)
    )
})

export const operations = [accept] as const
