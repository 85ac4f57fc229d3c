/** Record and collection of standing settlements: repeated settlements that draw on commitments made once. */
import { Schema } from "effect"
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
  isOf,
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
  /** Parties that are to commit funding. */
  parties: Schema.Array(Party.schema),
  /** Amounts of assets that the parties are to commit. */
  funding: Schema.Array(Funding),
  /** Commitments with the amounts that iterations have left. */
  committed: Schema.Array(Commitment),
  /** Allocations that secure the commitments. */
  allocations: Schema.Array(Field.contractId),
  iterations: Integer.schema,
  lastSettledAt: NullOr(Instant.schema),
  /** Deadline that the caller set; null: none was set. */
  deadline: NullOr(Instant.schema),
  /** Instant at which it expires: the deadline, or the end of the commitments. */
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
    // Without its contract nothing is committed any more, whoever ended it.
    lost: (self, { at }) =>
      Machine.isTerminal(StandingSettlementMachine, self.state)
        ? self
        : evolve(self, { on: "close", at }),
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
        self.committed.every((commitment) =>
          self.funding.some(
            (asked) => isOf(asked, commitment) && Decimal.atMost(commitment.amount, asked.amount)
          )
        ),
      "it was settled as often as it says": (self) =>
        (self.iterations === 0) === (self.lastSettledAt === null)
    }
  }
)

/**
 * A change of a standing settlement that the party is shown: of its state or its iterations, or of
 * the party's own commitments.
 */
const Change = Schema.Struct({ on: Schema.Literal("change") })

/**
 * A holder that is a party of a standing settlement. Its version and its time of change are those
 * that the holder reads of the settlement: they count what it is shown, and no commitment of others.
 */
export const StandingParty = Schema.Struct({
  standingSettlementId: StandingSettlementId,
  holderId: HolderId
})
export type StandingParty = typeof StandingParty.Type

export const standingParties = Collection.define<StandingParty, typeof Change.Type>(
  "standing-party",
  {
    doc: "That a holder is a party of a standing settlement, with the changes that it is shown.",
    id: (self) => `${self.standingSettlementId}/${self.holderId}`,
    record: StandingParty,
    fact: Change,
    evolve: (self) => self,
    keptBy: "ledger",
    filters: {
      standingSettlementId: (self) => self.standingSettlementId,
      holderId: (self) => self.holderId
    }
  }
)
