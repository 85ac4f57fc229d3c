/**
 * Ids of records, chosen by caller or engine, in characters that are safe in a path and in a log.
 */
import { type Brand, Result, Schema } from "effect"
import * as Codec from "./Codec.ts"

/** The most characters of an id, wherever one is taken: the record's own, the router's, the document's. */
export const lengthMax = 128

/** 1 to 128 letters, digits, `.`, `_`, `~` and `-`, the first a letter or digit; never a colon. */
export type RecordId<Name extends string> = string & Brand.Brand<Name>

/**
 * Form of an identifier of a record: 1 to 128 letters, digits and `. _ ~ -`, the first of them a
 * letter or a digit.
 */
export const pattern = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/u

/** Checks that the text is a valid record id. */
export const isRecordId = (text: string): boolean => pattern.test(text)

/** Parses a record id of a path or a query. */
export const parse = <Name extends string>(
  text: string
): Result.Result<RecordId<Name>, Codec.Fault> =>
  isRecordId(text)
    ? Result.succeed(text as RecordId<Name>)
    : Codec.fault(
        `a record id is 1 to ${lengthMax} of A-Z a-z 0-9 . _ ~ -, starting with a letter or digit`
      )

/**
 * The id of the record that a write makes: the caller's, or the one that the engine has made for it. Throws
 * without one, which a precheck alone lacks; `record` names the record: "a hold".
 */
export const made = <Id extends string>(id: Id | null, record: string): Id => {
  if (id === null) throw new Error(`${record} is made under an id`)
  return id
}

/** The schema of one kind of record's names; `name` is the brand and the title. */
export const make = <const Name extends string>(name: Name): Schema.Codec<RecordId<Name>, string> =>
  Schema.String.check(
    Schema.isPattern(pattern, {
      expected: "a record id",
      title: name,
      description: `Names one ${name}.`
    })
  ).pipe(branded<Name>(name))

// A literal name holds one key, which the compiler cannot see of a type parameter.
const branded = <Name extends string>(name: Name) =>
  Schema.brand<Name>(name as Parameters<typeof Schema.brand<Name>>[0])
