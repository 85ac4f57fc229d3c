/** Record of a source of statements: its party, kind, form, business dates and due time. */
import { Effect, Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"

export const ExternalSourceId = RecordId.make("ExternalSourceId")
export type ExternalSourceId = typeof ExternalSourceId.Type

const { Array: List, Literals, NullOr, Record: RecordOf, String: Text, Struct } = Schema

/** Due time of a business date's statement: a time of day in a zone, days after the date. */
const DueBy = Struct({ time: Text, zone: Text, daysAfter: Integer.schema })

/** Columns and notation of a CSV source (docs/domain/statements.md#forms). */
const Csv = Struct({
  encoding: Text,
  delimiter: Text,
  decimal: Literals([".", ","]),
  group: NullOr(Literals([".", ",", " ", "'"])),
  dateFormat: Text,
  columns: RecordOf(Text, Text)
})

/** Members that the configuration of the deployment gives. */
const configured = {
  kind: sets.StatementKind.schema,
  instruments: List(Text),
  /** Weekdays that a statement is expected for. */
  calendar: List(sets.Weekday.schema),
  dueBy: DueBy,
  grace: Duration.schema,
  adapter: sets.StatementAdapter.schema,
  /** External account whose statement is taken; null: not a cash source. */
  account: NullOr(Text),
  accountIs: NullOr(sets.AccountIs.schema),
  /** Basis of the positions where the file names none; null: settled. */
  basis: NullOr(sets.StatementBasis.schema),
  /** Places that the source rounds units to; null: it does not round. */
  places: NullOr(Integer.schema),
  /** Zone of dates and times without an offset. */
  zone: Text,
  /** Life of a NAV from its `asOf`; null: not a source of NAVs. */
  validFor: NullOr(Duration.schema),
  /** A reversal is read by its direction as marked, whatever else the file says. */
  reversals: Literals(["as-marked"]),
  /** Whether statements of cash have an opening and a closing balance; of no meaning for other kinds. */
  balances: Literals(["stated", "none"]).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed("stated" as const))
  ),
  /** Assets by their ISIN: custody statements. */
  assets: NullOr(RecordOf(Text, Struct({ admin: Text, id: Text }))),
  csv: NullOr(Csv)
} as const

export const SourceConfiguration = Struct(configured)
export type SourceConfiguration = typeof SourceConfiguration.Type

export const ExternalSource = Struct({
  externalSourceId: ExternalSourceId,
  ...configured,
  state: sets.SourceState.schema,
  /** Newest business date that a statement in force is of; null: none came yet. */
  lastBusinessDate: NullOr(Date.schema)
}).annotate({
  identifier: "ExternalSource",
  description: "A source of statements: an administrator, a bank or a custodian."
})
export type ExternalSource = typeof ExternalSource.Type

/** The configuration changed the source, or names it again. */
const Configure = Struct({ on: Schema.Literal("configure"), configured: SourceConfiguration })
/** The configuration no longer names the source. */
const Deactivate = Struct({ on: Schema.Literal("deactivate") })
/** A statement of a newer business date came. */
const Receive = Struct({ on: Schema.Literal("receive"), businessDate: Date.schema })

export const Fact = Schema.Union([Configure, Deactivate, Receive])
export type Fact = typeof Fact.Type

/** Fold: the source after `fact`. */
const evolve = (self: ExternalSource, fact: Fact): ExternalSource =>
  match(fact)
    .with({ on: "configure" }, ({ configured: members }) => ({
      ...self,
      ...members,
      state: "active" as const
    }))
    .with({ on: "deactivate" }, () => ({ ...self, state: "inactive" as const }))
    .with({ on: "receive" }, ({ businessDate }) => ({
      ...self,
      lastBusinessDate:
        self.lastBusinessDate === null || Date.isBefore(self.lastBusinessDate, businessDate)
          ? businessDate
          : self.lastBusinessDate
    }))
    .exhaustive()

export const externalSources = Collection.define<ExternalSource, Fact>("external-source", {
  doc: "A source of statements, as the configuration of the deployment names it.",
  id: (self) => self.externalSourceId,
  record: ExternalSource,
  fact: Fact,
  evolve,
  keptBy: "engine",
  filters: {
    state: (self) => self.state,
    kind: (self) => self.kind
  },
  invariants: {
    "it is of an instrument": ({ instruments }) => instruments.length > 0,
    "a source of cash names its account": ({ kind, account }) =>
      kind !== "cash" || account !== null,
    "a source of NAVs says how long one lives": ({ kind, validFor }) =>
      kind !== "nav" || validFor !== null
  }
})
