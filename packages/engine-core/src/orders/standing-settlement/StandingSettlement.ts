/** Record and collection of standing settlements: repeated settlements that draw on commitments made once. */
import { Schema, Result } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { match } from "ts-pattern"

export const StandingSettlementMachine = Machine.declare("StandingSettlementState", {
  doc: "A settlement that the same parties repeat under allocations they committed once.",
  states: {
    proposed: "Proposed; not every party committed its allocation.",
    open: "The allocations are committed.",
    paused: "No iteration runs until it is resumed.",
    closed: "Its allocations are cancelled and the funds are back.",
    expired: "Its deadline passed."
  },
  triggers: {
    commit: { by: ["ledger"] },
    settle: { by: ["standing-settlement.settle"] },
    pause: { by: ["standing-settlement.pause"] },
    resume: { by: ["standing-settlement.resume"] },
    // The fund may also end it, from its own wallet.
    close: { by: ["standing-settlement.close", "ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens a paused settlement as paused.
  opensIn: ["proposed", "paused"],
  // Its contract requests the allocations itself, so the creation is announced as a proposed settlement.
  opens: { by: ["standing-settlement.open"], announces: ["settlement.proposed"] },
  moves: {
    proposed: { commit: "open", expire: "expired" },
    open: { settle: "open", pause: "paused", close: "closed", expire: "expired" },
    paused: { resume: "open", close: "closed", expire: "expired" },
    closed: {},
    expired: {}
  },
  forward: ["commit", "resume"]
})

/** Funding of a party: cash, or units for redemptions. */
export const Funding = Schema.Struct({
  party: Party.schema,
  asset: Field.asset,
  amount: Decimal.schema
})
export type Funding = typeof Funding.Type

/** Commitment of a party, secured by an allocation of that party. */
export const Commitment = Schema.Struct({
  ...Funding.fields,
  commitmentCid: Field.contractId,
  allocationCid: Field.contractId
})
export type Commitment = typeof Commitment.Type

const PartyAsset = { party: Party.schema, asset: Field.asset } as const
const at = { at: Instant.schema } as const

// Facts that do not change the state.

/** A party committed an asset, or an iteration left the rest of a commitment under another contract. */
const Hold = Schema.Struct({ on: Schema.Literal("hold"), commitment: Commitment })
/** A commitment was used, cancelled or withdrawn. */
const Free = Schema.Struct({ on: Schema.Literal("free"), ...PartyAsset })

// Facts of the table's triggers.

/** The last commitment that was missing: the settlement opens. */
const Commit = Schema.Struct({ on: Schema.Literal("commit"), commitment: Commitment, ...at })
const Settle = Schema.Struct({ on: Schema.Literal("settle"), ...at })
const moving = { standingCid: Field.contractId } as const
const Pause = Schema.Struct({ on: Schema.Literal("pause"), ...moving })
const Resume = Schema.Struct({ on: Schema.Literal("resume"), ...moving })
const Close = Schema.Struct({ on: Schema.Literal("close"), ...at })
const Expire = Schema.Struct({ on: Schema.Literal("expire"), ...at })

export const Fact = Schema.Union([Hold, Free, Commit, Settle, Pause, Resume, Close, Expire])
export type Fact = typeof Fact.Type

/** Commands of the venue. */
type Command = "settle" | "pause" | "resume" | "close"

/** Guard: decides whether the state allows the command. */
export const decide = (self: StandingSettlement, on: Command) =>
  Machine.admit(StandingSettlementMachine, self, on).pipe(Result.map(() => on))

/** Fold: the standing settlement after `fact`. */
const evolve = (self: StandingSettlement, fact: Fact): StandingSettlement =>
  match(fact)
    .with({ on: "hold" }, ({ commitment }) =>
      holding(self, [...others(self, commitment), commitment])
    )
    .with({ on: "free" }, (whose) => holding(self, others(self, whose)))
    .with({ on: "commit" }, ({ on, commitment, at: openedAt }) => ({
      ...holding(self, [...others(self, commitment), commitment]),
      state: moved(self, on),
      openedAt
    }))
    .with({ on: "settle" }, ({ on, at: lastSettledAt }) => ({
      ...self,
      state: moved(self, on),
      iterations: self.iterations + 1,
      lastSettledAt
    }))
    .with({ on: "pause" }, { on: "resume" }, ({ on, standingCid }) => ({
      ...self,
      state: moved(self, on),
      standingCid
    }))
    .with({ on: "close" }, { on: "expire" }, ({ on, at: endedAt }) => ({
      ...self,
      state: moved(self, on),
      endedAt,
      standingCid: null
    }))
    .exhaustive()

const moved = (self: StandingSettlement, on: Machine.TriggerOf<typeof StandingSettlementMachine>) =>
  Machine.follow(StandingSettlementMachine, self.state, on)

const holding = (
  self: StandingSettlement,
  committed: ReadonlyArray<Commitment>
): StandingSettlement => ({
  ...self,
  committed,
  allocations: committed.map(({ allocationCid }) => allocationCid)
})

type PartyAsset = Pick<Funding, "party" | "asset">

/** Checks whether both have the same party and asset, of which there is at most one commitment. */
export const isOf = (left: PartyAsset, right: PartyAsset): boolean =>
  left.party === right.party &&
  left.asset.admin === right.asset.admin &&
  left.asset.id === right.asset.id

const others = (self: StandingSettlement, whose: PartyAsset): ReadonlyArray<Commitment> =>
  self.committed.filter((commitment) => !isOf(commitment, whose))

/** Returns the funding that is not committed yet. */
export const missing = (
  self: Pick<StandingSettlement, "funding" | "committed">
): ReadonlyArray<Funding> =>
  self.funding.filter(
    (fundingAsset) => !self.committed.some((commitment) => isOf(commitment, fundingAsset))
  )

/** Finds the commitment of a party and an asset. */
export const committedBy = (
  self: Pick<StandingSettlement, "committed">,
  whose: PartyAsset
): Commitment | undefined => self.committed.find((commitment) => isOf(commitment, whose))

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
            (fundingAsset) =>
              isOf(fundingAsset, commitment) &&
              Decimal.atMost(commitment.amount, fundingAsset.amount)
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
