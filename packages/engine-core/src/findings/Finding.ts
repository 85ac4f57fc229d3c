/** Record of a finding: a difference that reconciliation runs find, with one id over all runs. */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../kernel/Collection.ts"
import * as Date from "../kernel/Date.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"
import * as RecordId from "../kernel/RecordId.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import * as sets from "../vocabulary/sets.ts"

export const FindingId = RecordId.make("FindingId")
export type FindingId = typeof FindingId.Type

const { NullOr, String: Text } = Schema

const Subject = Schema.Struct({ resourceKind: ResourceKind.schema, id: Text })

/** Explained part of the difference: items in flight, with their amounts. */
const Explained = Schema.Struct({
  amount: Decimal.schema,
  by: Schema.Array(Schema.Struct({ ...Subject.fields, amount: Decimal.schema }))
})

/** A moment of the ledger: an offset, and its instant. */
export const Moment = Schema.Struct({ offset: Offset.schema, instant: Instant.schema })
export type Moment = typeof Moment.Type

/** Line of a bank statement. */
export const FoundEntry = Schema.Struct({ externalStatementId: Text, line: Integer.schema })

/** Members of a finding that each run measures anew. */
const sightingFields = {
  runId: Text,
  severity: sets.FindingSeverity.schema,
  expected: NullOr(Decimal.schema),
  actual: NullOr(Decimal.schema),
  /** Actual less expected; null where the check compares no amounts. */
  difference: NullOr(Decimal.schema),
  unit: Text,
  /**
   * Name of the figure that differs, where a check compares several of one unit under a subject. Findings
   * that were stored before figures were named have none.
   */
  figure: Schema.optionalKey(NullOr(Text)),
  tolerance: Decimal.plain,
  explained: Explained,
  /** The difference less the explained amount, which decides the severity; 0 without amounts. */
  unexplained: Decimal.schema,
  /** Pin of the run: the offset of its reads, and the instant that it judges time at. */
  asOf: Moment,
  /**
   * Moment of the figures that were compared, where it is not the run's pin: the `asOf` of a
   * statement. Findings that were stored before there were statements have none.
   */
  comparedAt: NullOr(Moment).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null))),
  statementId: NullOr(Text),
  /**
   * Business dates whose statements did not come and may explain the difference, oldest first. Findings
   * that were stored before there was such a check have none.
   */
  missingDates: Schema.Array(Date.schema).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed([]))
  ),
  /**
   * Line of a bank statement whose entry the finding is about. Findings that were stored before entries
   * were named have none.
   */
  entry: NullOr(FoundEntry).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null)))
} as const
export const Sighting = Schema.Struct(sightingFields)
export type Sighting = typeof Sighting.Type

/** Acceptance of a finding by the release of its hold: amount, reason, operation. */
const Accepted = Schema.Struct({
  unexplained: Decimal.schema,
  reason: Text,
  holdId: Text,
  operationId: Text,
  at: Instant.schema
})

/** A figure whose difference people accepted, with the unit and the amounts that it had. */
const AcceptedFigure = Schema.Struct({
  figure: NullOr(Text),
  unit: Text,
  difference: NullOr(Decimal.schema),
  unexplained: Decimal.schema
})
export type AcceptedFigure = typeof AcceptedFigure.Type

export const Finding = Schema.Struct({
  findingId: FindingId,
  check: Text,
  instrumentId: NullOr(Text),
  subject: Subject,
  holderId: NullOr(Text),
  ...sightingFields,
  firstSeenRunId: Text,
  firstSeenAt: Instant.schema,
  seenRuns: Integer.schema,
  /** Whole days from the first run that found it to the latest. */
  ageDays: Integer.schema,
  state: sets.FindingState.schema,
  /** The latest hold that named the finding. */
  holdId: NullOr(Text),
  accepted: NullOr(Accepted),
  /**
   * Figures that people accepted since the finding was last cleared, each as it was accepted latest: a
   * finding shows one figure at a time, and an acceptance of the next one leaves the earlier ones accepted.
   * Findings that were stored before have none.
   */
  acceptedFigures: Schema.optionalKey(Schema.Array(AcceptedFigure))
}).annotate({
  identifier: "Finding",
  description: "A difference that reconciliation found, what explains it, and how old it is."
})
export type Finding = typeof Finding.Type

const hours = 24n
const NANOS_PER_HOUR = 3_600_000_000_000n

/**
 * Whole days of 24 hours from the first run that found it to a later one, rounded down; 0 before
 * the first.
 */
export const ageDays = (first: Instant.Instant, seenAt: Instant.Instant): number =>
  Instant.isBefore(seenAt, first) ? 0 : Number((seenAt - first) / (hours * NANOS_PER_HOUR))

/** Checks whether the finding blocks its instrument: it is open, and its severity is blocking. */
export const blocks = ({ state, severity }: Pick<Finding, "state" | "severity">): boolean =>
  state === "open" && severity === "blocking"

const See = Schema.Struct({ on: Schema.Literal("see"), seen: Sighting })
const Reopen = Schema.Struct({ on: Schema.Literal("reopen"), seen: Sighting })
/** A run no longer found the difference. */
const Clear = Schema.Struct({ on: Schema.Literal("clear"), runId: Text })
/** The release of its hold accepted the finding, with a reason. */
const Accept = Schema.Struct({ on: Schema.Literal("accept"), accepted: Accepted })
/** A hold was opened for the finding, or the finding joined one. */
const Stop = Schema.Struct({ on: Schema.Literal("stop"), holdId: Text })

export const Fact = Schema.Union([See, Reopen, Clear, Accept, Stop])
export type Fact = typeof Fact.Type

/** States that each fact may follow; in any other state the history is corrupt, a defect. */
const from: Readonly<Record<Fact["on"], ReadonlyArray<Finding["state"]>>> = {
  see: ["open", "accepted"],
  reopen: ["cleared", "accepted"],
  clear: ["open", "accepted"],
  accept: ["open"],
  stop: ["open"]
}

/** Fold: the finding after `fact`. */
export const evolve = (self: Finding, fact: Fact): Finding => {
  if (!from[fact.on].includes(self.state)) {
    throw new Error(`finding: corrupt history, ${self.state} does not answer to ${fact.on}`)
  }
  return match(fact)
    .with({ on: "see" }, (again) => seenAgain(self, again.seen))
    .with({ on: "reopen" }, (again) => ({
      ...seenAgain(self, again.seen),
      state: "open" as const,
      accepted: null
    }))
    .with({ on: "clear" }, () => ({
      ...self,
      state: "cleared" as const,
      accepted: null,
      acceptedFigures: []
    }))
    .with({ on: "accept" }, ({ accepted }) => ({
      ...self,
      state: "accepted" as const,
      accepted,
      acceptedFigures: withAccepted(self, accepted.unexplained)
    }))
    .with({ on: "stop" }, ({ holdId }) => ({ ...self, holdId }))
    .exhaustive()
}

/** The accepted figures with the one that the finding shows, in place of an earlier acceptance of it. */
const withAccepted = (
  { acceptedFigures = [], difference, figure = null, unit }: Finding,
  unexplained: Decimal.Decimal
): ReadonlyArray<AcceptedFigure> => [
  ...acceptedFigures.filter((other) => other.figure !== figure || other.unit !== unit),
  { figure, unit, difference, unexplained }
]

const seenAgain = (self: Finding, now: Sighting): Finding => ({
  ...self,
  ...now,
  figure: now.figure ?? null,
  seenRuns: self.seenRuns + 1,
  ageDays: ageDays(self.firstSeenAt, now.asOf.instant)
})

/** Identity of a finding, beside its measured members. */
export type FindingIdentity = Pick<
  Finding,
  "findingId" | "check" | "instrumentId" | "subject" | "holderId"
>

/** Makes the finding that the first run to find it opens. */
export const first = (found: FindingIdentity, now: Sighting): Finding => ({
  ...found,
  ...now,
  firstSeenRunId: now.runId,
  firstSeenAt: now.asOf.instant,
  seenRuns: 1,
  ageDays: 0,
  state: "open",
  holdId: null,
  accepted: null
})

export const findings = Collection.define<Finding, Fact>("finding", {
  doc: "A difference that reconciliation found, what explains it, and how old it is.",
  id: (self) => self.findingId,
  record: Finding,
  fact: Fact,
  evolve,
  keptBy: "engine",
  sortKey: (self) => `${Instant.sortable(self.firstSeenAt)} ${self.findingId}`,
  filters: {
    state: (self) => self.state,
    severity: (self) => self.severity,
    check: (self) => self.check,
    instrumentId: (self) => self.instrumentId,
    holderId: (self) => self.holderId,
    holdId: (self) => self.holdId,
    runId: (self) => self.runId
  },
  waitingOn: (self) =>
    blocks(self) && self.holdId !== null
      ? (["operator", "risk"] as const).map((role) => ({ role, action: "hold.release", by: null }))
      : [],
  invariants: {
    "it was accepted by a release, or was not": (self) =>
      (self.state === "accepted") === (self.accepted !== null),
    "the difference is what is actual less what is expected": (self) =>
      self.expected === null ||
      self.actual === null ||
      (self.difference !== null &&
        Decimal.equals(self.difference, Decimal.subtract(self.actual, self.expected))),
    "what explains it adds up": (self) =>
      Decimal.equals(
        self.explained.amount,
        Decimal.sum(self.explained.by.map(({ amount }) => amount))
      ),
    "unexplained is what nothing explains of the difference": (self) =>
      Decimal.equals(
        self.unexplained,
        Decimal.subtract(self.difference ?? Decimal.zero, self.explained.amount)
      ),
    "it has been seen since its first run": (self) => self.seenRuns >= 1 && self.ageDays >= 0
  }
})
