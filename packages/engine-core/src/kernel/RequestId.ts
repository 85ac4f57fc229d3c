/**
 * Id of one request in answers, logs and the audit log: the caller's own, or one the host makes.
 */
import { type Brand, Result, Schema } from "effect"
import * as Codec from "./Codec.ts"

/** 1 to 128 printable ASCII characters, no space. */
export type RequestId = string & Brand.Brand<"RequestId">

/** Form of a request's identifier: 1 to 128 printable characters without spaces. */
export const pattern = /^[\x21-\x7E]{1,128}$/u

/** Whether a value is the identifier of a request. */
export const isRequestId = (value: unknown): value is RequestId =>
  typeof value === "string" && pattern.test(value)

/** Identifier of a request in a text; a fault where the text has not the form of one. */
export const parse = (text: string): Result.Result<RequestId, Codec.Fault> =>
  isRequestId(text)
    ? Result.succeed(text)
    : Codec.fault("a request id is 1 to 128 printable ASCII characters without a space")

/** A request id the program itself made; anything else is a bug. */
export const of = (text: string): RequestId => Codec.orThrow("RequestId", parse(text))

/** The request id on the wire and in the store. */
export const schema: Schema.Codec<RequestId, string> = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "a request id",
    title: "RequestId",
    description: "Names one request: 1 to 128 printable ASCII characters."
  })
).pipe(Schema.brand("RequestId"))
