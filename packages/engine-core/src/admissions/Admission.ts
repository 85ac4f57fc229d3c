/** Record of one holder's admission to one instrument: the offered credential, and its end. */
import { Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Machine from "../kernel/Machine.ts"
import * as Offset from "../kernel/Offset.ts"
import * as Party from "../kernel/Party.ts"
import * as Field from "../templates/Field.ts"
import { AdmissionMachine, evolve, Fact } from "./AdmissionMachine.ts"

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
    unanswered: (self) => (self.offerCid === null ? null : self.instrumentId)
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
