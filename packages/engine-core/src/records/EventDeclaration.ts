/** Declaration of the events that a room announces: the kind of record, and the payload. */
import type { Schema } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import { isPlainNumber, type Plain } from "../kernel/PlainJson.ts"
import type { EventType } from "../vocabulary/EventType.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"

/** One type of event. Payloads are thin: ids, states, counts; no names, no text of cited orders. */
export interface EventDeclaration<P> {
  /** The sentence that says what it announces, of an event of a room; the engine's have a table. */
  readonly doc?: string
  /** The kind of record the event is about; `any`: the kind that the write acts on. */
  readonly resourceKind: ResourceKind | "any"
  /** The members of its payload, in order. */
  readonly members: ReadonlyArray<string>
  readonly payload: Schema.Codec<P, Plain>
  /** The payload as it is stored and sent; throws on one that is not of this type, a bug. */
  encode(payload: P): Plain
}

/**
 * Declares one type of event. A figure that belongs to one holder is called quantity or amount, so
 * that redaction hides it from monitors.
 */
export const about = <P>(
  resourceKind: ResourceKind | "any",
  payload: Schema.Codec<P, Plain> & { readonly fields: object },
  doc?: string
): EventDeclaration<P> => ({
  ...(doc === undefined ? {} : { doc }),
  resourceKind,
  members: Object.keys(payload.fields),
  payload,
  encode: CompiledCodec.encoder(payload)
})

/** Makes events of a room's table: the type, and the payload as it is stored and sent. */
export const announcing =
  <P>(events: { readonly [T in keyof P]: EventDeclaration<P[T]> }) =>
  <T extends keyof P & EventType>(
    type: T,
    payload: P[T]
  ): { readonly type: T; readonly payload: Plain } => ({
    type,
    payload: events[type].encode(payload)
  })

/** Members of a payload. */
export interface PayloadMembers {
  readonly [member: string]: Plain
}

/** Checks whether a value of a payload has members. */
export const isMembers = (value: Plain | undefined): value is PayloadMembers =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isPlainNumber(value)

/** Payloads as investors and apps read them, by the type of event; null: the event is concealed. */
export type ShownPayloads = {
  readonly [T in EventType]?: (payload: PayloadMembers) => PayloadMembers | null
}
