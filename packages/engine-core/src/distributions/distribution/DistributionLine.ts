/** Record and collection of distribution lines: one holder's figures of one month, and their payment. */
import { Effect, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import type { LineReason } from "../../vocabulary/sets.ts"
import { DistributionId } from "./DistributionTerms.ts"
import { match } from "ts-pattern"
import * as Machine from "../../kernel/Machine.ts"
import * as Offset from "../../kernel/Offset.ts"

export const DistributionLineMachine = Machine.declare("DistributionLineState", {
  doc: "One holder's line of a distribution. What is owed keeps its amount while it waits.",
  states: {
    due: "Owed, not delivered.",
    suspended: "Owed, and must wait until its cause is cured.",
    delivered: "The registrar delivered it.",
    rolled: "Closed: the next distribution may pay its holder again.",
    carried: "Left to the next period.",
    void: "Its amount is booked elsewhere by order."
  },
  triggers: {
    suspend: {
      by: [
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        // While a restriction for expired evidence is in force, its holder may receive; its end
        // stops that.
        "restriction.lift",
        "admission.withdraw",
        "screening",
        "ledger",
        "clock"
      ]
    },
    cure: {
      by: [
        "restriction.lift",
        "holder.restrict",
        "holder.restrict-batch",
        "holder.set-attributes",
        "screening",
        "ledger",
        "clock"
      ]
    },
    deliver: { by: ["ledger"] },
    roll: { by: ["distribution.roll"], announces: ["distribution.paid"] },
    void: { by: ["holder.force-transfer"] }
  },
  initial: "due",
  // A line that a snapshot of the ledger shows as delivered opens in that state.
  opensIn: ["due", "suspended", "carried", "delivered"],
  opens: { by: ["distribution.execute"] },
  moves: {
    // The ledger decides: a line that was cured while the order's transaction ran is void.
    due: { suspend: "suspended", deliver: "delivered", void: "void" },
    // The ledger decides: a line that was delivered although it had to wait is delivered.
    suspended: { cure: "due", deliver: "delivered", void: "void" },
    delivered: { roll: "rolled" },
    rolled: {},
    carried: {},
    void: {}
  },
  forward: ["cure", "deliver", "roll"]
})

export const Evidence = Schema.Struct({ reference: Schema.String, paidOn: Date.schema }).annotate({
  identifier: "PaymentEvidence",
  description: "The registrar's evidence that cash was paid: the bank's reference and day."
})
export type Evidence = typeof Evidence.Type

/** Place of a delivery on the ledger; its time is the running maximum, which never decreases. */
export const Delivery = Schema.Struct({ offset: Offset.schema, ledgerTime: Instant.schema })
export type Delivery = typeof Delivery.Type

const { Literal, NullOr, String: Text } = Schema
const at = Instant.schema
const Causes = Schema.Array(sets.LineReason.schema)

// Facts that leave the state as it is.

/** A suspended line has other causes to wait for. */
const Recause = Schema.Struct({ on: Literal("recause"), at, causes: Causes })
/** The line is another holder's: its successor's, or that of a party that has become a holder. */
const Follow = Schema.Struct({
  on: Literal("follow"),
  at,
  holderId: Text,
  party: Party.schema,
  custodian: Field.optional(Party.schema),
  /** The former holder, where it is succeeded. */
  predecessor: NullOr(Text)
})
/** The venue directed the line on the ledger: who is paid, and whether the line waits. */
const Direct = Schema.Struct({
  on: Literal("direct"),
  at,
  cid: Field.contractId,
  party: Party.schema,
  waits: Schema.Boolean
})

// Facts of the table's triggers.

const Suspend = Schema.Struct({ on: Literal("suspend"), at, causes: Causes })
const Cure = Schema.Struct({ on: Literal("cure"), at })
const Deliver = Schema.Struct({
  on: Literal("deliver"),
  at,
  uid: Text,
  /** Contract of the delivered line. */
  cid: Field.contractId,
  evidence: NullOr(Evidence),
  paidOn: Date.schema,
  /** Null in facts that were recorded before this member. */
  delivery: Field.optional(Delivery)
})
const Roll = Schema.Struct({ on: Literal("roll"), at, uid: Text })
const Void = Schema.Struct({ on: Literal("void"), at, uid: Text, orderRef: Field.digest })

export const Fact = Schema.Union([Recause, Follow, Direct, Suspend, Cure, Deliver, Roll, Void])
export type Fact = typeof Fact.Type

/**
 * Fold: the line after `fact`. What an investor and an app may know of its version and time counts
 * only facts that change what they are shown (docs/domain/distributions.md#who-sees-a-line).
 */
export const evolve = (self: DistributionLine, fact: Fact): DistributionLine => {
  const after = step(self, fact)
  return isConcealedChange(self, after, fact)
    ? after
    : { ...after, visible: { version: self.visible.version + 1, at: fact.at } }
}

const isConcealedChange = (
  before: DistributionLine,
  after: DistributionLine,
  { on }: Fact
): boolean => {
  if (on === "direct") return true
  if (on !== "suspend" && on !== "cure" && on !== "recause") return false
  const [shown, then] = [shownOf(before), shownOf(after)]
  return shown.state === then.state && shown.reason === then.reason
}

const step = (self: DistributionLine, fact: Fact): DistributionLine =>
  match(fact)
    .with({ on: "recause" }, ({ causes }) => ({ ...self, causes, reason: firstOf(causes) }))
    .with({ on: "follow" }, ({ holderId, party, custodian, predecessor }) => {
      const before = predecessor ?? self.predecessor
      // The first holder was paid after all: the line is its own again.
      return {
        ...self,
        holderId,
        party,
        custodian,
        predecessor: before === holderId ? null : before
      }
    })
    .with({ on: "direct" }, ({ cid, party, waits }) => ({
      ...self,
      lineCid: cid,
      directed: { party, waits }
    }))
    .with({ on: "suspend" }, ({ on, causes }) => ({
      ...moved(self, on),
      causes,
      reason: firstOf(causes)
    }))
    .with({ on: "cure" }, ({ on }) => ({ ...moved(self, on), causes: [], reason: null }))
    .with({ on: "deliver" }, ({ on, at, uid, cid, evidence, paidOn, delivery }) => ({
      ...moved(self, on),
      causes: [],
      reason: null,
      lineCid: cid,
      directed: null,
      deliveredAt: at,
      deliveredUid: uid,
      evidence,
      paidOn,
      delivery
    }))
    .with({ on: "roll" }, ({ on, uid }) => ({ ...moved(self, on), lineCid: null, rolledUid: uid }))
    .with({ on: "void" }, ({ on }) => ({
      ...moved(self, on),
      causes: [],
      reason: null,
      lineCid: null,
      directed: null
    }))
    .exhaustive()

const moved = (
  self: DistributionLine,
  on: Machine.TriggerOf<typeof DistributionLineMachine>
): DistributionLine => ({
  ...self,
  state: Machine.follow(DistributionLineMachine, self.state, on)
})

export const LineId = RecordId.make("LineId")
export type LineId = typeof LineId.Type

export const DistributionLine = Schema.Struct({
  lineId: LineId,
  distributionId: DistributionId,
  instrumentId: InstrumentId,
  month: Month.schema,
  /** Null while the party is no holder. */
  holderId: NullOr(Text),
  party: Party.schema,
  /** Units on the register of record. */
  units: Decimal.schema,
  /** In currency, at 10 places. */
  entitlement: Decimal.schema,
  carryIn: Decimal.schema,
  gross: Decimal.schema,
  equalisation: Decimal.schema,
  rate: Decimal.schema,
  rateSource: sets.RateSource.schema,
  withheld: Decimal.schema,
  net: Decimal.schema,
  carryOut: Decimal.schema,
  /** Units of the instrument; null where none are paid. */
  payoutUnits: NullOr(Decimal.schema),
  state: DistributionLineMachine.schema,
  /** Of a suspended line the first of its causes; of a carried one why; else null. */
  reason: NullOr(sets.LineReason.schema),
  /** Month of the line whose carryOut is the carryIn; null: nothing was carried in. */
  carriedFrom: NullOr(Month.schema),
  /** The holder whose line it was before a recovery; null: there was no recovery. */
  predecessor: NullOr(Text),
  evidence: NullOr(Evidence),
  deliveredAt: NullOr(Instant.schema),
  /**
   * Cash: the day that the evidence names, unless that is before the record date. Units, and cash with
   * such evidence: the day of the delivery in the business zone.
   */
  paidOn: NullOr(Date.schema),
  deliveredUid: NullOr(Text),
  /** Null before the delivery, and of lines that were delivered before this member, or before a snapshot. */
  delivery: Field.optional(Delivery),
  rolledUid: NullOr(Text),
  /**
   * True where a new ledger epoch began without the contract of a line that was owed: it was delivered
   * or voided meanwhile, and which is unknown (docs/domain/ledger-epochs.md#lost-records).
   */
  lost: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),

  /**
   * Number within the distribution, from 1: holders in their order, then parties that are no
   * holders.
   */
  number: Integer.schema,
  /** The payee that its figures were computed for; a recovery since then does not change them. */
  computedFor: Schema.Struct({ holderId: NullOr(Text), party: Party.schema }),
  payout: sets.PayoutForm.schema,
  registrar: Party.schema,
  custodian: Field.optional(Party.schema),
  /** All causes that a suspended line waits for. */
  causes: Causes,
  /** Its contract on the ledger; null for a carried line, and once it is rolled or void. */
  lineCid: NullOr(Field.contractId),
  /** Party and wait as the contract on the ledger states them; null where nothing is left to deliver. */
  directed: NullOr(Schema.Struct({ party: Party.schema, waits: Schema.Boolean })),
  /** Version and time of change as an investor and an app are shown them. */
  visible: Schema.Struct({ version: Integer.schema, at: Instant.schema })
}).annotate({
  identifier: "DistributionLine",
  description: "What one holder earned in a distribution, and whether it is paid."
})
export type DistributionLine = typeof DistributionLine.Type

/** Causes for which a line waits, in the order in which the first becomes its reason. */
export const causes = [
  "restriction",
  "court-order",
  "registration",
  "admission",
  "attribute",
  "screening",
  "no-holder"
] as const satisfies ReadonlyArray<LineReason>
export type LineCause = (typeof causes)[number]

/** Causes that are concealed from investors and apps. */
const concealedCauses: ReadonlyArray<LineReason> = ["restriction", "court-order", "screening"]

/** Returns the reason of a line with these causes; null: it does not wait. */
export const firstOf = (reasons: ReadonlyArray<LineReason>): LineReason | null =>
  causes.find((cause) => reasons.includes(cause)) ?? null

/**
 * Returns the state and the reason that an investor and an app are shown: of a line that waits for
 * concealed causes alone `due` without a reason, of any other suspended line its first open cause.
 */
export const shownOf = ({
  state,
  reason,
  causes: reasons
}: Pick<DistributionLine, "state" | "reason" | "causes">): Pick<
  DistributionLine,
  "state" | "reason"
> => {
  if (state !== "suspended") return { state, reason }
  const shown = shownReason({ causes: reasons })
  return shown === null ? { state: "due", reason: null } : { state, reason: shown }
}

/** Returns the first cause of a line that every reader is shown; null: it has none. */
export const shownReason = ({
  causes: reasons
}: Pick<DistributionLine, "causes">): DistributionLine["reason"] =>
  firstOf(reasons.filter((cause) => !concealedCauses.includes(cause)))

/** States of lines whose holder the next distribution leaves out. */
export const unrolled = ["due", "suspended", "delivered"] as const satisfies ReadonlyArray<
  DistributionLine["state"]
>

/** States of lines that are owed and not delivered. */
export const owed = ["due", "suspended"] as const satisfies ReadonlyArray<DistributionLine["state"]>

/** States of lines that were delivered. */
export const paid = ["delivered", "rolled"] as const satisfies ReadonlyArray<
  DistributionLine["state"]
>

const isOneOf = (
  states: ReadonlyArray<DistributionLine["state"]>,
  { state }: Pick<DistributionLine, "state">
): boolean => states.includes(state)

/** Checks whether the next distribution leaves the line's holder out; a lost line is waited for by nobody. */
export const isUnrolled = (self: Pick<DistributionLine, "lost" | "state">): boolean =>
  !self.lost && isOneOf(unrolled, self)

/** Checks whether the line is still to be delivered; of a lost one that is unknown, and it waits for nobody. */
export const isOwed = (self: Pick<DistributionLine, "lost" | "state">): boolean =>
  !self.lost && isOneOf(owed, self)
const isPaid = (self: Pick<DistributionLine, "state">): boolean => isOneOf(paid, self)

/** Filter of the suspended lines that an investor and an app are shown as due. */
export const concealed = { state: ["suspended"], shownState: ["due"] } as const

/** Checks whether a line waits for causes alone that are concealed from investors and apps; a lost one does not wait. */
export const isConcealed = (self: DistributionLine): boolean =>
  !self.lost && shownOf(self).state !== self.state

/** Checks whether the ledger names another payee or wait than the record of an owed line; a lost one has no contract. */
export const isUndirected = ({
  directed,
  lost,
  party,
  state
}: Pick<DistributionLine, "directed" | "lost" | "party" | "state">): boolean =>
  directed !== null &&
  !lost &&
  (directed.party !== party || directed.waits !== (state === "suspended"))

/** Direction of a line on the ledger: who is paid, by whose custody, and whether the line waits. */
export const LineDirection = Schema.Struct({
  holder: Party.schema,
  custodian: NullOr(Party.schema),
  waits: Schema.Boolean
})
export type LineDirection = typeof LineDirection.Type

/** The direction of an owed line, as its record says. */
export const directionOf = ({
  custodian,
  party,
  state
}: Pick<DistributionLine, "custodian" | "party" | "state">): LineDirection => ({
  holder: party,
  custodian,
  waits: state === "suspended"
})

/** Checks whether the contract of a line says that it waits, so that the registrar cannot deliver it. */
export const waitsOnLedger = ({ directed }: Pick<DistributionLine, "directed">): boolean =>
  directed?.waits === true

/**
 * Whether the evidence of a payment names a day before the record date, on which nobody can have been
 * paid what is owed to the holders of that date: a breach (docs/domain/distributions.md#on-the-ledger).
 */
export const isPaidEarly = (
  evidence: { readonly paidOn: Date.Date } | null,
  { recordDate }: { readonly recordDate: Date.Date }
): boolean => evidence !== null && Date.isBefore(evidence.paidOn, recordDate)

/** Id of a line by its number. */
export const lineIdOf = (distributionId: string, number: number): LineId =>
  Schema.decodeSync(LineId)(`${distributionId}.${number}`)

/** Digits of a line's number in the sort key: a distribution has at most 1,000,000 lines. */
const numberDigits = 7

/** Key of a payee's line in a distribution: of the holder, or of a party that is no holder. */
export const payeeKeyOf = (distributionId: string, payee: string): string =>
  `${distributionId}/${payee}`

/** Key by which the lines of a distribution in a state are counted. */
export const tallyOf = (distributionId: string, state: DistributionLine["state"]): string =>
  `${distributionId} ${state}`

/**
 * Filter of the lines of a distribution in these states, by one key. Filters by distribution and by
 * state would read past the lines of all other states, for each page of a list and for each batch
 * that is delivered or rolled.
 */
export const inStates = (
  distributionId: string,
  states: ReadonlyArray<DistributionLine["state"]>
) => ({ tally: states.map((state) => tallyOf(distributionId, state)) })

/**
 * Filter of the lines of a distribution that an investor and an app are shown in these states. Only
 * suspended lines are shown in another state, as due, so that no other line is read for them.
 */
export const shownIn = (
  distributionId: string,
  states: ReadonlyArray<DistributionLine["state"]>
) => ({
  ...inStates(distributionId, [
    ...new Set([...states, ...(states.includes("due") ? (["suspended"] as const) : [])])
  ]),
  shownState: states
})

/** Key by which the lines of a holder that were delivered in a month, in UTC, are found. */
export const paidInOf = (holderId: string, month: Month.Month): string => `${holderId} ${month}`

/**
 * Ledger time of the delivery of a paid line. A line that was delivered before this time was kept, or
 * before a snapshot, has the effective time of the update alone.
 */
export const deliveredTimeOf = ({
  delivery,
  deliveredAt,
  lineId
}: Pick<DistributionLine, "lineId" | "deliveredAt" | "delivery">): Instant.Instant => {
  const time = delivery?.ledgerTime ?? deliveredAt
  if (time === null) throw new Error(`${lineId} is not delivered`)
  return time
}

export const distributionLines = Collection.define<DistributionLine, Fact>("distribution-line", {
  doc: "One holder's line of a distribution: its figures, and whether it is paid.",
  id: (self) => self.lineId,
  record: DistributionLine,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  sortKey: ({ distributionId, number }) =>
    `${distributionId} ${String(number).padStart(numberDigits, "0")}`,
  filters: {
    distributionId: (self) => self.distributionId,
    state: (self) => self.state,
    /** The state as an investor and an app are shown it. */
    shownState: (self) => shownOf(self).state,
    holderId: (self) => self.holderId,
    /** Its distribution and its state, by which the lines of a page of distributions are counted. */
    tally: (self) => tallyOf(self.distributionId, self.state),
    /** Its distribution and its last state, where a ledger epoch lost it, which is counted for nothing that is judged. */
    lostTally: (self) => (self.lost ? tallyOf(self.distributionId, self.state) : null),
    /** A party that is no holder yet. */
    party: (self) => (self.holderId === null ? self.party : null),
    /** The holder, or the party that is no holder, while the line is due or suspended and not lost. */
    owedTo: (self) => (isOwed(self) ? (self.holderId ?? self.party) : null),
    /**
     * Its distribution, while the ledger differs from the record on the payee or on whether the line
     * waits.
     */
    undirected: (self) => (isUndirected(self) ? self.distributionId : null),
    payee: (self) => payeeKeyOf(self.distributionId, self.holderId ?? self.party),
    /** Its holder and the month of its delivery, once it is delivered. */
    paidIn: (self) =>
      self.holderId !== null && isPaid(self)
        ? paidInOf(self.holderId, Month.fromDate(Instant.date(deliveredTimeOf(self))))
        : null,
    /** The instrument, until the line is rolled, ended without a payment, or lost. */
    open: (self) => (isUnrolled(self) ? self.instrumentId : null)
  },
  // A delivered line ends by its roll alone, so that its end is no secret of the gap.
  lost: (self, { updateId }) =>
    self.state === "delivered"
      ? { ...self, state: "rolled", lineCid: null, rolledUid: updateId }
      : { ...self, lost: true },
  waitingOn: (self) => {
    if (self.lost) return []
    switch (self.state) {
      case "due":
        return [ofRegistrar(self)]
      case "suspended":
        return ofCause(self)
      case "delivered":
        return [{ role: "operator", action: "distribution.roll", by: null }]
      default:
        return []
    }
  },
  invariants: {
    "its figures add up": ({ gross, withheld, net, equalisation }) =>
      Decimal.equals(gross, Decimal.add(net, withheld)) && Decimal.atMost(equalisation, gross),
    "only a suspended line has causes, and its reason is the first": (self) =>
      (self.state === "suspended") === self.causes.length > 0 &&
      (self.state !== "suspended" || self.reason === firstOf(self.causes)),
    "a carried line pays nothing and says why": ({ state, gross, reason }) =>
      (state === "carried") === Decimal.isZero(gross) &&
      (state !== "carried" || reason === "unrolled" || reason === "below-smallest"),
    "a line without a cause has no reason": ({ state, reason }) =>
      state === "suspended" || state === "carried" || reason === null,
    "what is paid says when and by which update": (self) =>
      (self.state === "delivered" || self.state === "rolled") === (self.deliveredUid !== null) &&
      (self.deliveredUid === null) === (self.deliveredAt === null) &&
      (self.deliveredUid === null) === (self.paidOn === null),
    "only a rolled line names its roll": (self) =>
      (self.state === "rolled") === (self.rolledUid !== null),
    "what is open stands on a contract": (self) =>
      self.lost || isUnrolled(self) === (self.lineCid !== null),
    "what is owed is directed": (self) => self.lost || isOwed(self) === (self.directed !== null),
    "causes are distinct": (self) => new Set(self.causes).size === self.causes.length
  },
  expectations: {
    "the registrar delivers only what does not wait": (before, fact) =>
      fact.on !== "deliver" || before.state === "due"
  }
})

const ofRegistrar = ({ registrar }: Pick<DistributionLine, "registrar">): Collection.WaitingOn => ({
  party: registrar,
  action: "DistributionLine.Deliver",
  by: null
})

/** Next acts that cure the first cause of a suspended line. */
const ofCause = ({ causes: reasons }: DistributionLine): ReadonlyArray<Collection.WaitingOn> => {
  const cause = causes.find((each) => reasons.includes(each))
  return cause === undefined ? [] : cures[cause].map((cure) => ({ ...cure, by: null }))
}

const cures: Readonly<
  Record<(typeof causes)[number], ReadonlyArray<Omit<Collection.WaitingOn, "by">>>
> = {
  restriction: [
    { role: "operator", action: "restriction.lift" },
    { role: "compliance", action: "restriction.lift" }
  ],
  "court-order": [
    { role: "operator", action: "restriction.lift" },
    { role: "compliance", action: "restriction.lift" }
  ],
  registration: [{ role: "compliance", action: "holder.set-attributes" }],
  admission: [{ role: "operator", action: "admission.offer" }],
  attribute: [{ role: "compliance", action: "holder.set-attributes" }],
  screening: [{ role: "compliance", action: "screening.adjudicate" }],
  "no-holder": [{ role: "operator", action: "holder.register" }]
}
