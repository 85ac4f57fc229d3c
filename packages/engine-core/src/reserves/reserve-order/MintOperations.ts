/** Writes of a mint: start, cancel, and the settlement that the engine opens by itself. */
import { Effect, Schema } from "effect"
import { configurationOf } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { judge } from "../../kernel/Gates.ts"
import type { OperationAct } from "../../records/Act.ts"
import * as Timely from "../../records/Timely.ts"
import * as Field from "../../templates/Field.ts"
import { MintOrder, Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Amount from "../../kernel/Amount.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Lasting from "../../writes/LastingLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import { ReserveId, reserves } from "../reserve/Reserve.ts"
import { type Mint, MintId, mints } from "./Mint.ts"
import * as Gates from "./ReserveOrderGates.ts"
import * as Lookups from "./ReserveOrderLookups.ts"
import * as Steps from "./ReserveOrderSteps.ts"
import * as ReserveOrderView from "./ReserveOrderView.ts"

const Start = Schema.Struct({
  /** Id of the mint; the engine makes one when the caller names none. */
  mintId: Field.optional(MintId),
  ...Steps.starting,
  /** Amount of the asset that is deposited. */
  deposit: Amount.deposit
})
type Start = typeof Start.Type

const idOf = ({ mintId }: Pick<Start, "mintId">): MintId => RecordId.made(mintId, "a mint")

const hrefOf = ({
  reserveId,
  mintId
}: {
  readonly reserveId: string
  readonly mintId: string
}): string => `/v1/reserves/${reserveId}/mints/${mintId}`

const shown = (mintId: string) =>
  Effect.map(Steps.reload(mints, mintId), (record) => ReserveOrderView.mint(record))

/** Loads and checks the start of a mint; refuses an id that exists before any gate. */
const starting = Effect.fnUntraced(function* (input: Start, act: OperationAct) {
  const reserve = yield* Steps.reserveOf(mints, { ...input, id: input.mintId })
  const deadline = yield* Steps.deadlineOf(input, act)
  const context = yield* Lookups.ofMint(reserve, input, act.now)
  const loaded = { ...context, deposit: input.deposit, deadline }
  return { ...loaded, rows: Gates.againstMint(loaded) }
})

export const start = Operation.defineOnLedger("mint.start", {
  doc: "Starts a mint: units of a backed instrument for a deposit, which the depositor then allocates from its wallet.",
  summary: ({ asset, deposit, holderId, reserveId }, { resource }) =>
    sentence`Starts mint ${resource.id} of holder ${holderId}: a deposit of ${deposit} of asset ${asset.id} into reserve ${reserveId}.`,
  route: "POST /v1/reserves/{reserveId}/mints",
  makers: ["operator"],
  approvers: 0,
  figuresFor: "every-role",
  resource: {
    kind: "mint",
    id: (input) => idOf(input),
    href: (input) => hrefOf({ ...input, mintId: idOf(input) }),
    turnOf: Steps.turnOf,
    holderId: ({ holderId }) => holderId,
    concerns: Concerns.ofRecord(reserves, ({ reserveId }) => reserveId)
  },
  input: Start,
  complete: (input, makeId) =>
    input.mintId === null ? { ...input, mintId: Schema.decodeSync(MintId)(makeId()) } : input,
  lasts: Lasting.whileIn(mints, (input) => [idOf(input)], ["started", "ready"]),
  result: ReserveOrderView.MintView,
  refuses: ["already-exists", "invalid-request", "not-found", "rule-refused", "state-conflict"],
  gates: (input, act) => Effect.map(starting(input, act), ({ rows }) => rows),
  plan: Effect.fn("mint.start.plan")(function* (input, act) {
    const loaded = yield* starting(input, act)
    yield* Effect.fromResult(judge(loaded.rows))
    const { deadline, holder, reserve } = loaded
    const { asset, deposit } = input
    const mintId = idOf(input)
    const { judging } = yield* Lookups.judgingOf(reserve, loaded)
    const reserveCid = yield* Steps.reserveCidOf(reserve)
    const started = exercise(ReserveTemplate, reserveCid, "StartMint", {
      mintId,
      depositor: holder.party,
      asset,
      deposit,
      units: Gates.unitsOf(loaded) ?? Decimal.zero,
      executeBefore: deadline,
      ...judging
    })
    const request = create(SettlementIntent, {
      venue: act.venue,
      settlementId: mintId,
      reference: { kind: "mint", id: mintId },
      legs: [
        {
          legId: "deposit",
          sender: holder.party,
          receiver: reserve.holder,
          instrument: asset,
          amount: deposit
        }
      ],
      requestedAt: act.now,
      allocateBefore: deadline,
      settleBefore: deadline
    })
    return { commands: [started, request], last: true }
  }),
  finish: (input) => shown(idOf(input))
})

const ById = Schema.Struct({ reserveId: ReserveId, mintId: MintId })
type ById = typeof ById.Type

const resource = {
  kind: "mint",
  id: ({ mintId }: ById) => mintId,
  href: hrefOf,
  concerns: Concerns.ofRecord(mints, ({ mintId }: ById) => mintId)
} as const

const cancel = Operation.defineOnLedger("mint.cancel", {
  doc: "Cancels a mint that has not settled; its allocated deposit goes back.",
  summary: ({ mintId, reserveId }, { holderId }) =>
    sentence`Cancels mint ${mintId} of reserve ${reserveId}${concerning({ holderId })}.`,
  route: "POST /v1/reserves/{reserveId}/mints/{mintId}:cancel",
  makers: ["operator", "risk"],
  approvers: 0,
  resource,
  input: ById,
  result: ReserveOrderView.MintView,
  refuses: ["not-found", "state-conflict"],
  plan: Effect.fn("mint.cancel.plan")(function* ({ reserveId, mintId }) {
    const self = yield* Steps.cancelling(mints, { reserveId, id: mintId })
    const argument = { allocationCid: self.heldCid, intentCid: self.intentCid }
    return {
      commands: [exercise(MintOrder, Steps.orderCidOf(self), "Cancel", argument)],
      last: true
    }
  }),
  finish: ({ mintId }) => shown(mintId)
})

/** Loads and checks the settlement of a mint. */
const settling = Effect.fnUntraced(function* (
  { reserveId, mintId }: ById,
  { now }: Pick<OperationAct, "now">
) {
  const { self, reserve } = yield* Steps.settling(mints, { reserveId, id: mintId })
  const loaded = { ...(yield* Lookups.ofMint(reserve, self, now)), order: self }
  return { ...loaded, rows: Gates.againstMintSettlement(loaded) }
})

/**
 * Locks the deposit and mints the units in one transaction. The ledger judges cover and prices too,
 * at its own time; the gates judge them before, so that a refusal names its condition.
 */
const settle = Operation.defineForEngine("mint.settle", {
  doc: "Settles a mint whose deposit is allocated: the deposit is locked and the units are minted in one transaction.",
  summary: ({ mintId, reserveId }, { holderId }) =>
    sentence`Settles mint ${mintId} of reserve ${reserveId}${concerning({ holderId })}.`,
  resource: { ...resource, turnOf: Steps.turnOf },
  input: ById,
  result: ReserveOrderView.MintSettled,
  refuses: ["not-found", "rule-refused", "state-conflict"],
  gates: (input, act) => Effect.map(settling(input, act), ({ rows }) => rows),
  plan: Effect.fn("mint.settle.plan")(function* (input, act) {
    const loaded = yield* settling(input, act)
    yield* Effect.fromResult(judge(loaded.rows))
    const { admission, agreement, instrument, order, reserve } = loaded
    const { judging, lockedCid } = yield* Lookups.judgingOf(reserve, loaded)
    const argument = {
      reserveCid: yield* Steps.reserveCidOf(reserve),
      lockAgreementCid: cidOf(agreement?.agreementCid, "agreement"),
      credentialCid: cidOf(admission?.credentialCid, "credential"),
      configurationCid: configurationOf(instrument),
      depositCredentialCid: loaded.depositCredentialCid,
      intentCid: order.intentCid,
      lockedCid,
      ...judging
    }
    return {
      commands: [exercise(MintOrder, Steps.orderCidOf(order), "Settle", argument)],
      last: true
    }
  }),
  finish: ({ mintId }) =>
    Effect.map(
      Steps.reload(mints, mintId),
      ({ units, asset, deposit, coverBefore, coverAfter }: Mint) => ({
        ...{ units, asset, deposit },
        ...{ coverBefore, coverAfter }
      })
    )
})

/** Contract that an act has once its conditions hold. */
const cidOf = (cid: string | null | undefined, named: string): string => {
  if (cid === null || cid === undefined) throw new Error(`a mint that may settle has a ${named}`)
  return cid
}

export const operations = [start, cancel] as const

/** Writes of a mint that the engine opens by itself. */
export const timely = [
  Timely.define({
    name: "mint.settle",
    doc: "Settles a mint once its deposit is allocated.",
    collection: mints,
    operation: settle,
    at: (self) => Steps.settlesAt(self),
    request: ({ reserveId, mintId }) => ({ reserveId, mintId })
  }),
  Timely.define({
    name: "mint.cancel",
    doc: "Cancels a mint that has not settled by its deadline; its allocated deposit goes back.",
    collection: mints,
    operation: cancel,
    at: (self) => Steps.cancelsAt(self),
    request: ({ reserveId, mintId }) => ({ reserveId, mintId })
  })
] as const
