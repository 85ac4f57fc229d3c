/** A settlement that the same parties repeat: what each committed once, and what iterations took of it. */
import { Schema } from "effect"
import * as events from "../events.ts"
import { HolderId } from "../../holders/holder/Holder.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import {
  Commitment,
  evolve,
  Fact,
  Funding,
  missing,
  StandingSettlementMachine
} from "./StandingSettlementMachine.ts"

export const StandingSettlementId = RecordId.make("StandingSettlementId")
export type StandingSettlementId = typeof StandingSettlementId.Type

const { NullOr } = Schema

export const StandingSettlement = Schema.Struct({
  standingSettlementId: StandingSettlementId,
  instrumentId: InstrumentId,
  registrar: Party.schema,
  fund: Party.schema,
  paymentAsset: Field.asset,
  state: StandingSettlementMachine.schema,
  /** Who is to commit, each once. */
  parties: Schema.Array(Party.schema),
  /** Funding that each party is to commit. */
  funding: Schema.Array(Funding),
  /** Commitments that are not used up. */
  committed: Schema.Array(Commitment),
  /** The allocations behind what is committed. */
  allocations: Schema.Array(Field.contractId),
  iterations: Integer.schema,
  lastSettledAt: NullOr(Instant.schema),
  /** The deadline that the caller set; null where it lasts as long as the commitments. */
  deadline: NullOr(Instant.schema),
  /** Until when the ledger keeps it. */
  expiresAt: Instant.schema,
  proposedAt: Instant.schema,
  openedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  /** Its contract on the ledger; null once it has ended. */
  standingCid: NullOr(Field.contractId)
}).annotate({
  identifier: "StandingSettlement",
  description: "A settlement that the same parties repeat out of what they committed once."
})
export type StandingSettlement = typeof StandingSettlement.Type

export const standingSettlements = Collection.define<StandingSettlement, Fact>(
  "standing-settlement",
  {
    doc: "A settlement that the same parties repeat out of what they committed once.",
    id: (self) => self.standingSettlementId,
    record: StandingSettlement,
    fact: Fact,
    evolve,
    keptBy: "ledger",
    filters: {
      standingSettlementId: (self) => self.standingSettlementId,
      state: (self) => self.state,
      instrumentId: (self) => self.instrumentId
    },
    ripens: ["state"],
    due: (self) =>
      Machine.isTerminal(StandingSettlementMachine, self.state)
        ? undefined
        : { at: self.expiresAt, fact: { on: "expire", at: self.expiresAt } },
    waitingOn: (self) => {
      if (self.state === "proposed") {
        return missing(self).map(({ party }) => ({
          party,
          action: "StandingSettlement.Commit",
          by: self.expiresAt
        }))
      }
      return self.state === "paused"
        ? [{ role: "operator", action: "standing-settlement.resume", by: self.expiresAt }]
        : []
    },
    invariants: {
      "one that ended says when, and stands on no contract": (self) =>
        Machine.isTerminal(StandingSettlementMachine, self.state) === (self.endedAt !== null) &&
        (self.endedAt === null) === (self.standingCid !== null),
      "it opens when all is committed": (self) =>
        self.state !== "proposed" || (self.openedAt === null && missing(self).length > 0),
      "nobody has more committed than was asked of it": (self) =>
        self.committed.every((one) =>
          self.funding.some(
            (asked) =>
              asked.party === one.party &&
              asked.asset.admin === one.asset.admin &&
              asked.asset.id === one.asset.id &&
              Decimal.atMost(one.amount, asked.amount)
          )
        ),
      "it was settled as often as it says": (self) =>
        (self.iterations === 0) === (self.lastSettledAt === null)
    }
  }
)

/** Payload of the event of its proposal. */
export const proposed = (self: StandingSettlement, cid: string) => ({
  ...events.make("settlement.proposed", {
    contractId: cid,
    reference: self.standingSettlementId
  }),
  resourceKind: "contract" as const,
  resourceId: cid,
  instrumentId: self.instrumentId,
  party: self.fund
})

/** That a holder is a party of a standing settlement: by it an investor finds its own. */
export const StandingParty = Schema.Struct({
  standingSettlementId: StandingSettlementId,
  holderId: HolderId
})
export type StandingParty = typeof StandingParty.Type

export const standingParties = Collection.define<StandingParty, never>("standing-party", {
  doc: "That a holder is a party of a standing settlement.",
  id: (self) => `${self.standingSettlementId}/${self.holderId}`,
  record: StandingParty,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  filters: {
    standingSettlementId: (self) => self.standingSettlementId,
    holderId: (self) => self.holderId
  }
})
