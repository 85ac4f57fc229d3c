/**
 * Interpreter's rules of one template: signatories, observers, controllers, guards, and the body of each
 * choice. Whatever a ledger that is mapped must keep is data here, or named by data, so that a page of
 * it can be printed from what runs.
 */
import { ArithmeticError, type Instant, type Party } from "@bursar/engine-core/kernel"
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

/**
 * Paths to the parties of a record, by its fields' names: `venue`, `cash.admin`, `legs.sender`. An absent
 * party is none, and of a list each.
 */
export type PartyPath<V> =
  NonNullable<V> extends ReadonlyArray<infer Item>
    ? PartyPath<Item>
    : NonNullable<V> extends string | number | bigint | boolean
      ? never
      : {
          readonly [K in keyof NonNullable<V> & string]-?: NonNullable<NonNullable<V>[K]> extends
            | Party.Party
            | ReadonlyArray<Party.Party>
            ? K
            : `${K}.${PartyPath<NonNullable<V>[K]>}`
        }[keyof NonNullable<V> & string]

/** Parties that a rule names: by their path, or by paths that count under a condition alone. */
export type PartyRule<Path extends string, P> =
  | Path
  | {
      /** The condition in words, after "when": "the order is paid on the ledger". */
      readonly when: string
      readonly holds: (self: P) => boolean
      readonly parties: ReadonlyArray<Path>
    }

type PartyRules<Path extends string, P> = ReadonlyArray<PartyRule<Path, P>>

/** Paths of a choice's parties: of the contract's fields, and after `argument.` of the argument's. */
type ChoicePath<T extends Templates.Template, K extends Templates.ChoiceName<T>> =
  | PartyPath<Templates.Payload<T>>
  | `argument.${PartyPath<Templates.Argument<T, K>>}`

/** Refusal by a choice's body, by the text of the guard that did not hold. */
export interface Abort<Guard extends string = string> {
  readonly _tag: "Abort"
  readonly guard: Guard
}

/** Rules of a choice: its controllers and its body. */
export interface ChoiceRules<T extends Templates.Template, K extends Templates.ChoiceName<T>> {
  readonly controllers: PartyRules<ChoicePath<T, K>, Templates.Payload<T>>
  /** Parties that see the exercise, beside stakeholders and controllers. */
  readonly observers?: PartyRules<ChoicePath<T, K>, Templates.Payload<T>>
  /**
   * Texts with which the body aborts, each of them and no other: the compiler compares them with the
   * body, and a body that aborts with another is a defect.
   */
  readonly guards?: ReadonlyArray<string>
  readonly body: (
    at: {
      readonly self: Templates.Payload<T>
      readonly contractId: string
      readonly argument: Templates.Argument<T, K>
    },
    scope: Scope
  ) => Result.Result<Templates.Outcome<T, K>, Refusal | Abort>
}

/** An interface that the template implements; its choices have the same names as the template's. */
export interface Implements<P> {
  readonly typeRef: Ledger.TypeRef
  readonly view: (self: P) => Ledger.LfRecord
}

/** A condition of every contract of a template, and its sentence. */
export type Precondition<P> = readonly [sentence: string, holds: (self: P) => boolean]

/** Rules of a template: its signatories, its observers and its choices. */
export interface Rules<T extends Templates.Template> {
  readonly signatories: PartyRules<PartyPath<Templates.Payload<T>>, Templates.Payload<T>>
  readonly observers: PartyRules<PartyPath<Templates.Payload<T>>, Templates.Payload<T>>
  /** Conditions of a create, all of which must hold. */
  readonly ensure?: ReadonlyArray<Precondition<Templates.Payload<T>>>
  readonly implements?: ReadonlyArray<Implements<Templates.Payload<T>>>
  readonly choices: { readonly [K in Templates.ChoiceName<T>]: ChoiceRules<T, K> }
}

/** Texts with which a body aborts, its own helpers' included. */
type AbortsOf<C> = C extends {
  // The parameters are irrelevant: only what the body aborts with is read off.
  readonly body: (...parameters: never) => Result.Result<unknown, infer E>
}
  ? GuardOf<E>
  : never

type GuardOf<E> = E extends Abort<infer Guard> ? Guard : never

type GuardsOf<C> = C extends { readonly guards: ReadonlyArray<infer Guard> } ? Guard : never

type ChoicesOf<R> = R extends { readonly choices: infer C } ? C : never

/** Texts, after their choice's name, that one of body and list has and the other lacks. */
type GuardDifference<R, Of extends "body" | "list"> = {
  readonly [K in keyof ChoicesOf<R> & string]: `${K}: ${(Of extends "body"
    ? Exclude<GuardsOf<ChoicesOf<R>[K]>, AbortsOf<ChoicesOf<R>[K]>>
    : Exclude<AbortsOf<ChoicesOf<R>[K]>, GuardsOf<ChoicesOf<R>[K]>>) &
    string}`
}[keyof ChoicesOf<R> & string]

/** An entity, where each choice names exactly the guards of its body; else what differs. */
export type EntityOrDifference<R> = [GuardDifference<R, "body" | "list">] extends [never]
  ? Entity
  : {
      readonly guardsThatNoBodyHas: MessageText<GuardDifference<R, "body">>
      readonly guardsThatNoListNames: MessageText<GuardDifference<R, "list">>
    }

/** The texts themselves in the compiler's message, and not the type that computes them. */
type MessageText<Text> = Text extends infer Each ? Each : never

/** Parties of a rule as they are printed: their path, and the condition under which they count. */
export interface NamedParty {
  readonly path: string
  /** Condition in words; null: always. */
  readonly when: string | null
}

/** A choice as whoever maps a ledger must keep it. */
export interface ChoiceDeclaration {
  readonly name: string
  readonly consuming: boolean
  readonly argument: Templates.AnyCodec
  readonly result: Templates.AnyCodec
  readonly controllers: ReadonlyArray<NamedParty>
  readonly observers: ReadonlyArray<NamedParty>
  /** Texts with which the choice aborts. */
  readonly guards: ReadonlyArray<string>
}

/** A template as whoever maps a ledger must keep it: read off the rules by which it runs. */
export interface Declaration {
  readonly typeRef: Ledger.TypeRef
  readonly payload: Templates.RecordCodec
  readonly signatories: ReadonlyArray<NamedParty>
  readonly observers: ReadonlyArray<NamedParty>
  /** Conditions of a create, in words. */
  readonly preconditions: ReadonlyArray<string>
  readonly interfaces: ReadonlyArray<Ledger.TypeRef>
  readonly choices: ReadonlyArray<ChoiceDeclaration>
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
  readonly declaration: Declaration
  readonly interfaces: ReadonlyArray<Ledger.TypeRef>
  readonly read: (payload: Ledger.LfRecord) => Result.Result<Instance, Refusal>
}

const unread = (what: string, error: Schema.SchemaError): Refusal =>
  LedgerError.make("COMMAND_PREPROCESSING_FAILED", `${what}: ${error.message}`)

/** Parties without repeats, in their order. */
export const distinct = (parties: Parties): Parties => [...new Set(parties)]

const isParty = (value: unknown): value is Party.Party => typeof value === "string"

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The parties at a path of a record: none of an absent member, and each of a list. */
const partiesAt = (value: unknown, path: ReadonlyArray<string>): Parties => {
  if (Array.isArray(value)) return value.flatMap((item) => partiesAt(item, path))
  const [name, ...rest] = path
  if (name === undefined) return isParty(value) ? [value] : []
  return isObject(value) ? partiesAt(value[name], rest) : []
}

/** The parties that rules name in a contract and the argument of a choice. */
const partiesOf = <P>(
  rules: PartyRules<string, P>,
  self: P,
  argument: unknown = undefined
): Parties =>
  distinct(
    rules.flatMap((rule) => {
      if (typeof rule !== "string") {
        return rule.holds(self) ? partiesOf(rule.parties, self, argument) : []
      }
      const [first, ...rest] = rule.split(".")
      return first === "argument" && argument !== undefined
        ? partiesAt(argument, rest)
        : partiesAt(self, rule.split("."))
    })
  )

const namedParties = <P>(rules: PartyRules<string, P>): ReadonlyArray<NamedParty> =>
  rules.flatMap(
    (rule): ReadonlyArray<NamedParty> =>
      typeof rule === "string"
        ? [{ path: rule, when: null }]
        : rule.parties.map((path) => ({ path, when: rule.when }))
  )

const declarationOf = <T extends Templates.Template>(template: T, rules: Rules<T>): Declaration => {
  const rulesOf: Readonly<Record<string, ChoiceRules<T, Templates.ChoiceName<T>> | undefined>> =
    rules.choices
  return {
    typeRef: template.typeRef,
    payload: template.payload,
    signatories: namedParties(rules.signatories),
    observers: namedParties(rules.observers),
    preconditions: (rules.ensure ?? []).map(([sentence]) => sentence),
    interfaces: (rules.implements ?? []).map((iface) => iface.typeRef),
    choices: Object.entries(template.choices).map(([name, { consuming, argument, result }]) => ({
      name,
      consuming,
      argument,
      result,
      controllers: namedParties(rulesOf[name]?.controllers ?? []),
      observers: namedParties(rulesOf[name]?.observers ?? []),
      guards: distinctTexts(rulesOf[name]?.guards ?? [])
    }))
  }
}

const distinctTexts = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

/**
 * Binds the rules to their template, so that the interpreter is independent of payload types. Where a
 * choice's guards are not exactly those of its body, what it returns is no entity.
 */
export const define = <const T extends Templates.Template, const R extends Rules<T>>(
  template: T,
  rules: R
): EntityOrDifference<R> => bind(template, rules) as EntityOrDifference<R>

const bind = <T extends Templates.Template>(template: T, rules: Rules<T>): Entity => {
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
      controllers: partiesOf(chosen.controllers, self, argument),
      observers: partiesOf(chosen.observers ?? [], self, argument),
      argument: Templates.encodeArgument(template, choice, argument),
      run: (scope) =>
        Result.mapBoth(
          Result.flatMap(
            computed(
              () => chosen.body({ self, contractId, argument }, scope),
              (error) => LedgerError.arithmetic(`${name}.${choice}`, error)
            ),
            (outcome) => outcome
          ),
          {
            onFailure: (refusal) =>
              refusal._tag === "Abort"
                ? failed(refusal, { choice: `${name}.${choice}`, guards: chosen.guards ?? [] })
                : refusal,
            onSuccess: (outcome) => Templates.encodeResult(template, choice, outcome)
          }
        )
    })
  }

  return {
    typeRef: template.typeRef,
    declaration: declarationOf(template, rules),
    interfaces: interfaces.map((iface) => iface.typeRef),
    read: (payload) => {
      const decoded = Templates.decodePayload(template, payload)
      if (Result.isFailure(decoded)) return Result.fail(unread(name, decoded.failure))
      const self = decoded.success
      const signatories = partiesOf(rules.signatories, self)
      return Result.succeed({
        payload: Templates.encodePayload(template, self),
        signatories,
        observers: partiesOf(rules.observers, self).filter((party) => !signatories.includes(party)),
        ensured: isEnsured(rules, self),
        pending: (ask) => pend(self, ask),
        view: (iface) =>
          interfaces.find(({ typeRef }) => Templates.same(typeRef, iface))?.view(self) ?? null
      })
    }
  }
}

/** Checks the preconditions of a contract; arithmetic without a result is a precondition that fails. */
const isEnsured = <T extends Templates.Template>(
  { ensure = [] }: Rules<T>,
  self: Templates.Payload<T>
): boolean =>
  Result.getOrElse(
    computed(
      () => ensure.every(([, holds]) => holds(self)),
      () => false
    ),
    (isHeld) => isHeld
  )

/**
 * Runs rules on figures of outside parties: where their arithmetic has no result, which no ledger computes,
 * the ledger refuses and goes on. Every other error is a fault of the rules.
 */
const computed = <A, E>(
  rules: () => A,
  refuse: (error: ArithmeticError) => E
): Result.Result<A, E> => {
  try {
    return Result.succeed(rules())
  } catch (error) {
    if (error instanceof ArithmeticError) return Result.fail(refuse(error))
    throw error
  }
}

/** The ledger's error of an abort. One that the choice does not name is a fault of its rules. */
const failed = (
  { guard }: Abort,
  { choice, guards }: { readonly choice: string; readonly guards: ReadonlyArray<string> }
): Refusal => {
  if (!guards.includes(guard)) {
    throw new Error(`${choice} aborts with a guard that it does not name: ${guard}`)
  }
  return LedgerError.make("DAML_FAILURE", guard)
}

/** The choice every template has: all signatories together may end the contract. */
export const archive = (signatories: Parties): PendingChoice => ({
  consuming: true,
  controllers: signatories,
  observers: [],
  argument: {},
  run: () => Result.succeed({})
})

/** Refusal by a choice's body, with a text that the choice's `guards` name. */
export const abort = <const Guard extends string>(
  guard: Guard
): Result.Result<never, Abort<Guard>> => Result.fail({ _tag: "Abort", guard })

/** Aborts on the first requirement that is not met, with its text. */
export const demand = <const Guard extends string>(
  ...demands: ReadonlyArray<readonly [holds: boolean, guard: Guard]>
): Result.Result<void, Abort<Guard>> => {
  const broken = demands.find(([holds]) => !holds)
  return broken === undefined ? Result.void : abort(broken[1])
}
