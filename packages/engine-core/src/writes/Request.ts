/** Codec of the stored request of a write: the caller's input, completed, in JSON. */
import { Result } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import { refused, type Refused } from "../kernel/Refusal.ts"
import * as Shape from "../kernel/Shape.ts"
import { membersOf, type AnyOperation, type Operation, pathNames } from "./Operation.ts"

type Plain = PlainJson.Plain

interface Codec {
  readonly encode: (input: unknown) => unknown
  readonly decode: (request: unknown) => unknown
  readonly encodeResult: (result: unknown) => unknown
}

/** Cache of the codecs of writes. */
const codecs = new WeakMap<AnyOperation, Codec>()

const codecOf = (operation: AnyOperation): Codec => {
  const cached = codecs.get(operation)
  if (cached !== undefined) return cached
  const codec: Codec = {
    encode: CompiledCodec.encoder(operation.input),
    decode: CompiledCodec.decoder(operation.input),
    encodeResult: CompiledCodec.encoder(operation.result)
  }
  codecs.set(operation, codec)
  return codec
}

export const encode = (operation: AnyOperation, input: unknown): Plain =>
  codecOf(operation).encode(input) as Plain

/**
 * Decodes a stored request; one that does not decode is a defect, since requests only gain members.
 */
export const decode = (operation: AnyOperation, request: Plain): unknown =>
  codecOf(operation).decode(request)

export const encodeResult = (operation: AnyOperation, result: unknown): Plain =>
  codecOf(operation).encodeResult(result) as Plain

/** Cache of the decoders of calls. */
const decoders = new WeakMap<AnyOperation, Shape.Decoder<unknown>>()
const decoderOf = (operation: AnyOperation): Shape.Decoder<unknown> => {
  const cached = decoders.get(operation)
  if (cached !== undefined) return cached
  const decoder = Shape.decoder(operation.input)
  decoders.set(operation, decoder)
  return decoder
}

/** Decodes a call's input from the ids of its path and the members of its body. */
export const decodeCall = (
  operation: Operation,
  call: {
    readonly body: Plain | undefined
    readonly params: Readonly<Record<string, string>>
    readonly ifMatch?: string | null
  }
): Result.Result<unknown, Refused<"invalid-request">> => {
  const body = call.body ?? {}
  const names = pathNames(operation.route)
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return Result.fail(
      refused("invalid-request", {
        errors: [{ pointer: "/body", detail: "The body is a JSON object." }]
      })
    )
  }
  const { ifMatch } = operation
  if (ifMatch !== undefined && Object.hasOwn(body, ifMatch)) {
    return Result.fail(
      refused("invalid-request", {
        errors: [{ pointer: `/body/${ifMatch}`, detail: "The If-Match header says this." }]
      })
    )
  }
  const members = membersOf(operation, { ...call, body })
  const doubled = names.filter((name) => Object.hasOwn(body, name))
  if (doubled.length > 0) {
    return Result.fail(
      refused("invalid-request", {
        errors: doubled.map((name) => ({
          pointer: `/body/${name}`,
          detail: "The path names this already."
        }))
      })
    )
  }
  return decoderOf(operation).decode(members, placeOf(operation))
}

/** Root pointer of a member of a write's input: the path has its ids, the body the others. */
const placeOf = ({ route }: Operation) => {
  const names = pathNames(route)
  return (member: string | undefined): string =>
    member !== undefined && names.includes(member) ? "/path" : "/body"
}

/** Pointer to a place in the input of a write. */
export const pointerOf =
  (operation: Operation) =>
  (path: ReadonlyArray<string>): string =>
    `${placeOf(operation)(path[0])}${Shape.pointer(path)}`

/**
 * The request as it was sent, where that differs from the stored one, which has defaults and ids that
 * the engine added: the ids of the path, the members of the body and the one that If-Match fills.
 * A secret is masked as in the stored request (docs/contract/operations.md#the-answer-to-a-write).
 */
export const asSent = (
  operation: AnyOperation,
  call: {
    readonly body: Plain | undefined
    readonly params: Readonly<Record<string, string>>
    readonly ifMatch?: string | null
  },
  request: Plain
): { readonly given?: Plain } => {
  const body = isMembers(call.body) ? call.body : {}
  const members: Members = Object.fromEntries(
    Object.entries(membersOf(operation, { ...call, body }))
  )
  const stored = isMembers(request) ? request : {}
  const masked = Object.keys(operation.secrets ?? {}).filter((name) => Object.hasOwn(members, name))
  const sentMembers = {
    ...members,
    ...Object.fromEntries(masked.map((name) => [name, stored[name] ?? null]))
  }
  return PlainJson.canonical(sentMembers) === PlainJson.canonical(request)
    ? {}
    : { given: sentMembers }
}

interface Members {
  readonly [member: string]: Plain
}

const isMembers = (value: Plain | undefined): value is Members =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !PlainJson.isPlainNumber(value)
