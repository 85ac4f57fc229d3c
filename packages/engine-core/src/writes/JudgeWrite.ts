/** Judges a write before it runs: outside answers, rules, figures. */
import { Effect, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import type { Approval } from "./Approval.ts"
import * as Figures from "./Figures.ts"
import type { Operation } from "./Operation.ts"
import * as Request from "./Request.ts"
import * as Secrets from "./Secrets.ts"

/** Outside judgement of a write, where its declaration asks for one. */
export type Outside = Result.Result<void, Refused | Unavailable>

/** Figures as an action keeps them, under their hash. */
export interface Kept {
  readonly figures: Figures.Figures
  readonly figuresHash: string
}

/** Asks the outside judgement of a write, before the transaction that uses it. */
export const ask = (operation: Operation, input: unknown): Effect.Effect<Outside> =>
  operation.judge === undefined
    ? Effect.succeed(Result.void)
    : Effect.result(operation.judge(input))

const rules = (operation: Operation, input: unknown, act: OperationAct) => {
  switch (operation.on) {
    case "records":
      return Effect.asVoid(operation.run(input, act))
    case "ledger":
      return Effect.asVoid(operation.plan(input, act, 1))
    case "outside":
      return operation.begin(input, act)
  }
}

/**
 * Judges a write as it would run now, derives its figures where it declares any, and writes nothing.
 * The rules come first: figures are derived only for a write that may run, from the records before
 * it, since what judging wrote is rolled back.
 */
export const precheck = Effect.fnUntraced(function* (
  operation: Operation,
  input: unknown,
  of: { readonly act: OperationAct; readonly outside: Outside }
): Effect.fn.Return<Figures.Derived | undefined, Refused | Unavailable, Records | Crypto> {
  const records = yield* Records
  yield* Effect.fromResult(of.outside)
  yield* records.rehearse(rules(operation, input, of.act))
  if (operation.figures === undefined) return undefined
  return yield* records.rehearse(operation.figures(input, of.act))
})

/** The figures as they are kept with an action, under their hash. */
export const keep = (derived: Figures.Derived): Effect.Effect<Kept, never, Crypto> =>
  Effect.map(Crypto, (crypto) => {
    const figures = Figures.shown(derived)
    return { figures, figuresHash: Figures.hashOf(figures, crypto) }
  })

/** The request as it is kept, its secrets sealed beside it. */
export const hide = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
  const request = Request.encode(operation, input)
  const secrets = operation.secrets ?? []
  if (secrets.length === 0) return { request, sealed: null }
  const ids = yield* Ids
  const chance = yield* ids.bytes(Secrets.chanceBytes(secrets))
  const { sealingKeys: keys } = yield* Settings
  return Secrets.hide(request, { secrets, keys, chance }, yield* Crypto)
})

/** The kept request as a write's input, its secrets as they were sent. */
export const inputOf = Effect.fnUntraced(function* (
  operation: Operation,
  kept: Pick<Approval, "request" | "sealed">
) {
  const { sealingKeys: keys } = yield* Settings
  return Request.decode(operation, Secrets.reveal(kept, { keys }, yield* Crypto))
})

/** The act of an operation, by whoever asked for it and signed it, judged at `now`. */
export const actOf = (
  operationId: string,
  now: Instant.Instant,
  of: Pick<OperationAct, "actor" | "signedBy" | "sealed" | "trace">
): Effect.Effect<OperationAct, never, Ledger> =>
  Effect.map(Ledger, ({ venue }) => ({
    cause: { by: "operation", operationId },
    now,
    operationId,
    venue,
    ...of
  }))

/** The prefix of an id the engine makes. */
const prefixOf = ({ resource }: Operation): string =>
  resource.prefix ?? resource.kind.replaceAll("-", "")

/** Completes the input with what the caller left to the engine, such as the id of a new record. */
export const complete = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
  if (operation.complete === undefined) return input
  const ids = yield* Ids
  const made = yield* ids.make(prefixOf(operation))
  return operation.complete(input, () => made)
})
