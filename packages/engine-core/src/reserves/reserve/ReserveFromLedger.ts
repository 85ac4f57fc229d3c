/** Facts from the ledger about reserves: proposed, accepted, counted, amended, closed. */
import { Effect, Equal, Option, Schema } from "effect"
import * as AgreementSteps from "../../agreements/AgreementSteps.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { Reserve as ReserveTemplate, ReserveProposal } from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import * as AmendmentSteps from "../amendment/AmendmentSteps.ts"
import * as MintFromLedger from "../reserve-order/MintFromLedger.ts"
import * as ReserveRedemptionFromLedger from "../reserve-order/ReserveRedemptionFromLedger.ts"
import * as InstrumentBackingSteps from "./InstrumentBackingSteps.ts"
import { durationOf, termsFromLedger } from "./LedgerTerms.ts"
import { type Reserve, ReserveId, reserves, ReserveMachine } from "./Reserve.ts"

type Body = Omit<Payload<typeof ReserveProposal>, "accepted">
type Contract = Payload<typeof ReserveTemplate>

const reserve = LedgerRecord.transitionsOf({
  collection: reserves,
  machine: ReserveMachine,
  resourceKind: "reserve"
})

const looks: FromLedger["looks"] = ({ reserveId }) =>
  typeof reserveId === "string" ? [{ collection: reserves, id: reserveId }] : []

const proposal = TypedFromLedger.of(ReserveProposal, {
  created: Effect.fn("ReserveProposal.created")(function* (payload, node) {
    const records = yield* Records
    // The first of two signatures creates the proposal again: the record is open by then.
    if (Option.isSome(yield* records.find(reserves, payload.reserveId))) return
    yield* opened(payload, node, {
      state: "proposed",
      acceptedBy: payload.accepted,
      proposalCid: node.contractId
    })
    yield* InstrumentBackingSteps.begun(payload, node)
  }),
  exercised: {
    Accept: ({ payload, argument: { party }, result }, node) => {
      const { proposal, reserve: contract } = result
      const fact = AgreementSteps.signatureOf({ party, contract, proposal }, node)
      return reserve.moveBy(payload.reserveId, node, fact)
    },
    Decline: ({ payload }, node) =>
      Effect.andThen(
        reserve.moveBy(payload.reserveId, node, { on: "decline", at: node.effectiveAt }),
        InstrumentBackingSteps.ended(payload, node)
      ),
    Withdraw: ({ payload }, node) =>
      Effect.andThen(
        reserve.moveBy(payload.reserveId, node, { on: "withdraw", at: node.effectiveAt }),
        InstrumentBackingSteps.ended(payload, node)
      )
  }
})

const contract = TypedFromLedger.of(ReserveTemplate, {
  created: Effect.fn("Reserve.created")(function* (payload, node) {
    const records = yield* Records
    const found = Option.getOrNull(yield* records.find(reserves, payload.reserveId))
    if (found !== null) yield* counted(found, payload, node)
    else if (Snapshot.isOf(node)) yield* fromSnapshot(payload, node)
    else {
      yield* reserve.keepBreach(node, payload.reserveId, {
        on: "activate",
        detail: "Nobody proposed this reserve."
      })
    }
  }),
  exercised: {
    StartMint: MintFromLedger.started,
    StartRedemption: ReserveRedemptionFromLedger.started,
    Amend: ({ payload, argument: { amendmentId, terms }, result }, node) =>
      reserve.withRecord(payload.reserveId, node, "renew", (self) =>
        Effect.gen(function* () {
          const amended = { amendmentId, terms: termsFromLedger(terms) }
          const course = yield* AmendmentSteps.accepted(self, amended, node)
          yield* renewed(self, { reserveCid: result.contractId, course }, node)
        })
      ),
    WithdrawPending: ({ payload, argument: { amendmentId }, result }, node) =>
      reserve.withRecord(payload.reserveId, node, "renew", (self) =>
        Effect.gen(function* () {
          yield* AmendmentSteps.withdrawn(self, amendmentId, node)
          yield* withoutPending(self, result.contractId, node)
        })
      ),
    Close: ({ payload, result: { reserve: reserveCid } }, node) =>
      reserve.withRecord(payload.reserveId, node, "close", (self) =>
        Effect.gen(function* () {
          const { reserveId } = payload
          const at = { at: node.effectiveAt } as const
          if (reserveCid === null && (yield* AmendmentSteps.reserveEnded(self, node))) {
            yield* withoutPending(self, self.reserveCid, node)
          }
          if (self.state !== "closing")
            yield* reserve.moveBy(reserveId, node, { on: "close", ...at })
          if (reserveCid !== null) return
          yield* reserve.moveBy(reserveId, node, { on: "empty", ...at })
          yield* InstrumentBackingSteps.ended(payload, node)
        })
      )
  }
})

export const fromLedger: ReadonlyArray<FromLedger> = [
  // Proposals, holdings and orders of a snapshot are read after the reserve that they belong to.
  { ...proposal, looks, inSnapshot: "second" },
  { ...contract, looks, inSnapshot: "second" }
]

const opened = (
  payload: Body,
  node: Node,
  opening: Pick<Reserve, "state" | "acceptedBy" | "proposalCid"> & Partial<Reserve>
) =>
  LedgerRecord.open(
    reserves,
    {
      reserveId: Schema.decodeSync(ReserveId)(payload.reserveId),
      instrumentId: payload.instrument.id,
      issuer: payload.issuer,
      holder: payload.holder,
      unit: payload.unit,
      decimals: payload.decimals,
      priceDecimals: payload.priceDecimals,
      parValue: payload.parValue,
      initialSharePrice: payload.initialSharePrice,
      loosenDelay: durationOf(payload.loosenDelay),
      openedWith: termsFromLedger(payload.terms),
      terms: termsFromLedger(payload.terms),
      pending: null,
      amendmentId: null,
      reserveCid: null,
      outstanding: Decimal.zero,
      locked: [],
      reportedAt: null,
      proposedAt: node.effectiveAt,
      offset: node.offset,
      activatedAt: null,
      endedAt: null,
      ...opening
    },
    node
  )

/** A snapshot holds the reserve without its proposal: both had accepted it. */
const fromSnapshot = Effect.fnUntraced(function* (payload: Contract, node: Node) {
  const self = yield* opened(payload, node, {
    state: payload.closing ? "closing" : "active",
    acceptedBy: [...new Set([payload.issuer, payload.holder])],
    proposalCid: null,
    activatedAt: node.effectiveAt,
    reserveCid: node.contractId,
    ...countOf(payload),
    pending: pendingOf(payload)
  })
  yield* InstrumentBackingSteps.begun(payload, node)
  yield* AmendmentSteps.waiting(self, node)
})

const countOf = ({ outstanding, locked }: Contract) => ({ outstanding, locked })

const pendingOf = ({ pending }: Contract): Reserve["pending"] =>
  pending === null ? null : { ...pending, terms: termsFromLedger(pending.terms) }

/**
 * Records the counts and terms of a new contract of the reserve. Where its terms differ from those
 * that the amendments led to, the ledger's are kept and the difference is recorded as a breach.
 */
const counted = Effect.fnUntraced(function* (self: Stored<Reserve>, payload: Contract, node: Node) {
  const course = { terms: termsFromLedger(payload.terms), pending: pendingOf(payload) }
  const isAsJudged =
    Equal.equals(course.terms, self.terms) && Equal.equals(course.pending, self.pending)
  const isAsCounted =
    self.reserveCid === node.contractId && Equal.equals(countOf(payload), countedOf(self))
  if (isAsJudged && isAsCounted) return
  if (!isAsJudged) {
    yield* reserve.keepBreach(node, self.reserveId, {
      on: "renew",
      detail: "The terms of the reserve are others than its amendments led to."
    })
  }
  yield* reserve.record(self, node, {
    on: "renew",
    reserveCid: node.contractId,
    ...countOf(payload),
    course: isAsJudged ? null : { ...course, amendmentId: self.amendmentId }
  })
})

const countedOf = ({ outstanding, locked }: Reserve) => ({ outstanding, locked })

const renewed = (
  self: Stored<Reserve>,
  renewal: {
    readonly reserveCid: string | null
    readonly course: Pick<Reserve, "terms" | "pending" | "amendmentId">
  },
  node: Node
) => reserve.record(self, node, { on: "renew", ...countedOf(self), ...renewal })

/** Records that no terms wait any more; those in force stay. */
const withoutPending = (self: Stored<Reserve>, reserveCid: string | null, node: Node) => {
  const { terms, amendmentId } = self
  return renewed(self, { reserveCid, course: { terms, pending: null, amendmentId } }, node)
}
