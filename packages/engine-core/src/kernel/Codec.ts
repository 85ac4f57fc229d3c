/** Makes the schemas of kernel values for wire and store from one parser and one printer each. */
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Fault of a text that does not parse, with a reason that callers may read. */
export interface Fault {
  readonly detail: string
}

/** A parser's failure, with the sentence that says why the text is refused. */
export const fault = (detail: string): Result.Result<never, Fault> => Result.fail({ detail })

/** Parses a literal of the source code; a fault there is a bug, so it throws. */
export const orThrow = <A>(what: string, result: Result.Result<A, Fault>): A => {
  if (Result.isSuccess(result)) return result.success
  throw new RangeError(`${what}: ${result.failure.detail}`)
}

/** A codec from a parser that may refuse and a printer that may not. */
export const make = <To extends Schema.Constraint, From extends Schema.Constraint>(options: {
  readonly from: From
  readonly to: To
  readonly parse: (encoded: From["Type"]) => Result.Result<To["Encoded"], Fault>
  readonly print: (value: To["Encoded"]) => From["Type"]
}): Schema.decodeTo<To, From> =>
  Schema.decodeTo<To, From>(
    options.to,
    SchemaTransformation.transformEffect<To["Encoded"], From["Type"]>({
      decode: (encoded, parseOptions) => {
        const parsed = options.parse(encoded)
        return Result.isSuccess(parsed)
          ? Effect.succeed(parsed.success)
          : Effect.fail(
              new SchemaIssue.InvalidValue(
                { message: parsed.failure.detail },
                encoded,
                parseOptions
              )
            )
      },
      encode: (value) => Effect.succeed(options.print(value))
    })
  )(options.from)
