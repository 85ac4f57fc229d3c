/** Codecs between a collection's records and facts and their stored JSON text. */
import type { Collection } from "../kernel/Collection.ts"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as Invariant from "../kernel/Invariant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"

export interface Codecs<R, F> {
  /** Does not check the invariants: every write has done so before. */
  readonly encodeRecord: (record: R) => string
  readonly decodeRecord: (text: string) => R
  readonly encodeFact: (fact: F) => string
  readonly decodeFact: (text: string) => F
}

const made = new WeakMap<object, unknown>()

/** Codecs of a collection, built once. Throws on a text that does not decode: the store is corrupt. */
export const of = <R, F>(collection: Collection<R, F>): Codecs<R, F> => {
  const cached = made.get(collection) as Codecs<R, F> | undefined
  if (cached !== undefined) return cached
  const encodeRecord = CompiledCodec.encoder(collection.record)
  const decodeRecord = CompiledCodec.decoder(collection.record)
  const encodeFact = CompiledCodec.encoder(collection.fact)
  const decodeFact = CompiledCodec.decoder(collection.fact)
  const codecs: Codecs<R, F> = {
    encodeRecord: (record) => PlainJson.stringify(encodeRecord(record) as PlainJson.Printable),
    decodeRecord: (text) => {
      const record = decodeRecord(PlainJson.parseTrusted(text))
      Invariant.assert(collection.invariants, record, collection.name)
      return record
    },
    encodeFact: (fact) => PlainJson.stringify(encodeFact(fact) as PlainJson.Printable),
    decodeFact: (text) => decodeFact(PlainJson.parseTrusted(text))
  }
  made.set(collection, codecs)
  return codecs
}

/** Stored text of the fact that opens a record; it holds the whole record. */
export const openedText = (body: string): string => `{"on":"open","record":${body}}`
