/** The place a list goes on from: signed, so that only a list that issued it takes it back. */
import { Result } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import { type Refused, refuse } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"

/** One of the deployment's keys, shared by all its instances; older ones still verify. */
export interface CursorKey {
  /** 0 to 255. */
  readonly id: number
  /** At least 32 bytes. */
  readonly secret: Uint8Array
}

/** Where a page ended, and at which point of the history the next one reads. */
export interface Place {
  readonly offset: Offset.Offset
  /** How the engine's own records are selected, with the instant where there is one. */
  readonly select: "latest" | "offset" | "instant" | "snapshot"
  readonly instant: Instant.Instant | null
  readonly ledgerTime: Instant.Instant | null
  /** The instant at which the first page judged what depends on time. */
  readonly judgedAt: Instant.Instant
  readonly sortKey: string
}

const format = 0x01
const macBytes = 16
const digestChars = 32
/** Longer text is refused before anything is decoded (contract.md section 6). */
const textMax = 512

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

const join = (fields: ReadonlyArray<string>): string =>
  fields.map((field) => `${field.length}:${field}`).join("")

const split = (text: string, count: number): ReadonlyArray<string> | undefined => {
  const fields: Array<string> = []
  let at = 0
  while (fields.length < count) {
    const colon = text.indexOf(":", at)
    if (colon < 0) return undefined
    const length = Number(text.slice(at, colon))
    if (!Number.isSafeInteger(length) || length < 0) return undefined
    fields.push(text.slice(colon + 1, colon + 1 + length))
    at = colon + 1 + length
  }
  return at === text.length ? fields : undefined
}

const malformed = (): Result.Result<never, Refused<"invalid-request">> =>
  refuse("invalid-request", {
    errors: [{ pointer: "/query/after", detail: "This list did not issue this cursor." }]
  })

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export interface Cursors {
  /** `list` names the list; `bound` is everything a cursor is bound to: filters, order, scope, point. */
  readonly write: (of: {
    readonly list: string
    readonly bound: string
    readonly fields: ReadonlyArray<string>
  }) => string
  readonly read: (of: {
    readonly list: string
    readonly bound: string
    readonly count: number
    readonly text: string
  }) => Result.Result<ReadonlyArray<string>, Refused<"invalid-request">>
}

/** Cursors under these keys; the first one signs. */
export const make = (
  crypto: Crypto["Service"],
  keys: readonly [CursorKey, ...ReadonlyArray<CursorKey>]
): Cursors => {
  const digest = (bound: string) => crypto.sha256(bound).slice(0, digestChars)
  const mac = (key: CursorKey, bytes: Uint8Array) =>
    crypto.hmacSha256(key.secret, bytes).slice(0, macBytes)
  return {
    write: ({ list, bound, fields }) => {
      const [key] = keys
      const payload = encoder.encode(join([list, digest(bound), ...fields]))
      const head = concat(Uint8Array.of(format, key.id), payload)
      const text = encodeBytes(concat(head, mac(key, head)))
      if (text.length > textMax) throw new Error(`a cursor of ${list} is too long`)
      return text
    },
    read: ({ list, bound, count, text }) => {
      if (text.length > textMax) return malformed()
      const bytes = decodeBytes(text)
      if (bytes === undefined || bytes.length < 2 + macBytes || bytes[0] !== format) {
        return malformed()
      }
      const key = keys.find((one) => one.id === bytes[1])
      const head = bytes.subarray(0, bytes.length - macBytes)
      const given = bytes.subarray(bytes.length - macBytes)
      if (key === undefined || !crypto.equal(mac(key, head), given)) return malformed()
      const fields = split(decoder.decode(head.subarray(2)), count + 2)
      if (fields === undefined || fields[0] !== list || fields[1] !== digest(bound)) {
        return malformed()
      }
      return Result.succeed(fields.slice(2))
    }
  }
}

/** A place as the fields of a cursor. */
export const placeFields = (place: Place): ReadonlyArray<string> => [
  String(place.offset),
  place.select,
  place.instant === null ? "" : String(place.instant),
  place.ledgerTime === null ? "" : String(place.ledgerTime),
  String(place.judgedAt),
  place.sortKey
]

export const placeCount = 6

const selects = ["latest", "offset", "instant", "snapshot"] as const

/** The place that a cursor's fields say; they are signed, so anything else is our own bug. */
export const placeOf = (fields: ReadonlyArray<string>): Place => {
  const [offset = "", select = "", instant = "", ledgerTime = "", judgedAt = "", sortKey = ""] =
    fields
  const selected = selects.find((one) => one === select)
  if (selected === undefined) throw new Error(`a signed cursor selects ${select}`)
  const read = (text: string) => (text === "" ? null : Instant.fromNanos(BigInt(text)))
  return {
    offset: Offset.of(Number(offset)),
    select: selected,
    instant: read(instant),
    ledgerTime: read(ledgerTime),
    judgedAt: Instant.fromNanos(BigInt(judgedAt)),
    sortKey
  }
}
