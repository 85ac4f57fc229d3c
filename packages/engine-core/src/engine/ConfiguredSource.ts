/**
 * Codec of the configured sources of statements: the schema of a deployment's configuration, and the
 * faults of a source whose members contradict each other (docs/domain/statements.md#sources).
 */
import { Effect, Schema } from "effect"
import * as Duration from "../kernel/Duration.ts"
import * as Integer from "../kernel/Integer.ts"
import * as RecordId from "../kernel/RecordId.ts"
import type { Fault } from "../kernel/Refusal.ts"
import * as TimeOfDay from "../kernel/TimeOfDay.ts"
import * as Zone from "../kernel/Zone.ts"
import * as StatementCsv from "../ports/StatementCsv.ts"
import * as sets from "../vocabulary/sets.ts"

const { Array: List, Int, Literals, NullOr, optionalKey, Record: RecordOf, String, Struct } = Schema

/** Largest number of sources, of instruments of one, and of columns or assets of one. */
export const sourcesMax = 1_000
const instrumentsMax = 1_000
const entriesMax = 1_000
/** Largest number of days after its business date at which a statement may be due. */
const daysAfterMax = 366
/** Places of units and prices. */
const placesMax = 10

const text = String.check(Schema.isMinLength(1), Schema.isMaxLength(256))
const optional = <S extends Schema.Top>(schema: S) => optionalKey(NullOr(schema))
const entries = Schema.makeFilter((record: Readonly<Record<string, unknown>>) =>
  Object.keys(record).length <= entriesMax ? undefined : `it has more than ${entriesMax} members`
)

const Csv = Struct({
  encoding: text,
  delimiter: String.check(Schema.isMinLength(1), Schema.isMaxLength(1)),
  decimal: Literals([".", ","]),
  group: optional(Literals([".", ",", " ", "'"])),
  dateFormat: text,
  columns: RecordOf(String, text).check(entries)
})

/** A source as the configuration writes it; a member that is left out is null. */
export const SourceText = Struct({
  externalSourceId: RecordId.make("ExternalSourceId"),
  kind: sets.StatementKind.schema,
  instruments: List(RecordId.make("InstrumentId")).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(instrumentsMax),
    Schema.isUnique()
  ),
  calendar: List(sets.Weekday.schema).check(Schema.isMinLength(1), Schema.isUnique()),
  dueBy: Struct({
    time: TimeOfDay.schema,
    zone: Zone.schema,
    daysAfter: Int.check(Schema.isBetween({ minimum: 0, maximum: daysAfterMax }))
  }),
  grace: Duration.schema,
  adapter: sets.StatementAdapter.schema,
  zone: Zone.schema,
  account: optional(RecordId.make("ExternalAccountId")),
  accountIs: optional(sets.AccountIs.schema),
  basis: optional(sets.StatementBasis.schema),
  places: optional(Int.check(Schema.isBetween({ minimum: 0, maximum: placesMax }))),
  validFor: optional(Duration.schema),
  reversals: optional(Literals(["as-marked"])),
  balances: optional(Literals(["stated", "none"])),
  assets: optional(RecordOf(String, Struct({ admin: text, id: text })).check(entries)),
  csv: optional(Csv)
})
export type SourceText = typeof SourceText.Type

/** Due time of a business date's statement: a time of day in a zone, days after the date. */
const DueBy = Struct({ time: String, zone: String, daysAfter: Integer.schema })

/** Columns and notation of a CSV source (docs/domain/statements.md#forms). */
const CsvForm = Struct({
  encoding: String,
  delimiter: String,
  decimal: Literals([".", ","]),
  group: NullOr(Literals([".", ",", " ", "'"])),
  dateFormat: String,
  columns: RecordOf(String, String)
})

/** Members that the configuration of the deployment gives. */
export const SourceConfiguration = Struct({
  kind: sets.StatementKind.schema,
  instruments: List(String),
  /** Weekdays that a statement is expected for. */
  calendar: List(sets.Weekday.schema),
  dueBy: DueBy,
  grace: Duration.schema,
  adapter: sets.StatementAdapter.schema,
  /** External account whose statement is taken; null: not a cash source. */
  account: NullOr(String),
  accountIs: NullOr(sets.AccountIs.schema),
  /** Basis of the positions where the file names none; null: settled. */
  basis: NullOr(sets.StatementBasis.schema),
  /** Places that the source rounds units to; null: it does not round. */
  places: NullOr(Integer.schema),
  /** Zone of dates and times without an offset. */
  zone: String,
  /** Life of a NAV from its `asOf`; null: not a source of NAVs. */
  validFor: NullOr(Duration.schema),
  /** A reversal is read by its direction as marked, whatever else the file says. */
  reversals: Literals(["as-marked"]),
  /** Whether statements of cash have an opening and a closing balance; of no meaning for other kinds. */
  balances: Literals(["stated", "none"]).pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed("stated" as const))
  ),
  /** Assets by their ISIN: custody statements. */
  assets: NullOr(RecordOf(String, Struct({ admin: String, id: String }))),
  csv: NullOr(CsvForm)
})
export type SourceConfiguration = typeof SourceConfiguration.Type

/** A source that the configuration names. */
export interface ConfiguredSource extends Omit<SourceConfiguration, "balances"> {
  readonly externalSourceId: string
  /** Left out: stated. */
  readonly balances?: SourceConfiguration["balances"]
}

/** Fills the members that a source leaves out. */
export const of = ({ csv, externalSourceId, ...members }: SourceText): ConfiguredSource => ({
  ...members,
  externalSourceId,
  account: members.account ?? null,
  accountIs: members.kind === "holdings" ? (members.accountIs ?? "external-account") : null,
  basis: members.basis ?? null,
  places: members.places ?? null,
  validFor: members.validFor ?? null,
  reversals: members.reversals ?? "as-marked",
  balances: members.balances ?? "stated",
  assets: members.assets ?? null,
  csv: csv === undefined || csv === null ? null : { ...csv, group: csv.group ?? null }
})

/** Kinds of statements that each form states. */
const kindsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  "camt.053": ["cash"],
  "semt.002": ["holdings", "custody"],
  "semt.003": ["holdings", "custody"],
  "reda.001": ["nav"]
}

/** Members that one kind of statement needs, and no other kind may have. */
const ofKind = {
  account: { kind: "cash", required: true },
  validFor: { kind: "nav", required: true },
  balances: { kind: "cash", required: false },
  accountIs: { kind: "holdings", required: false },
  assets: { kind: "custody", required: false }
} as const

/** Lists the members of a source that contradict each other, each with its place in the source. */
export const faultsOf = (source: SourceText): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  for (const [member, { kind, required }] of Object.entries(ofKind)) {
    const isGiven = (source[member as keyof typeof ofKind] ?? null) !== null
    const pointer = `/${member}`
    if (isGiven && source.kind !== kind) {
      faults.push({ pointer, detail: `only a source of ${kind} has it` })
    } else if (!isGiven && required && source.kind === kind) {
      faults.push({ pointer, detail: `a source of ${kind} needs it` })
    }
  }
  const kinds = kindsOf[source.adapter]
  if (kinds !== undefined && !kinds.includes(source.kind)) {
    faults.push({ pointer: "/adapter", detail: "this form does not state statements of that kind" })
  }
  const isTable = (source.csv ?? null) !== null
  if (isTable !== (source.adapter === "csv")) {
    const detail = isTable ? "only the form csv has it" : "the form csv needs it"
    faults.push({ pointer: "/csv", detail })
  }
  const { csv = null } = source
  if (csv !== null) {
    const detail = StatementCsv.fault(source.kind, { ...csv, group: csv.group ?? null })
    if (detail !== null) faults.push({ pointer: "/csv", detail })
  }
  return faults
}
