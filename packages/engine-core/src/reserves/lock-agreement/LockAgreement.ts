/** Record of a lock agreement: an asset's registrar and a reserve's holder agree that it may be locked. */
import { Schema, Result } from "effect"
import { match } from "ts-pattern"
import * as Agreement from "../../agreements/Agreement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import { columnOf } from "../reserve/ReserveTerms.ts"
import { refuse, type Refused } from "../../kernel/Refusal.ts"

export const LockAgreementMachine = Machine.declare("LockAgreementState", {
  doc: "An agreement to lock holdings for a reserve.",
  states: {
    proposed: "Asked of the holder and its custodian.",
    active: "Holdings may be locked.",
    declined: "One of them declined.",
    withdrawn: "The venue took it back before all signed.",
    released: "Ended: the holdings are free."
  },
  triggers: {
    accept: { by: ["ledger"] },
    activate: { by: ["ledger"] },
    decline: { by: ["ledger"] },
    withdraw: { by: ["lock-agreement.release"] },
    release: { by: ["lock-agreement.release"] }
  },
  initial: "proposed",
  // A projection that begins from a snapshot opens the agreement in the state that it has.
  opensIn: ["proposed", "active"],
  opens: { by: ["lock-agreement.propose", "ledger"] },
  moves: {
    proposed: {
      accept: "proposed",
      activate: "active",
      decline: "declined",
      withdraw: "withdrawn"
    },
    active: { release: "released" },
    declined: {},
    withdrawn: {},
    released: {}
  },
  forward: ["activate"]
})

export const LockAgreementId = RecordId.make("LockAgreementId")
export type LockAgreementId = typeof LockAgreementId.Type

const { NullOr, String: Text } = Schema

export const LockAgreement = Schema.Struct({
  lockAgreementId: LockAgreementId,
  reserveId: Text,
  /** The instrument that the reserve backs. */
  instrumentId: Text,
  /** Issuer of that instrument, which is its registrar. */
  issuer: Party.schema,
  asset: Field.asset,
  /** Owner of the locked holdings: the reserve's holder. */
  holder: Party.schema,
  /** Amount that the holder locks as it accepts; null: unknown, as after a snapshot. */
  asked: NullOr(Decimal.schema),
  state: LockAgreementMachine.schema,
  acceptedBy: Schema.Array(Party.schema),
  proposedAt: Instant.schema,
  /** The offset of the proposal. */
  offset: Offset.schema,
  activatedAt: NullOr(Instant.schema),
  endedAt: NullOr(Instant.schema),
  proposalCid: NullOr(Field.contractId),
  agreementCid: NullOr(Field.contractId)
}).annotate({
  identifier: "LockAgreement",
  description: "The agreement by which holdings of an asset are locked for a reserve."
})
export type LockAgreement = typeof LockAgreement.Type

/** Decides whether an agreement may be released, or its proposal taken back: it has not ended. */
export const decideRelease = (self: {
  readonly state: Machine.State<typeof LockAgreementMachine>
}): Result.Result<void, Refused<"state-conflict">> =>
  Machine.isTerminal(LockAgreementMachine, self.state)
    ? refuse("state-conflict", {
        check: LockAgreementMachine.name,
        detail: `The lock agreement is ${self.state}.`
      })
    : Result.void

const at = { at: Instant.schema } as const

const names = { cid: "agreementCid", agreedAt: "activatedAt" } as const

export const Fact = Schema.Union([
  ...Agreement.signatures({ cid: names.cid, agree: "activate", withdraw: "withdraw" }),
  Schema.Struct({ on: Schema.Literal("release"), ...at })
])
export type Fact = typeof Fact.Type

/** Fold: the agreement after `fact`. */
const evolve = (self: LockAgreement, fact: Fact): LockAgreement =>
  match(fact)
    .with({ on: "accept" }, (signature) => Agreement.accepted(self, signature))
    .with({ on: "activate" }, (last) => Agreement.agreed(moved(self, last.on), last, names))
    .with({ on: "decline" }, { on: "withdraw" }, (end) =>
      Agreement.unsigned(moved(self, end.on), end)
    )
    .with({ on: "release" }, ({ on, at: endedAt }) => ({
      ...moved(self, on),
      agreementCid: null,
      endedAt
    }))
    .exhaustive()

const moved = (
  self: LockAgreement,
  on: Machine.TriggerOf<typeof LockAgreementMachine>
): LockAgreement => ({ ...self, state: Machine.follow(LockAgreementMachine, self.state, on) })

/** Parties whose signatures an agreement still needs: the registrar's comes before the holder's. */
const missing = ({ acceptedBy, asset, holder }: LockAgreement): ReadonlyArray<Party.Party> =>
  Agreement.missingOf([asset.admin, holder], acceptedBy)

/** Proposed or active, of which there is one for a reserve and an asset. */
const isLive = ({ state }: Pick<LockAgreement, "state">): boolean =>
  !Machine.isTerminal(LockAgreementMachine, state)

/** Key of a reserve's asset, for the index of its live agreement. */
export const liveKeyOf = ({
  reserveId,
  asset
}: Pick<LockAgreement, "reserveId" | "asset">): string => `${reserveId}/${columnOf(asset)}`

export const lockAgreements = Collection.define<LockAgreement, Fact>("lock-agreement", {
  doc: "The agreement by which holdings of an asset are locked for a reserve.",
  id: (self) => self.lockAgreementId,
  record: LockAgreement,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Its contract was the permission: without one it has ended, whoever ended it.
  lost: (self, { at }) => {
    if (self.state === "active") return evolve(self, { on: "release", at })
    return self.state === "proposed" ? evolve(self, { on: "withdraw", at }) : self
  },
  sortKey: (self) => `${Offset.sortable(self.offset)}:${self.lockAgreementId}`,
  filters: {
    reserveId: (self) => self.reserveId,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.issuer,
    state: (self) => self.state,
    /** The reserve's asset while the agreement is live. */
    live: (self) => (isLive(self) ? liveKeyOf(self) : null)
  },
  waitingOn: (self) =>
    self.state === "proposed"
      ? Agreement.awaiting(missing(self).slice(0, 1), "LockAgreementProposal.Accept")
      : [],
  invariants: {
    ...Agreement.invariants,
    "an agreement in force stands on its contract": (self) =>
      (self.state === "active") === (self.agreementCid !== null),
    "an agreement in force was accepted by all": (self) =>
      self.state !== "active" || missing(self).length === 0,
    "an agreement that ended says when": (self) => isLive(self) === (self.endedAt === null)
  }
})
