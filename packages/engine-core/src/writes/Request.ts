/** A write's request as it is stored: what the caller said, completed, in JSON. */
import { Schema } from "effect"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Operation } from "./Operation.ts"

interface Codec {
  readonly encode: (input: unknown) => unknown
  readonly decode: (request: unknown) => unknown
  readonly encodeResult: (result: unknown) => unknown
}

const made = new WeakMap<Operation, Codec>()

const of = (operation: Operation): Codec => {
  const known = made.get(operation)
  if (known !== undefined) return known
  const codec: Codec = {
    encode: Schema.encodeUnknownSync(operation.input),
    decode: Schema.decodeUnknownSync(operation.input),
    encodeResult: Schema.encodeUnknownSync(operation.result)
  }
  made.set(operation, codec)
  return codec
}

export const encode = (operation: Operation, input: unknown): Plain =>
  of(operation).encode(input) as Plain

/** A stored request that no longer decodes is a bug: requests only grow. */
export const decode = (operation: Operation, request: Plain): unknown =>
  of(operation).decode(request)

export const encodeResult = (operation: Operation, result: unknown): Plain =>
  of(operation).encodeResult(result) as Plain
