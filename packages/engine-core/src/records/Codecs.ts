/** Codecs between a collection's records and facts and their stored JSON text. */
import { Schema } from "effect"
import type { Collection, StoreColumns } from "../kernel/Collection.ts"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Invariant from "../kernel/Invariant.ts"
import * as LazyStruct from "../kernel/LazyStruct.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { StoredVersion } from "../ports/storage/Documents.ts"
import * as RecordView from "./RecordView.ts"

interface Codecs<R, F> {
  /** Does not check the invariants: every write has done so before. */
  readonly encodeRecord: (record: R) => string
  readonly decodeRecord: (text: string) => R
  /**
   * Decodes rows together, each with the columns that the store adds, as it was stored: no clock move is
   * applied.
   */
  readonly decodeRows: (rows: ReadonlyArray<StoredRow>) => ReadonlyArray<R & StoreColumns>
  /**
   * As `decodeRecord`, with the columns that the store adds; each member is decoded when it is first read.
   * Undefined for a text that has other members than the encoder prints, as an earlier version may have.
   */
  readonly decodeLazily: (text: string, keptTexts: KeptTexts) => (R & StoreColumns) | undefined
  readonly encodeFact: (fact: F) => string
  readonly decodeFact: (text: string) => F
}

/** Columns that the store adds to a record, as the store has them: its instants are sortable texts. */
type KeptTexts = Pick<StoredVersion, "version" | "createdAt" | "fromInstant">

type StoredRow = KeptTexts & Pick<StoredVersion, "body">

const made = new WeakMap<object, unknown>()

/** Codecs of a collection, built once. Throws on a text that does not decode: the store is corrupt. */
export const of = <R, F>(collection: Collection<R, F>): Codecs<R, F> => {
  const cached = made.get(collection) as Codecs<R, F> | undefined
  if (cached !== undefined) return cached
  const encodeRecord = CompiledCodec.encoder(collection.record)
  const decodeRecord = CompiledCodec.decoder(collection.record)
  const encodeFact = CompiledCodec.encoder(collection.fact)
  const decodeFact = CompiledCodec.decoder(collection.fact)
  const readLazily = LazyStruct.reader([collection.record, Schema.Struct(RecordView.columns)])
  const codecs: Codecs<R, F> = {
    encodeRecord: (record) => PlainJson.stringify(encodeRecord(record) as PlainJson.Printable),
    decodeRecord: (text) => {
      const record = decodeRecord(PlainJson.parseTrusted(text))
      Invariant.assert(collection.invariants, record, collection.name)
      return record
    },
    decodeRows: (rows) => {
      const records: Array<R & StoreColumns> = []
      for (const { body, version, createdAt: created, fromInstant } of rows) {
        const createdAt = Instant.of(created)
        // Equal texts of a first version, of which one is read.
        const updatedAt = fromInstant === created ? createdAt : Instant.of(fromInstant)
        const record = decodeRecord(PlainJson.parseTrusted(body))
        records.push({ ...record, version, createdAt, updatedAt })
      }
      Invariant.assertAll<R>(collection.invariants, records, collection.name)
      return records
    },
    decodeLazily: (text, columns) => {
      // Cast: the reader answers a struct of the record's members and of these columns.
      const record = readLazily?.(withKept(text, columns)) as (R & StoreColumns) | undefined
      if (record !== undefined) Invariant.assert(collection.invariants, record, collection.name)
      return record
    },
    encodeFact: (fact) => PlainJson.stringify(encodeFact(fact) as PlainJson.Printable),
    decodeFact: (text) => decodeFact(PlainJson.parseTrusted(text))
  }
  made.set(collection, codecs)
  return codecs
}

/** Text of a record with the columns that the store adds, as their schemas print them. */
const withKept = (text: string, { version, createdAt, fromInstant }: KeptTexts): string =>
  `${text.slice(0, -1)},"createdAt":"${formatted(createdAt)}","updatedAt":"${formatted(fromInstant)}","version":${Integer.format(version)}}`

/** Length of a sortable text of an instant. */
const sortableLength = 30

const formatted = (text: string): string =>
  text.length === sortableLength ? Instant.formatSortable(text) : Instant.format(Instant.of(text))

/** Stored text of the fact that opens a record; it holds the whole record. */
export const openedText = (body: string): string => `{"on":"open","record":${body}}`
