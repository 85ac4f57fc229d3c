/**
 * Interpreter's rules of one template: signatories, observers, controllers, and the body of each
 * choice.
 */
import type { Instant, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import type { Schema } from "effect"
import * as LedgerError from "./LedgerError.ts"

type Refusal = LedgerError.LedgerError
type Parties = ReadonlyArray<Party.Party>

/** Operations of the transaction inside a choice's body, under the body's authority. */
export interface Scope {
  /** The transaction's effective time. */
  readonly now: Instant.Instant
  readonly create: <T extends Templates.Template>(
    template: T,
    payload: Templates.Payload<T>
  ) => Result.Result<string, Refusal>
  readonly exercise: <T extends Templates.Template, K extends Templates.ChoiceName<T>>(
    template: T,
    contractId: string,
    choice: K,
    argument: Templates.Argument<T, K>
  ) => Result.Result<Templates.Outcome<T, K>, Refusal>
  readonly fetch: <T extends Templates.Template>(
    template: T,
    contractId: string
  ) => Result.Result<Templates.Payload<T>, Refusal>
  /** Archives a contract by the choice that every template has. */
  readonly archive: (
    template: Templates.Template,
    contractId: string
  ) => Result.Result<void, Refusal>
}

/** Rules of a choice: its controllers and its body. */
export interface ChoiceRules<T extends Templates.Template, K extends Templates.ChoiceName<T>> {
  readonly controllers: (self: Templates.Payload<T>, argument: Templates.Argument<T, K>) => Parties
  readonly observers?: (self: Templates.Payload<T>, argument: Templates.Argument<T, K>) => Parties
  readonly body: (
    at: {
      readonly self: Templates.Payload<T>
      readonly contractId: string
      readonly argument: Templates.Argument<T, K>
    },
    scope: Scope
  ) => Result.Result<Templates.Outcome<T, K>, Refusal>
}

/** An interface that the template implements; its choices have the same names as the template's. */
export interface Implements<P> {
  readonly typeRef: Ledger.TypeRef
  readonly view: (self: P) => Ledger.LfRecord
}

/** Rules of a template: its signatories, its observers and its choices. */
export interface Rules<T extends Templates.Template> {
  readonly signatories: (self: Templates.Payload<T>) => Parties
  readonly observers: (self: Templates.Payload<T>) => Parties
  readonly ensure?: (self: Templates.Payload<T>) => boolean
  readonly implements?: ReadonlyArray<Implements<Templates.Payload<T>>>
  readonly choices: { readonly [K in Templates.ChoiceName<T>]: ChoiceRules<T, K> }
}

/** A choice to be exercised, with its decoded argument. */
export interface PendingChoice {
  readonly consuming: boolean
  readonly controllers: Parties
  readonly observers: Parties
  readonly argument: Ledger.LfValue
  readonly run: (scope: Scope) => Result.Result<Ledger.LfValue, Refusal>
}

/** A contract's payload, decoded by its template. */
export interface Instance {
  readonly payload: Ledger.LfRecord
  readonly signatories: Parties
  readonly observers: Parties
  readonly ensured: boolean
  readonly pending: (ask: {
    readonly contractId: string
    readonly choice: string
    readonly argument: Ledger.LfValue
  }) => Result.Result<PendingChoice, Refusal>
  readonly view: (iface: Ledger.TypeRef) => Ledger.LfRecord | null
}

/** Template with its rules, as the simulated ledger runs it. */
export interface Entity {
  readonly typeRef: Ledger.TypeRef
  readonly interfaces: ReadonlyArray<Ledger.TypeRef>
  readonly read: (payload: Ledger.LfRecord) => Result.Result<Instance, Refusal>
}

const unread = (what: string, error: Schema.SchemaError): Refusal =>
  LedgerError.make("COMMAND_PREPROCESSING_FAILED", `${what}: ${error.message}`)

/** Parties without repeats, in their order. */
export const distinct = (parties: Parties): Parties => [...new Set(parties)]

/** Binds the rules to their template, so that the interpreter is independent of payload types. */
export const define = <const T extends Templates.Template>(
  template: T,
  rules: Rules<T>
): Entity => {
  const name = Templates.key(template.typeRef)
  const interfaces = rules.implements ?? []
  const isChoice = (choice: string): choice is Templates.ChoiceName<T> =>
    Object.hasOwn(template.choices, choice)

  const pend = (
    self: Templates.Payload<T>,
    ask: Parameters<Instance["pending"]>[0]
  ): Result.Result<PendingChoice, Refusal> => {
    const { choice, contractId } = ask
    if (!isChoice(choice)) {
      return Result.fail(
        LedgerError.make("COMMAND_PREPROCESSING_FAILED", `${name} has no choice ${choice}`)
      )
    }
    const read = Templates.decodeArgument(template, choice, ask.argument)
    if (Result.isFailure(read)) return Result.fail(unread(`${name}.${choice}`, read.failure))
    const argument = read.success
    const chosen: ChoiceRules<T, Templates.ChoiceName<T>> | undefined = rules.choices[choice]
    if (chosen === undefined) throw new Error(`${name}.${choice} has no rules`)
    return Result.succeed({
      consuming: template.choices[choice]?.consuming === true,
      controllers: distinct(chosen.controllers(self, argument)),
      observers: distinct(chosen.observers?.(self, argument) ?? []),
      argument: Templates.encodeArgument(template, choice, argument),
      run: (scope) =>
        Result.map(chosen.body({ self, contractId, argument }, scope), (outcome) =>
          Templates.encodeResult(template, choice, outcome)
        )
    })
  }

  return {
    typeRef: template.typeRef,
    interfaces: interfaces.map((iface) => iface.typeRef),
    read: (payload) => {
      const decoded = Templates.decodePayload(template, payload)
      if (Result.isFailure(decoded)) return Result.fail(unread(name, decoded.failure))
      const self = decoded.success
      const signatories = distinct(rules.signatories(self))
      return Result.succeed({
        payload: Templates.encodePayload(template, self),
        signatories,
        observers: distinct(rules.observers(self)).filter((party) => !signatories.includes(party)),
        ensured: rules.ensure?.(self) ?? true,
        pending: (ask) => pend(self, ask),
        view: (iface) =>
          interfaces.find(({ typeRef }) => Templates.same(typeRef, iface))?.view(self) ?? null
      })
    }
  }
}

/** The choice every template has: all signatories together may end the contract. */
export const archive = (signatories: Parties): PendingChoice => ({
  consuming: true,
  controllers: signatories,
  observers: [],
  argument: {},
  run: () => Result.succeed({})
})

/** Refusal by a choice's body. */
export const abort = (message: string): Result.Result<never, Refusal> =>
  Result.fail(LedgerError.make("DAML_FAILURE", message))

/** Aborts on the first requirement that is not met, with its message. */
export const demand = (
  ...demands: ReadonlyArray<readonly [holds: boolean, message: string]>
): Result.Result<void, Refusal> => {
  const broken = demands.find(([holds]) => !holds)
  return broken === undefined ? Result.void : abort(broken[1])
}
