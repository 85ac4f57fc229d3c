/** State machine of a standing settlement: moves, and who makes each. */
import { Result, Schema } from "effect"
import { match } from "ts-pattern"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"
import type { StandingSettlement } from "./StandingSettlement.ts"

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
export type Command = "settle" | "pause" | "resume" | "close"

/** Guard: decides whether the state allows the command. */
export const decide = (self: StandingSettlement, on: Command) =>
  Machine.admit(StandingSettlementMachine, self, on).pipe(Result.map(() => on))

/** Fold: the standing settlement after `fact`. */
export const evolve = (self: StandingSettlement, fact: Fact): StandingSettlement =>
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
  self.funding.filter((asked) => !self.committed.some((commitment) => isOf(commitment, asked)))

/** Finds the commitment of a party and an asset. */
export const committedBy = (
  self: Pick<StandingSettlement, "committed">,
  whose: PartyAsset
): Commitment | undefined => self.committed.find((commitment) => isOf(commitment, whose))
