/** What the ledger says of a standing settlement: asked for, committed to, settled, paused, ended. */
import { Effect, Option, Schema } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Once from "../../projection/Once.ts"
import type { Node } from "../../projection/Reading.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  StandingCommitment,
  StandingSettlement as StandingSettlementTemplate
} from "../../templates/Standing.ts"
import type { Payload } from "../../templates/Template.ts"
import {
  proposed,
  standingParties,
  type StandingSettlement,
  StandingSettlementId,
  standingSettlements
} from "./StandingSettlement.ts"
import {
  committedBy,
  type Fact,
  isOf,
  missing,
  StandingSettlementMachine
} from "./StandingSettlementMachine.ts"

type Standing = Payload<typeof StandingSettlementTemplate>
type Committed = Payload<typeof StandingCommitment>
type Move = Extract<Fact, { readonly on: Machine.TriggerOf<typeof StandingSettlementMachine> }>
type Reads = Effect.Effect<void, Unavailable, Records>

const standing = TypedReading.of(StandingSettlementTemplate, {
  created: Effect.fn("StandingSettlement.created")(function* (payload, node) {
    const records = yield* Records
    // A pause makes it anew, and was read before what it made.
    const known = yield* records.find(standingSettlements, payload.standingSettlementId)
    if (Option.isNone(known)) yield* opened(payload, node)
  }),
  exercised: {
    Settle: ({ payload }, node) => moved(payload, node, { on: "settle", at: node.effectiveAt }),
    Pause: ({ payload, result }, node) =>
      moved(payload, node, { on: "pause", standingCid: result.contractId }),
    Resume: ({ payload, result }, node) =>
      moved(payload, node, { on: "resume", standingCid: result.contractId }),
    Close: ({ payload }, node) => moved(payload, node, { on: "close", at: node.effectiveAt }),
    // Past its time the fund only puts the contract away: the clock has ended it.
    End: ({ payload }, node) =>
      found(payload, node, "close", (self) =>
        self.state === "expired"
          ? Effect.void
          : moved(payload, node, { on: "close", at: node.effectiveAt })
      )
  }
})

const commitment = TypedReading.of(StandingCommitment, {
  created: (payload, node) => found(payload, node, "commit", (self) => held(self, payload, node)),
  exercised: {
    Use: ({ payload }, node) => freed(payload, node),
    Cancel: ({ payload }, node) => freed(payload, node),
    Withdraw: ({ payload }, node) => freed(payload, node)
  }
})

export const readings = [standing, commitment] as const

const opened = Effect.fnUntraced(function* (payload: Standing, node: Node) {
  const records = yield* Records
  const parties = [...new Set(payload.funding.map(({ party }) => party))]
  const standingSettlementId = Schema.decodeSync(StandingSettlementId)(payload.standingSettlementId)
  const self = yield* Once.open(
    standingSettlements,
    {
      standingSettlementId,
      instrumentId: Schema.decodeSync(InstrumentId)(payload.instrument.id),
      registrar: payload.registrar,
      fund: payload.fund,
      paymentAsset: payload.cash,
      state: StandingSettlementMachine.initial,
      parties,
      funding: payload.funding,
      committed: [],
      allocations: [],
      iterations: 0,
      lastSettledAt: null,
      deadline: payload.deadline,
      expiresAt: payload.expiresAt,
      proposedAt: node.effectiveAt,
      openedAt: null,
      endedAt: null,
      standingCid: node.contractId
    },
    node
  )
  const known = yield* records.many(holderParties, parties)
  for (const { holderId } of known) {
    yield* Once.open(standingParties, { standingSettlementId, holderId }, node)
  }
  yield* records.announce([
    {
      ...proposed(self, node.contractId),
      holderIds: known.map(({ holderId }) => holderId),
      journal: {
        at: node.effectiveAt,
        offset: node.offset,
        source: `${node.offset}:${node.nodeId}:settlement.proposed`
      }
    }
  ])
})

/** A party's first commitment of an asset, or what an iteration left of it. */
const held = (self: Stored<StandingSettlement>, payload: Committed, node: Node): Reads => {
  const { party, asset, amount, allocationCid } = payload
  const held = { party, asset, amount, allocationCid, commitmentCid: node.contractId }
  if (!self.funding.some((asked) => isOf(asked, held))) {
    return surprise(payload, node, "commit", "Nobody asked for this funding.")
  }
  if (committedBy(self, held) !== undefined) {
    return surprise(payload, node, "commit", "The party has committed this asset already.")
  }
  if (self.state !== "proposed" || missing(self).some((asked) => !isOf(asked, held))) {
    return noted(self, node, { on: "hold", commitment: held })
  }
  return noted(self, node, { on: "commit", commitment: held, at: node.effectiveAt })
}

/** An iteration frees what it draws on more than once: what it made and used up was never held. */
const freed = (payload: Committed, node: Node): Reads =>
  found(payload, node, "free", (self) =>
    committedBy(self, payload)?.commitmentCid !== node.contractId
      ? Effect.void
      : noted(self, node, { on: "free", party: payload.party, asset: payload.asset })
  )

// ---- what all of them do

type Named = Pick<Standing, "standingSettlementId">

const found = (
  payload: Named,
  node: Node,
  on: string,
  read: (self: Stored<StandingSettlement>) => Reads
): Reads =>
  Effect.gen(function* () {
    const records = yield* Records
    const self = yield* records.find(standingSettlements, payload.standingSettlementId)
    if (Option.isSome(self)) yield* read(self.value)
    else yield* surprise(payload, node, on, "There is no such standing settlement.")
  })

const moved = (payload: Named, node: Node, fact: Move): Reads =>
  found(payload, node, fact.on, (self) =>
    Machine.allows(StandingSettlementMachine, self.state, fact.on)
      ? noted(self, node, fact)
      : surprise(payload, node, fact.on, `The standing settlement is ${self.state}.`)
  )

const noted = (self: Stored<StandingSettlement>, node: Node, fact: Fact): Reads =>
  Effect.flatMap(Records, (records) =>
    Effect.asVoid(records.record(standingSettlements, self, fact, node.act))
  )

const surprise = (payload: Named, node: Node, on: string, detail: string) =>
  Unexpected.keep(node, {
    resourceKind: "standing-settlement",
    resourceId: payload.standingSettlementId,
    on,
    detail
  })
