/** The parameters that reads share: the point of the read, the page, the window of changes. */
import { type Read, Vocabulary } from "@bursar/engine-core"
import { Codec, Instant, Offset } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"

/** Schema of a text that a parser of the kernel reads; the document shows its format. */
const textOf = <A>(
  to: Schema.Codec<A, unknown>,
  parse: (text: string) => Result.Result<A, Codec.Fault>,
  print: (value: A) => string
) => Codec.make({ from: Schema.String, to: Schema.toType(to), parse, print })

const At: Schema.Codec<Offset.Offset, string> = textOf(Offset.schema, Offset.parse, (offset) =>
  String(offset)
)

export const limitMax = 1000
const plainLimit = /^[1-9][0-9]{0,3}$/

const Limit: Schema.Codec<number, string> = textOf(
  Schema.Int,
  (text) =>
    plainLimit.test(text) && Number(text) <= limitMax
      ? Result.succeed(Number(text))
      : Codec.fault(`a limit is 1 to ${limitMax}`),
  (limit) => String(limit)
)

/** Most characters of a cursor; a longer one is refused before it is decoded. */
export const cursorMax = 1_536
const After = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(cursorMax, { expected: "a cursor this list issued" })
)

const point = { at: Schema.optionalKey(At), asOf: Schema.optionalKey(Instant.schema) }
export const page = { limit: Schema.optionalKey(Limit), after: Schema.optionalKey(After) }
const window = {
  updatedFrom: Schema.optionalKey(Instant.schema),
  updatedTo: Schema.optionalKey(Instant.schema)
}

/** All standard parameters; `names` selects those of one read. */
export const Standard = Schema.Struct({ ...point, ...page, ...window })

/** The names of the standard parameters a read takes. */
export const names = (read: Read.Read): ReadonlySet<string> =>
  new Set([
    ...(read.pinned ? Object.keys(point) : []),
    ...(read.shape === "list" ? Object.keys(page) : []),
    ...(read.shape === "list" && read.changes ? Object.keys(window) : [])
  ])

/** Roles of an audience, in the order of the vocabulary. */
export const rolesOf = (audience: Read.Audience): ReadonlyArray<Vocabulary.Role> =>
  Vocabulary.Role.members.filter((role) => role in audience)
