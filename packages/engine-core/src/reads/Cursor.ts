/** Signed keyset cursor of lists and feeds. */
import { Result } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { type Refused, refuse } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"

/** Signing key of cursors, shared by all instances of a deployment; older keys still verify. */
export interface CursorKey {
  /** 0 to 255. */
  readonly id: number
  /** At least 32 bytes. */
  readonly secret: Uint8Array
}

/** Place between two pages of a list: the pin of the list, and the sort key of the page's end. */
export interface Place {
  readonly offset: Offset.Offset
  /** Ledger epoch of the offset: offsets start anew with each ledger. */
  readonly ledgerEpoch: number
  /** The selection of the pin, with its instant where it has one. */
  readonly select: "latest" | "offset" | "instant" | "snapshot"
  readonly instant: Instant.Instant | null
  readonly ledgerTime: Instant.Instant | null
  /** The instant at which the first page judged what depends on time. */
  readonly judgedAt: Instant.Instant
  readonly sortKey: string
}

const format = 0x01
/** First byte of what `authenticated` signs, so that no code of a text is one of a cursor. */
const textFormat = 0x02
const macBytes = 16
const digestBytes = 16
/**
 * Most characters of a cursor; longer text is refused before anything is decoded
 * (docs/contract/pages-and-cursors.md#cursor-bytes). A sort key may hold two parties, of 255 characters each,
 * and an instrument.
 */
export const textMax = 1_536

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const values = new Map([...base64url].map((character, index) => [character, index]))

const encodeBytes = (bytes: Uint8Array): string => {
  let text = ""
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    text += base64url.charAt(word >> 18) + base64url.charAt((word >> 12) & 63)
    if (left > 1) text += base64url.charAt((word >> 6) & 63)
    if (left > 2) text += base64url.charAt(word & 63)
  }
  return text
}

/** The bytes of a text; undefined unless it is the one text that encodes them. */
const decodeBytes = (text: string): Uint8Array | undefined => {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let word = 0
  let bits = 0
  let at = 0
  for (const character of text) {
    const value = values.get(character)
    if (value === undefined) return undefined
    word = ((word << 6) | value) & 0xffffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (word >> bits) & 0xff
    }
  }
  return encodeBytes(bytes) === text ? bytes : undefined
}

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Each field after its length, two bytes with the larger one first. */
const join = (fields: ReadonlyArray<Uint8Array>): Uint8Array =>
  concat(fields.flatMap((field) => [Uint8Array.of(field.length >> 8, field.length & 0xff), field]))

const split = (bytes: Uint8Array): ReadonlyArray<Uint8Array> | undefined => {
  const fields: Array<Uint8Array> = []
  let at = 0
  while (at < bytes.length) {
    const length = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    const end = at + 2 + length
    if (end > bytes.length) return undefined
    fields.push(bytes.subarray(at + 2, end))
    at = end
  }
  return fields
}

const malformed = (): Result.Result<never, Refused<"invalid-request">> =>
  refuse("invalid-request", {
    errors: [{ pointer: "/query/after", detail: "This list did not issue this cursor." }]
  })

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Binding of a cursor to the list that issued it. */
interface CursorBinding {
  readonly list: string
  /** Everything a cursor is bound to: filters, order, scope, point. */
  readonly binding: string
}

/** Content of a cursor: the offset that pins the list, and the keys that the next page begins after. */
interface CursorContent {
  /** 0 where no offset pins the list. */
  readonly offset: Offset.Offset
  /** The sort key of the last record, and the other values that the next page needs. */
  readonly keys: ReadonlyArray<string>
}

export interface Cursors {
  readonly write: (cursor: CursorBinding & CursorContent) => string
  /**
   * `count` is how many keys the list's cursors hold; several where those that earlier versions issued
   * hold fewer.
   */
  readonly read: (
    cursor: CursorBinding & {
      readonly count: number | ReadonlyArray<number>
      readonly text: string
    }
  ) => Result.Result<CursorContent, Refused<"invalid-request">>
  /** Message authentication code of a text under the key that signs cursors: 22 characters. */
  readonly authenticated: (text: string) => string
}

/**
 * Cursors under these keys; the first one signs, every one verifies. The bytes
 * (docs/contract/pages-and-cursors.md#cursor-bytes) are format, key id, payload, MAC; the payload
 * is the list's id, the digest of what it is bound to, the pinned offset, and the keys, each after
 * its length.
 */
export const make = (
  crypto: Crypto["Service"],
  keys: readonly [CursorKey, ...ReadonlyArray<CursorKey>]
): Cursors => {
  checkKeys(keys)
  const digest = (bound: string) => hexBytes(crypto.sha256(bound)).subarray(0, digestBytes)
  const mac = (key: CursorKey, bytes: Uint8Array) =>
    crypto.hmacSha256(key.secret, bytes).subarray(0, macBytes)
  return {
    authenticated: (text) => {
      const [key] = keys
      return encodeBytes(mac(key, concat([Uint8Array.of(textFormat), encoder.encode(text)])))
    },
    write: ({ list, binding, offset, keys: values }) => {
      const [key] = keys
      const texts = [String(offset), ...values].map((value) => encoder.encode(value))
      const payload = join([encoder.encode(list), digest(binding), ...texts])
      const head = concat([Uint8Array.of(format, key.id), payload])
      const text = encodeBytes(concat([head, mac(key, head)]))
      if (text.length > textMax) throw new Error(`a cursor of ${list} is too long`)
      return text
    },
    read: ({ list, binding, count, text }) => {
      if (text.length > textMax) return malformed()
      const bytes = decodeBytes(text)
      if (bytes === undefined || bytes.length < 2 + macBytes || bytes[0] !== format) {
        return malformed()
      }
      const key = keys.find(({ id }) => id === bytes[1])
      const head = bytes.subarray(0, bytes.length - macBytes)
      const givenMac = bytes.subarray(bytes.length - macBytes)
      if (key === undefined || !crypto.equal(mac(key, head), givenMac)) return malformed()
      const [name, digested, offset, ...values] = split(head.subarray(2)) ?? []
      if (name === undefined || digested === undefined || offset === undefined) return malformed()
      if (![count].flat().includes(values.length)) return malformed()
      if (decoder.decode(name) !== list) return malformed()
      if (!crypto.equal(digested, digest(binding))) return malformed()
      return Result.succeed({
        offset: Offset.of(Number(decoder.decode(offset))),
        keys: values.map((value) => decoder.decode(value))
      })
    }
  }
}

/** Throws on keys that share an id, and on a key that is short enough to guess. */
const checkKeys = (keys: ReadonlyArray<CursorKey>): void => {
  const ids = new Set(keys.map(({ id }) => id))
  if (ids.size !== keys.length) throw new Error("two cursor keys have one id")
  for (const { id, secret } of keys) {
    if (!Number.isInteger(id) || id < 0 || id > 255) throw new Error("a cursor key's id is a byte")
    if (secret.length < 32) throw new Error("a cursor key has fewer than 32 bytes")
  }
}

const hexBytes = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
  )

/** Encodes a place as the content of a cursor. */
export const goingOn = (place: Place): CursorContent => ({
  offset: place.offset,
  keys: [
    String(place.ledgerEpoch),
    place.select,
    place.instant === null ? "" : String(place.instant),
    place.ledgerTime === null ? "" : String(place.ledgerTime),
    String(place.judgedAt),
    place.sortKey
  ]
})

export const placeKeys = 6

const selects = ["latest", "offset", "instant", "snapshot"] as const

/**
 * Decodes the place of a cursor; the content is signed, so a malformed one is a bug and throws.
 * Refuses `invalid-request` where the call names another `asOf` than the pages before it.
 */
export const placeOf = (
  { offset, keys }: CursorContent,
  asOf: Instant.Instant | undefined
): Result.Result<Place, Refused<"invalid-request">> => {
  const [epoch = "", select = "", instant = "", ledgerTime = "", judgedAt = "", sortKey = ""] = keys
  const selected = selects.find((member) => member === select)
  if (selected === undefined) throw new Error(`a signed cursor selects ${select}`)
  const read = (text: string) => (text === "" ? null : Instant.fromNanos(BigInt(text)))
  if (asOf !== undefined && read(instant) !== asOf) return malformed()
  return Result.succeed({
    offset,
    ledgerEpoch: Number(epoch),
    select: selected,
    instant: read(instant),
    ledgerTime: read(ledgerTime),
    judgedAt: Instant.fromNanos(BigInt(judgedAt)),
    sortKey
  })
}
