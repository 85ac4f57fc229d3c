/** Writes of a lock agreement: propose, and release, which also takes a proposal back. */
import { Effect, Option, Schema } from "effect"
import * as ProposalSteps from "../../agreements/ProposalSteps.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import {
  LockAgreement as LockAgreementTemplate,
  LockAgreementProposal
} from "../../templates/Reserve.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { sentence } from "../../writes/Summary.ts"
import * as ReserveOrder from "../reserve-order/ReserveOrder.ts"
import { mints } from "../reserve-order/Mint.ts"
import { reserveRedemptions } from "../reserve-order/ReserveRedemption.ts"
import { type Reserve, ReserveId, reserves } from "../reserve/Reserve.ts"
import { isLeftEmpty } from "../reserve/ReserveEndLookups.ts"
import { booksOf, countedHoldingsOf, judgingOf } from "../reserve/ReserveLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import * as TermsBody from "../reserve/TermsBody.ts"
import {
  type LockAgreement,
  LockAgreementId,
  lockAgreements,
  liveKeyOf,
  decideRelease
} from "./LockAgreement.ts"
import { lockedUnder } from "./LockAgreementLookups.ts"
import * as Gates from "./LockAgreementGates.ts"
import * as LockAgreementView from "./LockAgreementView.ts"

const amountBelow = Decimal.fromInteger(1_000_000_000_000_000n)

const amount = Decimal.plainOf({
  expected: "a decimal of at least zero, of at most 15 digits before the point",
  is: (locked) => !Decimal.isNegative(locked) && Decimal.lessThan(locked, amountBelow),
  description:
    "Amount of the asset that the reserve's holder locks as it accepts: at least 0, with at most 15 digits before the point and 10 after it."
})

const Body = Schema.Struct({
  reserveId: ReserveId,
  /** Id of the agreement; the engine makes one when the caller names none. */
  lockAgreementId: Field.optional(LockAgreementId),
  asset: TermsBody.asset,
  amount: amount.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(Decimal.zero)))
})
type Body = typeof Body.Type

const idOf = ({ lockAgreementId }: Pick<Body, "lockAgreementId">) =>
  RecordId.made(lockAgreementId, "a lock agreement")

const hrefOf = ({
  reserveId,
  lockAgreementId
}: {
  readonly reserveId: string
  readonly lockAgreementId: string
}): string => `/v1/reserves/${reserveId}/lock-agreements/${lockAgreementId}`

const propose = Operation.defineOnLedger("lock-agreement.propose", {
  doc: "Asks an asset's registrar and a reserve's holder to agree that the asset may be locked for the reserve.",
  summary: ({ asset, reserveId }, { resource }) =>
    sentence`Proposes lock agreement ${resource.id} of asset ${asset.id} for reserve ${reserveId}.`,
  route: "POST /v1/reserves/{reserveId}/lock-agreements",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "lock-agreement",
    id: (input) => idOf(input),
    href: (input) => hrefOf({ ...input, lockAgreementId: idOf(input) }),
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: Body,
  complete: (input, makeId) =>
    input.lockAgreementId === null
      ? { ...input, lockAgreementId: Schema.decodeSync(LockAgreementId)(makeId()) }
      : input,
  lasts: Lasting.whileIn(lockAgreements, (input) => [idOf(input)], ["proposed", "active"]),
  result: LockAgreementView.LockAgreementView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: (input, act) => Effect.map(proposing(input, act), ({ rows }) => rows),
  plan: Effect.fn("lock-agreement.propose.plan")(function* (input, act) {
    const { reserve, rows } = yield* proposing(input, act)
    yield* Effect.fromResult(judge(rows))
    const proposal = create(LockAgreementProposal, {
      venue: act.venue,
      lockAgreementId: idOf(input),
      reserveId: reserve.reserveId,
      asset: input.asset,
      holder: reserve.holder,
      amount: input.amount,
      accepted: []
    })
    return { commands: [proposal], last: true }
  }),
  finish: (input, act) => shown(idOf(input), act)
})

/** Loads and checks a proposal; refuses an id that exists before any gate. */
const proposing = Effect.fnUntraced(function* (input: Body, { now }: OperationAct) {
  const records = yield* Records
  const { asset, lockAgreementId, reserveId } = input
  if (
    lockAgreementId !== null &&
    Option.isSome(yield* records.find(lockAgreements, lockAgreementId))
  ) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A lock agreement of this id exists." })
    )
  }
  const reserve = yield* records.get(reserves, reserveId)
  const live = yield* records.list(lockAgreements, {
    where: { live: [liveKeyOf({ reserveId, asset })] },
    limit: 1
  })
  const rows = Gates.againstProposal({ reserve, asset, isAgreed: live.length > 0, now })
  return { reserve, rows }
})

const ById = Schema.Struct({ reserveId: ReserveId, lockAgreementId: LockAgreementId })
type ById = typeof ById.Type

const release = Operation.defineOnLedger("lock-agreement.release", {
  doc: "Ends a lock agreement and releases what is locked under it to the reserve's holder; takes back one that is proposed.",
  summary: ({ lockAgreementId, reserveId }) =>
    sentence`Ends lock agreement ${lockAgreementId} of reserve ${reserveId} and releases what it locks.`,
  route: "POST /v1/reserves/{reserveId}/lock-agreements/{lockAgreementId}:release",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "lock-agreement",
    id: ({ lockAgreementId }) => lockAgreementId,
    href: (input) => hrefOf(input),
    concerns: Concerns.ofRecord(lockAgreements, ({ lockAgreementId }) => lockAgreementId)
  },
  input: ById,
  result: LockAgreementView.LockAgreementView,
  refuses: ["not-found", "state-conflict", "rule-refused"],
  gates: (input, act) => Effect.map(releasing(input, act), ({ rows }) => rows),
  plan: Effect.fn("lock-agreement.release.plan")(function* (input, act) {
    const { self, reserve, rows } = yield* releasing(input, act)
    yield* Effect.fromResult(judge(rows))
    const { proposalCid } = self
    return proposalCid === null
      ? { commands: [yield* released(self, reserve, act)], last: true }
      : { commands: [exercise(LockAgreementProposal, proposalCid, "Withdraw", {})], last: true }
  }),
  finish: ({ lockAgreementId }, act) => shown(lockAgreementId, act)
})

/** Loads and checks a release; a proposal that is not signed yet is taken back without a condition. */
const releasing = Effect.fnUntraced(function* (input: ById, { now }: OperationAct) {
  const records = yield* Records
  const self = yield* agreementOf(input)
  yield* Effect.fromResult(decideRelease(self))
  const reserve = yield* records.get(reserves, self.reserveId)
  if (self.state === "proposed") return { self, reserve, rows: [] }
  const where = { openIn: [ReserveOrder.assetKeyOf(self)] }
  const minting = yield* records.list(mints, { where, limit: 1 })
  const redeeming = yield* records.list(reserveRedemptions, { where, limit: 1 })
  const { books } = yield* booksOf(reserve, { at: now })
  const isOrdered = minting.length > 0 || redeeming.length > 0
  const rows = Gates.againstRelease({ asset: self.asset, isOrdered, books, unit: reserve.unit })
  return { self, reserve, rows }
})

/** Loads a lock agreement of the reserve that the path names. */
const agreementOf = Effect.fnUntraced(function* ({ lockAgreementId, reserveId }: ById) {
  const records = yield* Records
  const self = yield* records.get(lockAgreements, lockAgreementId)
  return self.reserveId === reserveId
    ? self
    : yield* Effect.fail(
        refused("not-found", { detail: `There is no such ${lockAgreements.name}.` })
      )
})

/** The choice that releases the locked assets; the ledger judges it too. */
const released = Effect.fnUntraced(function* (
  self: LockAgreement,
  reserve: Reserve,
  { now }: OperationAct
) {
  const { agreementCid } = self
  const { reserveCid } = reserve
  if (agreementCid === null || reserveCid === null) {
    throw new Error(`${self.lockAgreementId} is active and has no contract`)
  }
  const books = yield* booksOf(reserve, { at: now })
  const locked = (yield* countedHoldingsOf(reserve)).get(keyOf(self.asset))
  const last = reserve.state === "closing" && (yield* isLeftEmpty(reserve, now, self))
  return exercise(LockAgreementTemplate, agreementCid, "Release", {
    reserveCid,
    lockedCids: locked === undefined ? [] : [locked],
    ...(yield* judgingOf(reserve, books, self.asset)),
    last
  })
})

/** View of a lock agreement after its operation. */
const shown = Effect.fnUntraced(function* (lockAgreementId: string, { venue }: OperationAct) {
  const record = yield* ProposalSteps.opened(lockAgreements, lockAgreementId)
  const [locked] = yield* lockedUnder(record.reserveId, [record])
  if (locked === undefined) throw new Error("an agreement locks something or nothing")
  return LockAgreementView.of(record, { locked, venue })
})

export const operations = [propose, release] as const
