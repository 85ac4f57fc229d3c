/**
 * Record of a reserve: the assets that back the units of an instrument, by the ledger's own count.
 */
import { Schema, Result } from "effect"
import { match } from "ts-pattern"
import * as Agreement from "../../agreements/Agreement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { keyOf, StoredTerms } from "./ReserveTerms.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"

export const ReserveMachine = Machine.declare("ReserveState", {
  doc: "The reserve of a backed instrument. Its cover is no state of it, and is judged by itself.",
  states: {
    proposed: "Binds nobody: the issuer and the holder have not both accepted.",
    active: "Both accepted.",
    declined: "One of them declined.",
    withdrawn: "The venue took it back before both accepted.",
    closing: "No more mints; what is outstanding is redeemed.",
    closed: "Nothing is outstanding, open or locked."
  },
  triggers: {
    accept: { by: ["ledger"] },
    activate: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["reserve.close"] },
    close: { by: ["reserve.close"] },
    empty: { by: ["reserve.close", "lock-agreement.release"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens the reserve in the state that it has.
  opensIn: ["proposed", "active", "closing"],
  opens: { by: ["reserve.propose", "ledger"] },
  moves: {
    proposed: {
      accept: "proposed",
      activate: "active",
      decline: "declined",
      withdraw: "withdrawn"
    },
    active: { close: "closing" },
    declined: {},
    withdrawn: {},
    closing: { empty: "closed" },
    closed: {}
  },
  forward: ["activate", "empty"]
})

export const ReserveId = RecordId.make("ReserveId")
export type ReserveId = typeof ReserveId.Type

/** Longest id that a caller may give a reserve: ids of its scheduled reports are made of it. */
export const reserveIdMax = 100

const { NullOr, String: Text } = Schema

/** An amount of an asset. */
export const AssetAmount = Schema.Struct({ asset: Field.asset, amount: Decimal.schema })
export type AssetAmount = typeof AssetAmount.Type

/** Terms that the issuer accepted and that are in force from an instant on. */
const Pending = Schema.Struct({
  amendmentId: Text,
  terms: StoredTerms,
  effectiveAt: Instant.schema
})

/** Members that change with the terms. */
const course = {
  /** Terms in force until pending ones are. */
  terms: StoredTerms,
  pending: NullOr(Pending),
  /** Amendment by which `terms` came into force; null: the reserve opened with them. */
  amendmentId: NullOr(Text)
} as const

/** Members that the reserve's contract counts. */
const count = {
  /** The reserve on the ledger; null before both have accepted. */
  reserveCid: NullOr(Field.contractId),
  /** Units outstanding by the ledger's own count. */
  outstanding: Decimal.schema,
  /** Locked amounts by the ledger's own count; none of them is 0. */
  locked: Schema.Array(AssetAmount)
} as const

export const Reserve = Schema.Struct({
  reserveId: ReserveId,
  instrumentId: Text,
  /** Issuer of the backed instrument, which is its registrar. */
  issuer: Party.schema,
  /** Party that owns every holding of the reserve. */
  holder: Party.schema,
  /** Unit of account of every price: the instrument's currency. */
  unit: Text,
  decimals: Integer.schema,
  priceDecimals: Integer.schema,
  /** Worth of a unit at par; null: the reserve is accumulating. */
  parValue: NullOr(Decimal.schema),
  initialSharePrice: NullOr(Decimal.schema),
  loosenDelay: Duration.schema,
  state: ReserveMachine.schema,
  acceptedBy: Schema.Array(Party.schema),
  /** Terms that the reserve opened with; after a snapshot, those of the snapshot. */
  openedWith: StoredTerms,
  ...course,
  ...count,
  /** Instant of the latest report; null before the first. */
  reportedAt: NullOr(Instant.schema),
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  activatedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId)
}).annotate({
  identifier: "Reserve",
  description: "Assets locked on the ledger against which units of an instrument exist."
})
export type Reserve = typeof Reserve.Type

/** Decides whether a reserve may be closed: it has not ended. */
export const decideClose = (self: {
  readonly state: Machine.State<typeof ReserveMachine>
}): Result.Result<void, Refused<"state-conflict">> =>
  Machine.isTerminal(ReserveMachine, self.state)
    ? refuse("state-conflict", {
        check: ReserveMachine.name,
        detail: `The reserve is ${self.state}.`
      })
    : Result.void

const at = { at: Instant.schema } as const

const names = { cid: "reserveCid", agreedAt: "activatedAt" } as const

export const Fact = Schema.Union([
  ...Agreement.signatures({ cid: names.cid, agree: "activate", withdraw: "withdraw" }),
  Schema.Struct({ on: Schema.Literal("close"), ...at }),
  Schema.Struct({ on: Schema.Literal("empty"), ...at }),
  /** The reserve has another contract; `course` is present where the terms have changed. */
  Schema.Struct({
    on: Schema.Literal("renew"),
    ...count,
    course: Field.optional(Schema.Struct(course))
  }),
  Schema.Struct({ on: Schema.Literal("report"), ...at })
])
export type Fact = typeof Fact.Type

/** Fold: the reserve after `fact`. */
const evolve = (self: Reserve, fact: Fact): Reserve =>
  match(fact)
    .with({ on: "accept" }, (signature) => Agreement.accepted(self, signature))
    .with({ on: "activate" }, (last) => Agreement.agreed(moved(self, last.on), last, names))
    .with({ on: "decline" }, { on: "withdraw" }, (end) =>
      Agreement.unsigned(moved(self, end.on), end)
    )
    .with({ on: "close" }, ({ on }) => moved(self, on))
    .with({ on: "empty" }, ({ on, at: endedAt }) => ({
      ...moved(self, on),
      reserveCid: null,
      // The contract that counts the last release ends in the same transaction, and is not read.
      locked: [],
      endedAt
    }))
    .with({ on: "renew" }, ({ on: _, course: changed, ...counted }) => ({
      ...self,
      ...counted,
      ...(changed ?? {})
    }))
    .with({ on: "report" }, ({ at: reportedAt }) => ({ ...self, reportedAt }))
    .exhaustive()

const moved = (self: Reserve, on: Machine.TriggerOf<typeof ReserveMachine>): Reserve => ({
  ...self,
  state: Machine.follow(ReserveMachine, self.state, on)
})

/** Parties whose signatures a reserve still needs; one that is both issuer and holder signs once. */
const missing = ({ acceptedBy, issuer, holder }: Reserve): ReadonlyArray<Party.Party> =>
  Agreement.missingOf([issuer, holder], acceptedBy)

/** A reserve backs its instrument from its proposal to its end. */
export const isBacking = ({ state }: Pick<Reserve, "state">): boolean =>
  !Machine.isTerminal(ReserveMachine, state)

export const reserves = Collection.define<Reserve, Fact>("reserve", {
  doc: "Assets locked on the ledger against which units of an instrument exist.",
  id: (self) => self.reserveId,
  record: Reserve,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  filters: {
    reserveId: (self) => self.reserveId,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.issuer,
    state: (self) => self.state,
    /** The instrument while a reserve backs it; null after the reserve's end. */
    backing: (self) => (isBacking(self) ? self.instrumentId : null)
  },
  waitingOn: (self) => {
    if (self.state === "proposed") {
      return Agreement.awaiting(missing(self), "ReserveProposal.Accept")
    }
    return self.state === "closing"
      ? [{ role: "operator", action: "lock-agreement.release", by: null }]
      : []
  },
  invariants: {
    ...Agreement.invariants,
    "a reserve in force stands on its contract": (self) =>
      (self.state === "active" || self.state === "closing") === (self.reserveCid !== null),
    "a reserve in force was accepted by its issuer and its holder": (self) =>
      self.reserveCid === null || missing(self).length === 0,
    "each asset is counted once, and more than nothing of it": ({ locked }) =>
      new Set(locked.map(({ asset }) => keyOf(asset))).size === locked.length &&
      locked.every(({ amount }) => Decimal.isPositive(amount)),
    "no fewer units than none are outstanding": ({ outstanding }) =>
      !Decimal.isNegative(outstanding),
    "a reserve that ended says when": (self) =>
      Machine.isTerminal(ReserveMachine, self.state) === (self.endedAt !== null)
  }
})
