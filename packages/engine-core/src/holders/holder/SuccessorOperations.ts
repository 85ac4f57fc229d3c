/** Write that names a holder's successor and invites it as a holder of its own. */
import { Effect, Option, Schema } from "effect"
import * as Party from "../../kernel/Party.ts"
import { failed } from "../../kernel/Gates.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { HolderRegistration } from "../../templates/Admission.ts"
import * as Field from "../../templates/Field.ts"
import { exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import * as TermChange from "../../writes/TermChange.ts"
import * as Screenings from "../screening/AskRunner.ts"
import { type Holder, holders, decide } from "./Holder.ts"
import { HolderId } from "./HolderId.ts"
import * as HolderView from "./HolderView.ts"
import { judgeNew } from "./NewHolderSteps.ts"
import { idOf } from "./RegistrationSteps.ts"
import { hasSuccessor, nameSuccessor } from "./SuccessorSteps.ts"

const SuccessorInput = Schema.Struct({
  holderId: HolderId,
  party: Party.schema,
  /**
   * The id of the holder that the successor becomes; made by the engine when the caller names none.
   */
  successorId: Field.optional(HolderId)
})
type SuccessorInput = typeof SuccessorInput.Type

/**
 * The successor is a holder of its own: it accepts its registration, signs terms and is screened as
 * any other. Its record copies the predecessor's details, as its registration copies the digest of
 * the attributes. Units can be recovered to it once the deployment's cooling time has passed since
 * its registration (docs/domain/holders.md#successors), so that an unauthorised party can be
 * noticed first.
 */
const registerSuccessor = Operation.defineOnLedger("holder.register-successor", {
  doc: "Names the party that shall succeed a holder, and invites it.",
  summary: ({ holderId, successorId }) =>
    sentence`Names holder ${successorId ?? ""} as the successor of holder ${holderId} and invites it.`,
  changes: Effect.fnUntraced(function* ({ holderId, party }) {
    const records = yield* Records
    const holder = Option.getOrNull(yield* records.find(holders, holderId))
    if (holder === null) return []
    const before = holder.successor === null ? null : { party: holder.successor.party }
    return TermChange.unordered({ from: { successor: before }, to: { successor: { party } } })
  }),
  route: "POST /v1/holders/{holderId}:register-successor",
  makers: ["operator", "compliance"],
  approvers: 1,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`,
    holderId: ({ holderId }) => holderId,
    concerns: Concerns.ofHolders(({ successorId }) => [successorId])
  },
  input: SuccessorInput,
  complete: (input, makeId) =>
    input.successorId === null ? { ...input, successorId: idOf(makeId()) } : input,
  result: HolderView.HolderView,
  refuses: ["not-found", "state-conflict", "already-exists", "rule-refused"],
  plan: Effect.fn("holder.register-successor.plan")(function* (input, act) {
    const records = yield* Records
    const holder = yield* records.get(holders, input.holderId)
    yield* Effect.fromResult(decide(holder, { on: "invite-successor" }))
    if (yield* hasSuccessor(holder)) {
      return yield* Effect.fail(
        refused(
          "state-conflict",
          failed("successor-named", {
            detail: "The holder has a successor; close that one before another is named."
          })
        )
      )
    }
    yield* judgeNew({ holderId: successorOf(input), party: input.party }, act)
    const { registrationCid } = holder
    if (registrationCid === null)
      throw new Error("a registered holder has no registration contract")
    const invited = { holderId: successorOf(input), holder: input.party }
    return {
      commands: [exercise(HolderRegistration, registrationCid, "InviteSuccessor", invited)],
      last: true
    }
  }),
  finish: Effect.fnUntraced(function* (input, act) {
    const holder = yield* loaded(input.holderId)
    const successor = yield* copyDetails(holder, yield* loaded(successorOf(input)), act)
    return HolderView.of(yield* nameSuccessor(holder, successor, act))
  })
})

export const operations = [registerSuccessor] as const

const successorOf = ({ successorId }: SuccessorInput): HolderId =>
  RecordId.made(successorId, "a successor")

const loaded = (holderId: string) =>
  Effect.flatMap(Records, (records) => records.get(holders, holderId)).pipe(
    Effect.catchTag("Refused", () =>
      Effect.die(new Error(`the holder ${holderId} was not read off the ledger`))
    )
  )

/** Copies the predecessor's details to the successor, and requests the successor's screening. */
const copyDetails = Effect.fnUntraced(function* (
  { legalName, lei, classification, taxResidences, attributes }: Holder,
  successor: Effect.Success<ReturnType<typeof loaded>>,
  act: OperationAct
) {
  const records = yield* Records
  const details = { legalName, lei, classification, taxResidences, attributes }
  const described = yield* records.append(
    holders,
    successor,
    { on: "describe", at: act.now, ...details },
    act
  )
  return yield* Screenings.ask(described, act)
})
