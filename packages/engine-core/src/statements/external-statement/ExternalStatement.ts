/** Record of a statement of an outside party: its header; its lines are bulk rows, and the bytes of its file are a file of the store. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a statement. */
export const statementEvents = {
  "statement.received": about(
    "external-statement",
    Schema.Struct({
      externalSourceId: Schema.String,
      kind: sets.StatementKind.schema,
      businessDate: Date.schema,
      contentHash: Schema.String
    })
  )
} as const

const makeEvent = announcing(statementEvents)

export const ExternalStatementId = RecordId.make("ExternalStatementId")
export type ExternalStatementId = typeof ExternalStatementId.Type

const { NullOr, String: Text, Struct } = Schema

/** Net asset value of a unit, as the administrator states it. */
const Nav = Struct({
  /** Official NAV; 0 where a suspended one has no price. */
  official: Decimal.plain,
  indicative: NullOr(Decimal.plain),
  indicativeAsOf: NullOr(Instant.schema),
  expiresAt: Instant.schema,
  /** True: valuation is suspended, and no value of the statement may be used. */
  ripcord: Schema.Boolean
})

export const ExternalStatement = Struct({
  externalStatementId: ExternalStatementId,
  externalSourceId: Text,
  kind: sets.StatementKind.schema,
  instrumentId: Text,
  /** External account of the entries, as its source named it at intake; null: no cash. */
  externalAccountId: NullOr(Text),
  businessDate: Date.schema,
  asOf: Instant.schema,
  period: NullOr(Struct({ from: Instant.schema, to: Instant.schema })),
  reference: NullOr(Text),
  currency: Text,
  totalQuantity: NullOr(Decimal.plain),
  totalAmount: NullOr(Decimal.plain),
  lineCount: Integer.schema,
  /** Number of lines that the file itself states; null: it states none. */
  statedLines: NullOr(Integer.schema),
  /** Media type that the file came as. */
  rawFormat: Text,
  rawEncoding: sets.RawEncoding.schema,
  rawBytes: Integer.schema,
  adapter: sets.StatementAdapter.schema,
  /** Lower-case hex SHA-256 of the bytes. */
  contentHash: Text,
  receivedAt: Instant.schema,
  /** Subject claim (`sub`) of the sender. */
  receivedBy: Text,
  basis: NullOr(sets.StatementBasis.schema),
  opening: NullOr(Decimal.plain),
  closing: NullOr(Decimal.plain),
  nav: NullOr(Nav),
  /** The statement that this one replaces; null: the first of its date. */
  corrects: NullOr(Text),
  /** The statement that replaces this one; null: it is in force. */
  supersededBy: NullOr(Text),
  /** Instant at which retention deleted the lines and the bytes; absent: they are stored. */
  prunedAt: Schema.optionalKey(Instant.schema),
  /** The bank's own number of the statement, digits alone; absent: the file states none. */
  sequence: Schema.optionalKey(Text),
  /** Place among the statements of its date that follow one another; absent: 1, the first. */
  placeInDay: Schema.optionalKey(Integer.schema),
  /** Stage in which the bytes of its file lie, which other statements share; absent: its own id. */
  fileId: Schema.optionalKey(Text),
  /**
   * Ids of the statements of its file in their order, those that were there before among them: of the
   * newest that a file of several recorded; absent: any other.
   */
  fileStatements: Schema.optionalKey(Schema.Array(Text))
}).annotate({
  identifier: "ExternalStatement",
  description: "A statement of an outside party about an instrument and a business date."
})
export type ExternalStatement = typeof ExternalStatement.Type

const Supersede = Struct({ on: Schema.Literal("supersede"), by: Text })
/** Retention deletes the lines and the bytes; the header stays. */
const Prune = Struct({ on: Schema.Literal("prune"), at: Instant.schema })
export const Fact = Schema.Union([Supersede, Prune])
export type Fact = typeof Fact.Type

/** Fold: the statement after `fact`. */
const evolve = (self: ExternalStatement, fact: Fact): ExternalStatement =>
  match(fact)
    .with({ on: "supersede" }, ({ by }) => ({ ...self, supersededBy: by }))
    .with({ on: "prune" }, ({ at }) => ({ ...self, prunedAt: at }))
    .exhaustive()

/** Key of the bytes of a source and an instrument. */
export const contentKeyOf = ({
  contentHash,
  externalSourceId,
  instrumentId
}: Pick<ExternalStatement, "contentHash" | "externalSourceId" | "instrumentId">): string =>
  `${externalSourceId}/${instrumentId}/${contentHash}`

/** Checks whether no other statement replaces it. */
export const isInForce = ({ supersededBy }: Pick<ExternalStatement, "supersededBy">): boolean =>
  supersededBy === null

/** Owner of the bulk rows of a statement's lines. */
export const ownerOf = ({
  externalStatementId
}: Pick<ExternalStatement, "externalStatementId">): string => `statement/${externalStatementId}`

/** Place of a statement among those of its date that follow one another, from 1. */
export const placeInDayOf = ({
  placeInDay
}: {
  readonly placeInDay?: ExternalStatement["placeInDay"]
}): number => placeInDay ?? 1

/** Id of the stage in which the bytes of a statement's file lie. */
export const fileIdOf = ({
  externalStatementId,
  fileId
}: Pick<ExternalStatement, "externalStatementId"> & {
  readonly fileId?: ExternalStatement["fileId"]
}): string => fileId ?? externalStatementId

/** Digits of a place in the order: so many that places sort by their number. */
const placeDigits = 9

/** Text by which statements are ordered: by business date, place in the day, then by receipt. */
export const orderOf = (self: ExternalStatement): string => {
  const received = `${Instant.sortable(self.receivedAt)} ${self.externalStatementId}`
  const place = placeInDayOf(self)
  // The first of a day has no place in its text, as it had before a day could have several.
  return place === 1
    ? `${self.businessDate} ${received}`
    : `${self.businessDate} p${String(place).padStart(placeDigits, "0")} ${received}`
}

/** Id of the statement that owns bulk rows; null: the owner is no statement. */
export const statementIdOf = (owner: string): string | null =>
  owner.startsWith("statement/") ? owner.slice("statement/".length) : null

export const externalStatements = Collection.define<ExternalStatement, Fact>("external-statement", {
  doc: "A statement of an outside party about an instrument and a business date.",
  id: (self) => self.externalStatementId,
  record: ExternalStatement,
  fact: Fact,
  evolve,
  keptBy: "engine",
  sortKey: orderOf,
  filters: {
    kind: (self) => self.kind,
    externalSourceId: (self) => self.externalSourceId,
    instrumentId: (self) => self.instrumentId,
    businessDate: (self) => self.businessDate,
    /** Source, instrument and bytes, so that the same file is recorded once. */
    content: contentKeyOf,
    /** Filter of the statements whose lines and bytes retention has not deleted. */
    kept: (self) => (self.prunedAt === undefined ? "kept" : null),
    /** Account of a statement of cash whose lines and bytes retention has deleted. */
    pruned: (self) => (self.prunedAt === undefined ? null : self.externalAccountId),
    /** Source and instrument of a statement in force. */
    inForce: (self) => (isInForce(self) ? `${self.externalSourceId}/${self.instrumentId}` : null)
  },
  announce: (self, fact) => (fact === undefined ? [received(self)] : []),
  invariants: {
    "a statement of cash is of an account, and no other is": ({ kind, externalAccountId }) =>
      (kind === "cash") === (externalAccountId !== null),
    "a NAV has its values, and nothing else has": ({ kind, nav }) =>
      (kind === "nav") === (nav !== null),
    "it does not correct itself": ({ corrects, externalStatementId }) =>
      corrects !== externalStatementId
  }
})

const received = (self: ExternalStatement) => ({
  ...makeEvent("statement.received", {
    externalSourceId: self.externalSourceId,
    kind: self.kind,
    businessDate: self.businessDate,
    contentHash: self.contentHash
  }),
  resourceKind: "external-statement" as const,
  resourceId: self.externalStatementId,
  instrumentId: self.instrumentId,
  party: null,
  holderIds: []
})

/**
 * The statement in force for a source, an instrument, a business date and a place in that day: one
 * slot, so that a chain of corrections never forks (docs/domain/statements.md#corrections).
 */
export const StatementOfDate = Struct({
  externalSourceId: Text,
  instrumentId: Text,
  businessDate: Date.schema,
  externalStatementId: Text,
  /** Place among the statements of the date that follow one another; absent: 1, the first. */
  placeInDay: Schema.optionalKey(Integer.schema)
})
export type StatementOfDate = typeof StatementOfDate.Type

const Replace = Struct({ on: Schema.Literal("replace"), externalStatementId: Text })

/** Key of a business date of a source and an instrument, whose statements follow one another. */
export const dayKeyOf = ({
  businessDate,
  externalSourceId,
  instrumentId
}: Pick<StatementOfDate, "externalSourceId" | "instrumentId" | "businessDate">): string =>
  `${externalSourceId}/${instrumentId}/${businessDate}`

/** Key of the slot of a source, an instrument, a business date and a place in that day. */
export const dateKeyOf = (
  self: Pick<StatementOfDate, "externalSourceId" | "instrumentId" | "businessDate"> & {
    readonly placeInDay?: StatementOfDate["placeInDay"]
  }
): string => {
  const place = placeInDayOf(self)
  return place === 1 ? dayKeyOf(self) : `${dayKeyOf(self)}/${place}`
}

export const statementsOfDates = Collection.define<StatementOfDate, typeof Replace.Type>(
  "statement-of-date",
  {
    doc: "The statement in force for a source, an instrument, a business date and a place in that day.",
    id: dateKeyOf,
    record: StatementOfDate,
    fact: Replace,
    evolve: (self, { externalStatementId }) => ({ ...self, externalStatementId }),
    keptBy: "engine",
    filters: {
      feed: (self) => `${self.externalSourceId}/${self.instrumentId}`,
      businessDate: (self) => self.businessDate
    }
  }
)
