/** Facts from the ledger about a standing settlement: opened, committed to, settled, paused, ended. */
import { Effect, Option, Schema } from "effect"
import type * as Party from "../../kernel/Party.ts"
import * as SettlementEventSteps from "../proposal/SettlementEventSteps.ts"
import { holderParties } from "../../holders/holder/Holder.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  StandingCommitment,
  StandingSettlement as StandingSettlementTemplate
} from "../../templates/Standing.ts"
import type { Payload } from "../../templates/Template.ts"
import {
  standingParties,
  type StandingSettlement,
  StandingSettlementId,
  standingSettlements,
  committedBy,
  isOf,
  missing,
  StandingSettlementMachine
} from "./StandingSettlement.ts"

type SettlementPayload = Payload<typeof StandingSettlementTemplate>
type CommitmentPayload = Payload<typeof StandingCommitment>

const settlement = LedgerRecord.transitionsOf({
  collection: standingSettlements,
  machine: StandingSettlementMachine,
  resourceKind: "standing-settlement"
})

/** Runs a reading; where it changes the settlement, the change counts for the parties it is shown to. */
const counting = (
  change: {
    readonly standingSettlementId: string
    /** The party whose commitment it is; null: every party is shown the change. */
    readonly party: Party.Party | null
  },
  node: Node,
  read: LedgerRecord.LedgerEffect
): LedgerRecord.LedgerEffect =>
  Effect.gen(function* () {
    const records = yield* Records
    const look = records.find(standingSettlements, change.standingSettlementId)
    const before = Option.getOrNull(yield* look)
    yield* read
    const after = Option.getOrNull(yield* look)
    if (before === null || after === null || before.version === after.version) return
    const isForAll = change.party === null || before.state !== after.state
    const parties = after.parties.filter((party) => isForAll || party === change.party)
    for (const { holderId } of yield* records.many(holderParties, parties)) {
      const id = `${after.standingSettlementId}/${holderId}`
      const entry = Option.getOrNull(yield* records.find(standingParties, id))
      if (entry !== null) {
        yield* records.append(standingParties, entry, { on: "change" }, node.act)
      }
    }
  })

/** Makes a move of the whole settlement, which every party is shown. */
const moving = (
  { standingSettlementId }: SettlementPayload,
  node: Node,
  fact: Parameters<typeof settlement.moveBy>[2]
): LedgerRecord.LedgerEffect =>
  counting(
    { standingSettlementId, party: null },
    node,
    settlement.moveBy(standingSettlementId, node, fact)
  )

const settlementMoves = TypedFromLedger.of(StandingSettlementTemplate, {
  created: Effect.fn("StandingSettlement.created")(function* (payload, node) {
    const records = yield* Records
    // Pausing and resuming create another contract of a settlement that is recorded.
    const existing = yield* records.find(standingSettlements, payload.standingSettlementId)
    if (Option.isNone(existing)) yield* opened(payload, node)
  }),
  exercised: {
    Settle: ({ payload }, node) => moving(payload, node, { on: "settle", at: node.effectiveAt }),
    Pause: ({ payload, result }, node) =>
      moving(payload, node, { on: "pause", standingCid: result.contractId }),
    Resume: ({ payload, result }, node) =>
      moving(payload, node, { on: "resume", standingCid: result.contractId }),
    Close: ({ payload }, node) => moving(payload, node, { on: "close", at: node.effectiveAt }),
    // After its expiry, `End` only archives the contract: the clock has ended the settlement.
    End: ({ payload: { standingSettlementId } }, node) =>
      counting(
        { standingSettlementId, party: null },
        node,
        settlement.end(standingSettlementId, node, { on: "close", at: node.effectiveAt }, "expired")
      )
  }
})

/** Read early in a snapshot: commitments may be older than the contract that a pause has renewed. */
const settlementContract: FromLedger = { ...settlementMoves, inSnapshot: "second" }

const commitment = TypedFromLedger.of(StandingCommitment, {
  created: (payload, node) =>
    counting(
      payload,
      node,
      settlement.withRecord(payload.standingSettlementId, node, "commit", (self) =>
        held(self, payload, node)
      )
    ),
  exercised: {
    Use: ({ payload }, node) => freed(payload, node),
    Cancel: ({ payload }, node) => freed(payload, node),
    Withdraw: ({ payload }, node) => freed(payload, node)
  }
})

export const fromLedger = [settlementContract, commitment] as const

const opened = Effect.fnUntraced(function* (payload: SettlementPayload, node: Node) {
  const records = yield* Records
  const parties = [...new Set(payload.funding.map(({ party }) => party))]
  const standingSettlementId = Schema.decodeSync(StandingSettlementId)(payload.standingSettlementId)
  const self = yield* LedgerRecord.open(
    standingSettlements,
    {
      standingSettlementId,
      instrumentId: Schema.decodeSync(InstrumentId)(payload.instrument.id),
      registrar: payload.registrar,
      fund: payload.fund,
      paymentAsset: payload.cash,
      // Only a snapshot shows a paused one that has no record; all was committed before it was paused.
      ...(payload.paused
        ? { state: "paused" as const, openedAt: node.effectiveAt }
        : { state: StandingSettlementMachine.initial, openedAt: null }),
      parties,
      funding: payload.funding,
      committed: [],
      allocations: [],
      iterations: 0,
      lastSettledAt: null,
      deadline: payload.deadline,
      expiresAt: payload.expiresAt,
      proposedAt: node.effectiveAt,
      endedAt: null,
      standingCid: node.contractId
    },
    node
  )
  const found = yield* records.many(holderParties, parties)
  for (const { holderId } of found) {
    yield* LedgerRecord.open(standingParties, { standingSettlementId, holderId }, node)
  }
  const event = SettlementEventSteps.proposed(node, {
    reference: self.standingSettlementId,
    instrumentId: self.instrumentId,
    party: self.fund,
    holderIds: found.map(({ holderId }) => holderId)
  })
  yield* records.announce([event])
})

/** Records a party's first commitment of an asset, or the rest of it that an iteration left. */
const held = (
  self: Stored<StandingSettlement>,
  payload: CommitmentPayload,
  node: Node
): LedgerRecord.LedgerEffect => {
  const { party, asset, amount, allocationCid } = payload
  const committed = { party, asset, amount, allocationCid, commitmentCid: node.contractId }
  if (!self.funding.some((fundingAsset) => isOf(fundingAsset, committed))) {
    return settlement.keepIdle(node, self.standingSettlementId, {
      on: "commit",
      detail: "Nobody asked for this funding."
    })
  }
  if (committedBy(self, committed) !== undefined) {
    return settlement.keepIdle(node, self.standingSettlementId, {
      on: "commit",
      detail: "The party has committed this asset already."
    })
  }
  if (
    self.state !== "proposed" ||
    missing(self).some((fundingAsset) => !isOf(fundingAsset, committed))
  ) {
    return settlement.record(self, node, { on: "hold", commitment: committed })
  }
  return settlement.record(self, node, {
    on: "commit",
    commitment: committed,
    at: node.effectiveAt
  })
}

/** Records the end of a commitment; ignores one that the same iteration created and used. */
const freed = (payload: CommitmentPayload, node: Node): LedgerRecord.LedgerEffect =>
  counting(
    payload,
    node,
    settlement.withRecord(payload.standingSettlementId, node, "free", (self) =>
      committedBy(self, payload)?.commitmentCid !== node.contractId
        ? Effect.void
        : settlement.record(self, node, { on: "free", party: payload.party, asset: payload.asset })
    )
  )
