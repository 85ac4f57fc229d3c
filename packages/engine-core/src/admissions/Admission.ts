/** Record of one holder's admission to one instrument: the offered credential, and its end. */
import { Schema, Result } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Machine from "../kernel/Machine.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import { match } from "ts-pattern"
import { about, announcing } from "../records/EventDeclaration.ts"

export const AdmissionMachine = Machine.declare("AdmissionState", {
  doc: "One holder with one instrument. Offered and admitted both hold a place under the holder cap.",
  states: {
    offered: "The credential is offered to the holder.",
    admitted: "The credential is live.",
    declined: "The holder declined the offer.",
    withdrawn: "The venue took the offer back before it was accepted.",
    expired: "The offer or the credential ran out.",
    revoked:
      "The credential was ended: by its holder, or by the venue, which also does when the holder's units are recovered."
  },
  triggers: {
    accept: { by: ["ledger"], announces: ["admission.granted"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["admission.withdraw", "holder.recover", "instrument.recover"] },
    revoke: { by: ["admission.withdraw", "holder.recover", "instrument.recover", "ledger"] },
    expire: { by: ["clock"] }
  },
  initial: "offered",
  opensIn: ["offered", "admitted"],
  opens: { by: ["admission.offer", "ledger"], announces: ["admission.offered"] },
  moves: {
    offered: { accept: "admitted", decline: "declined", withdraw: "withdrawn", expire: "expired" },
    admitted: { revoke: "revoked", expire: "expired" },
    declined: {},
    withdrawn: {},
    expired: {},
    revoked: {}
  },
  forward: ["accept"]
})

/** Events of an admission. */
export const admissionEvents = {
  "admission.offered": about(
    "contract",
    Schema.Struct({
      contractId: Schema.String,
      holderId: Schema.String,
      validUntil: Schema.NullOr(Instant.schema)
    })
  ),
  "admission.granted": about(
    "contract",
    Schema.Struct({
      contractId: Schema.String,
      holderId: Schema.String,
      validUntil: Schema.NullOr(Instant.schema)
    })
  )
} as const

export const makeEvent = announcing(admissionEvents)

const { NullOr, String: Text } = Schema

export const Admission = Schema.Struct({
  /** Id of the credential on the ledger, set with the offer. */
  admissionId: Text,
  holderId: Text,
  instrumentId: Text,
  party: Party.schema,
  registrar: Party.schema,
  state: AdmissionMachine.schema,
  offeredAt: Instant.schema,
  /** The offset of the offer. */
  offset: Offset.schema,
  /** Instant at which an unanswered offer expires. */
  expiresAt: NullOr(Instant.schema),
  admittedAt: NullOr(Instant.schema),
  validFrom: NullOr(Instant.schema),
  validUntil: NullOr(Instant.schema),
  offerCid: NullOr(Field.contractId),
  credentialCid: NullOr(Field.contractId),
  endedAt: NullOr(Instant.schema),
  endedBy: NullOr(Schema.Literals(["venue", "holder", "clock"])),
  /** The recovery that ended the admission; null for any other end. */
  recoveredBy: Field.optional(Text)
}).annotate({ identifier: "Admission", description: "One holder's admission to one instrument." })
export type Admission = typeof Admission.Type

const at = Instant.schema
const Accept = Schema.Struct({ on: Schema.Literal("accept"), credentialCid: Field.contractId, at })
const Decline = Schema.Struct({ on: Schema.Literal("decline"), at })
/** The recovery that ended the admission; null for any other end. */
const recovered = { recoveredBy: Field.optional(Schema.String) } as const
const Withdraw = Schema.Struct({
  on: Schema.Literal("withdraw"),
  ...recovered,
  at
})
const Revoke = Schema.Struct({
  on: Schema.Literal("revoke"),
  /** Party that ended the credential: the venue revoked it, or its holder renounced it. */
  by: Schema.Literals(["venue", "holder"]),
  ...recovered,
  at
})
const Expire = Schema.Struct({ on: Schema.Literal("expire"), at })
/** The contract of an expired admission was archived on the ledger; the state stays. */
const Clear = Schema.Struct({ on: Schema.Literal("clear"), at })
/** The ledger took the acceptance of an expired offer; the state stays, and the credential can be revoked. */
const AcceptLate = Schema.Struct({
  on: Schema.Literal("accept-late"),
  credentialCid: Field.contractId,
  at
})

export const Fact = Schema.Union([Accept, Decline, Withdraw, Revoke, Expire, Clear, AcceptLate])
export type Fact = typeof Fact.Type
/** Facts that move the state. */
export type MovingFact = Exclude<Fact, { readonly on: "clear" | "accept-late" }>

/** Command of the venue: end the offer or the credential. */
interface Command {
  readonly on: "withdraw"
}

/**
 * Decides which trigger a withdrawal is; the move follows from the ledger's fact. Refuses
 * `state-conflict` where the admission has ended.
 */
export const decide = (self: Admission, _: Command) => {
  const on: "revoke" | "withdraw" = self.state === "admitted" ? "revoke" : "withdraw"
  return Result.map(Machine.admit(AdmissionMachine, self, on), () => ({ on }))
}

/** Fold: the admission after `fact`. */
export const evolve = (self: Admission, fact: Fact): Admission => {
  if (fact.on === "clear") return { ...self, offerCid: null, credentialCid: null }
  return fact.on === "accept-late"
    ? { ...self, offerCid: null, credentialCid: fact.credentialCid }
    : moved(self, fact)
}

const moved = (self: Admission, fact: MovingFact): Admission => ({
  ...self,
  ...match(fact)
    .with({ on: "accept" }, ({ credentialCid, at: admittedAt }) => ({
      credentialCid,
      admittedAt,
      offerCid: null
    }))
    .with({ on: "decline" }, ({ at: endedAt }) => ({
      endedAt,
      endedBy: "holder" as const,
      offerCid: null
    }))
    .with({ on: "withdraw" }, ({ at: endedAt, recoveredBy }) => ({
      endedAt,
      endedBy: "venue" as const,
      recoveredBy,
      offerCid: null
    }))
    .with({ on: "revoke" }, ({ at: endedAt, by: endedBy, recoveredBy }) => ({
      endedAt,
      endedBy,
      recoveredBy,
      credentialCid: null
    }))
    // An expired contract stays on the ledger, which refuses its use after the deadline.
    .with({ on: "expire" }, ({ at: endedAt }) => ({ endedAt, endedBy: "clock" as const }))
    .exhaustive(),
  state: Machine.follow(AdmissionMachine, self.state, fact.on)
})

/** Composite key of holder and instrument, to find their latest admission. */
export const pairOf = ({
  holderId,
  instrumentId
}: Pick<Admission, "holderId" | "instrumentId">): string => `${holderId}/${instrumentId}`

const earlier = (a: Instant.Instant | null, b: Instant.Instant | null): Instant.Instant | null =>
  a === null || b === null ? (a ?? b) : Instant.min(a, b)

/** Instant at which the clock ends the admission in its present state; null: never. */
export const endsAt = (self: Admission): Instant.Instant | null => {
  if (self.state === "offered") return earlier(self.expiresAt, self.validUntil)
  return self.state === "admitted" ? self.validUntil : null
}

/**
 * Checks whether the holder accepted the offer past its time and the credential is still on the ledger:
 * the admission has ended, and the ledger lets its holder receive units until somebody ends the credential.
 */
export const isAcceptedLate = (
  self: Pick<Admission, "state" | "admittedAt" | "credentialCid">
): boolean => self.state === "expired" && self.admittedAt === null && self.credentialCid !== null

export const admissions = Collection.define<Admission, Fact>("admission", {
  doc: "One holder's admission to one instrument. A later offer is a new admission.",
  id: (self) => self.admissionId,
  record: Admission,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Its contract was the permission: without one nobody is admitted, whoever ended it.
  lost: (self, { at }) => {
    const recoveredBy = null
    if (self.state === "offered") return evolve(self, { on: "withdraw", recoveredBy, at })
    return self.state === "admitted"
      ? evolve(self, { on: "revoke", by: "venue", recoveredBy, at })
      : evolve(self, { on: "clear", at })
  },
  // Sorted by the offer's offset: ids made within one millisecond have no order.
  sortKey: (self) => `${Offset.sortable(self.offset)}:${self.admissionId}`,
  filters: {
    admissionId: (self) => self.admissionId,
    holderId: (self) => self.holderId,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.registrar,
    pair: pairOf,
    state: (self) => self.state,
    /**
     * The instrument, while the offer's contract is active on the ledger; expired offers included.
     */
    unanswered: (self) => (self.offerCid === null ? null : self.instrumentId),
    /** The instrument, while the credential of an offer that was accepted past its time is active. */
    acceptedLate: (self) => (isAcceptedLate(self) ? self.instrumentId : null)
  },
  ripens: ["state"],
  due: (self) => {
    const at = endsAt(self)
    return at === null ? undefined : { at, fact: { on: "expire", at } }
  },
  waitingOn: (self) =>
    self.state === "offered"
      ? [{ party: self.party, action: "AdmissionOffer.Accept", by: endsAt(self) }]
      : [],
  invariants: {
    "an offer stands on its contract, a credential on its own": (self) =>
      (self.state !== "offered" || self.offerCid !== null) &&
      (self.state !== "admitted" || self.credentialCid !== null),
    "only what ended says when and by whom": (self) =>
      Machine.isTerminal(AdmissionMachine, self.state) ===
      (self.endedAt !== null && self.endedBy !== null)
  }
})

/** The states that hold a place under the holder cap. */
export const placed = ["offered", "admitted"] as const

export const isPlaced = ({ state }: Pick<Admission, "state">): boolean =>
  placed.some((one) => one === state)
