/** Declaration of a contract template: name, payload, and argument and result of each choice. */
import type { Schema } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import type { Result } from "effect"
import type {
  Command,
  ContractId,
  Create,
  CreateAndExercise,
  Exercise,
  LfRecord,
  LfValue,
  TypeRef
} from "../ports/Ledger.ts"

/** Codec of any value of the ledger. */
export type AnyCodec = Schema.Codec<unknown, LfValue>

/** Codec of a record of the ledger. */
export type RecordCodec = Schema.Codec<unknown, LfRecord>

/** Choice of a template: the codecs of its argument and its result. */
export interface Choice<A extends AnyCodec = AnyCodec, R extends AnyCodec = AnyCodec> {
  readonly consuming: boolean
  readonly argument: A
  readonly result: R
}

/** Choices of a template, by name. */
export type Choices = { readonly [name: string]: Choice }

/** Template of contracts: its name, its payload and its choices. */
export interface Template<P extends RecordCodec = RecordCodec, C extends Choices = Choices> {
  readonly typeRef: TypeRef
  readonly payload: P
  readonly choices: C
}

/** Payload of a template's contracts. */
export type Payload<T extends { readonly payload: RecordCodec }> = T["payload"]["Type"]

/** Name of a choice of a template. */
export type ChoiceName<T extends { readonly choices: Choices }> = keyof T["choices"] & string

/** Argument of a choice. */
export type Argument<
  T extends { readonly choices: Choices },
  K extends ChoiceName<T>
> = T["choices"][K]["argument"]["Type"]

/** Result of a choice. */
export type Outcome<
  T extends { readonly choices: Choices },
  K extends ChoiceName<T>
> = T["choices"][K]["result"]["Type"]

/** Declares a template. Who may exercise a choice is the ledger's rule and not declared here. */
export const define = <const P extends RecordCodec, const C extends Choices>(template: {
  readonly typeRef: TypeRef
  readonly payload: P
  readonly choices: C
}): Template<P, C> => template

/**
 * A command that creates a contract.
 *
 * @example
 * ```ts
 * import { Instant, Party } from "@bursar/engine-core/kernel"
 * import * as Templates from "@bursar/engine-core/templates"
 *
 * const command = Templates.create(Templates.SignedTerms, {
 *   venue: Party.of("venue::1220aa"),
 *   holder: Party.of("alice::1220bb"),
 *   holderId: "alice",
 *   documentHash: "c0ffee".padStart(64, "0"),
 *   signedAt: Instant.of("2026-07-30T16:00:00Z")
 * })
 * [command._tag, command.template.entity] // => ["Create", "SignedTerms"]
 * ```
 */
export const create = <T extends Template>(template: T, payload: Payload<T>): Create => ({
  _tag: "Create",
  template: template.typeRef,
  args: encodePayload(template, payload)
})

/**
 * A command that exercises a choice on a contract.
 *
 * @example
 * ```ts
 * import * as Templates from "@bursar/engine-core/templates"
 *
 * const command = Templates.exercise(Templates.SignedTerms, "00c1", "Withdraw", {})
 * [command._tag, command.choice] // => ["Exercise", "Withdraw"]
 * ```
 */
export const exercise = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  contractId: ContractId,
  choice: K,
  argument: Argument<T, K>
): Exercise => ({
  _tag: "Exercise",
  target: template.typeRef,
  contractId,
  choice,
  arg: encodeArgument(template, choice, argument)
})

/** A command that creates a contract and at once exercises a choice on it. */
export const createAndExercise = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  payload: Payload<T>,
  choice: K,
  argument: Argument<T, K>
): CreateAndExercise => ({
  _tag: "CreateAndExercise",
  template: template.typeRef,
  args: encodePayload(template, payload),
  choice,
  arg: encodeArgument(template, choice, argument)
})

/** Value of a payload, as the ledger takes it. */
export const encodePayload = <T extends Template>(template: T, payload: Payload<T>): LfRecord =>
  encode(template.payload, payload)

/** Value of a choice's argument, as the ledger takes it. */
export const encodeArgument = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  choice: K,
  argument: Argument<T, K>
): LfValue => encode(choiceOf(template, choice).argument, argument)

/** Value of a choice's result, as the ledger answers it. */
export const encodeResult = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  choice: K,
  result: Outcome<T, K>
): LfValue => encode(choiceOf(template, choice).result, result)

/** The typed payload of a created contract of this template. Unknown fields are ignored. */
export const decodePayload = <T extends Template>(
  template: T,
  payload: LfRecord
): Result.Result<Payload<T>, Schema.SchemaError> => decode(template.payload, payload)

/** Argument of a choice in a value of the ledger. Fails where the value has not its form. */
export const decodeArgument = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  choice: K,
  argument: LfValue
): Result.Result<Argument<T, K>, Schema.SchemaError> =>
  decode(choiceOf(template, choice).argument, argument)

/** Result of a choice in a value of the ledger. Fails where the value has not its form. */
export const decodeResult = <T extends Template, K extends ChoiceName<T>>(
  template: T,
  choice: K,
  result: LfValue
): Result.Result<Outcome<T, K>, Schema.SchemaError> =>
  decode(choiceOf(template, choice).result, result)

/** `package:Module:Entity`, the key under which types are looked up. */
export const key = (ref: TypeRef): string => `${ref.packageName}:${ref.module}:${ref.entity}`

/** The reference that `key` made this text of. */
export const refOf = (text: string): TypeRef => {
  const [packageName = "", module = "", entity = ""] = text.split(":")
  return { packageName, module, entity }
}

/** Whether two references name one template. */
export const same = (left: TypeRef, right: TypeRef): boolean =>
  left.entity === right.entity &&
  left.module === right.module &&
  left.packageName === right.packageName

export type { Command, LfRecord, LfValue, TypeRef }

const choiceOf = (template: Template, name: string): Choice => {
  const choice = template.choices[name]
  if (choice === undefined) throw new Error(`${key(template.typeRef)} has no choice ${name}`)
  return choice
}

/** Memo of compiled codecs: a template's schemas are constants. */
const codecs = new WeakMap<object, ReturnType<typeof codecOf>>()

const codecOf = <A, E extends LfValue>(schema: Schema.Codec<A, E>) => ({
  encode: CompiledCodec.encoder(schema),
  decode: CompiledCodec.resultDecoder(schema)
})

const codec = <A, E extends LfValue>(
  schema: Schema.Codec<A, E>
): ReturnType<typeof codecOf<A, E>> => {
  const made = codecs.get(schema) ?? codecOf(schema)
  codecs.set(schema, made)
  return made as ReturnType<typeof codecOf<A, E>>
}

const encode = <A, E extends LfValue>(schema: Schema.Codec<A, E>, value: A): E =>
  codec(schema).encode(value)

const decode = <A>(
  schema: Schema.Codec<A, LfValue>,
  value: LfValue
): Result.Result<A, Schema.SchemaError> => codec(schema).decode(value)
