/** Cache of printed answers: the bytes of a read at a head, for as long as nothing it was read from changes. */
import type * as Instant from "../kernel/Instant.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { Caller } from "../writes/Caller.ts"
import type * as Point from "./Point.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Scope, Sight } from "./Read.ts"

/** A value of a read as the host prints it. */
export interface PrintedValue {
  readonly bytes: Uint8Array
  /** Number of records in it: 1 of a single record. */
  readonly records: number
}

/** A kept answer, at which head, and for which instants of judgement it holds: from ≤ judgedAt < until. */
export interface KeptAnswer {
  readonly head: string
  readonly printed: PrintedValue
  /** Sort key after which the next page begins; null: there is none. */
  readonly after: string | null
  /** Validator of the answer, for an ETag; undefined: the caller receives none. */
  readonly validator: string | undefined
  readonly from: Instant.Instant
  /** The earliest clock move of any record that the answer shows; undefined: none is to come. */
  readonly until: Instant.Instant | undefined
}

/** Parts of the key of an answer: the read, its request, the caller and its scope. */
interface AnswerKeyParts {
  readonly read: { readonly name: string }
  /** Path and query of the request. */
  readonly target: string
  readonly role: Role
  readonly sight: Sight
  readonly caller: Caller
  /** Filter columns that the parameters ask for, with those of the caller's scope. */
  readonly where: Scope
}

/**
 * Key of an answer: the request, the role and the sight. Callers of the same role share an answer
 * only where that role sees everything.
 */
export const keyOf = ({ read, target, role, sight, caller, where }: AnswerKeyParts): string => {
  const { sub, name, email, roles, holderId, party } = caller
  return PlainJson.canonical([
    read.name,
    target,
    role,
    sight,
    sight === "all" ? null : [sub, name, email, roles, holderId, party],
    where
  ])
}

/** The head that an answer is read at; undefined: the pin is not that of a head. */
export const headOf = (pin: Point.ResolvedPoint): string | undefined =>
  pin.moves === undefined
    ? undefined
    : [pin.ledgerEpoch, pin.offset, pin.moves, pin.select.by].join("/")

/** Cache of the answer of each request at the last head that it was read at. */
export interface KeptAnswers {
  readonly has: (key: string) => boolean
  /** Finds the answer at the head of a pin, that the clock has not moved since. */
  readonly find: (
    key: string,
    at: { readonly pin: Point.ResolvedPoint; readonly clock: Instant.Instant }
  ) => KeptAnswer | undefined
  readonly keep: (key: string, answer: KeptAnswer) => void
}

/** Bytes that an entry takes besides its answer and its key. */
const entryBytes = 200

/** Makes a cache of at most so many bytes, which evicts the least recently used answers. */
export const make = (bytesMax: number): KeptAnswers => {
  const entries = new Map<string, KeptAnswer>()
  let bytes = 0
  const sizeOf = (key: string, { head, printed }: KeptAnswer) =>
    entryBytes + 2 * (key.length + head.length) + printed.bytes.length
  const evict = (key: string): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    bytes -= sizeOf(key, entry)
  }
  return {
    has: (key) => entries.has(key),
    find: (key, { pin, clock }) => {
      const entry = entries.get(key)
      if (entry === undefined || entry.head !== headOf(pin)) return undefined
      const { from, until } = entry
      if (pin.judgedAt < from) return undefined
      if (until !== undefined && (pin.judgedAt >= until || clock >= until)) {
        evict(key)
        return undefined
      }
      entries.delete(key)
      entries.set(key, entry)
      return entry
    },
    keep: (key, answer) => {
      const size = sizeOf(key, answer)
      evict(key)
      if (size > bytesMax) return
      entries.set(key, answer)
      bytes += size
      for (const oldest of entries.keys()) {
        if (bytes <= bytesMax) return
        evict(oldest)
      }
    }
  }
}
