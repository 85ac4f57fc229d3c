/** Judges a write before it runs: outside answers, rules, figures. */
import { Effect, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { OperationAct } from "../records/Act.ts"
import type { LedgerEnd } from "../kernel/LedgerEnd.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import { Records } from "../records/Records.ts"
import type { Approval } from "./Approval.ts"
import * as Figures from "./Figures.ts"
import type { AnyOperation } from "./Operation.ts"
import * as Request from "./Request.ts"
import * as Secrets from "./Secrets.ts"

/** Outside judgement of a write, where its declaration asks for one. */
export type Outside = Result.Result<void, Refused | Unavailable>

/** Figures as an action keeps them, under their hash. */
interface HashedFigures {
  readonly figures: Figures.Figures
  readonly figuresHash: string
}

/** Asks the outside judgement of a write, before the transaction that uses it. */
export const ask = (operation: AnyOperation, input: unknown): Effect.Effect<Outside> =>
  operation.judge === undefined
    ? Effect.succeed(Result.void)
    : Effect.result(operation.judge(input))

const rules = (operation: AnyOperation, input: unknown, act: OperationAct) => {
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
 * Judges a write as it would run now, derives its figures where it declares any, and rolls back.
 * The rules come first: figures are derived only for a write that may run, from the records as they
 * were before it.
 */
export const precheck = Effect.fnUntraced(function* (
  operation: AnyOperation,
  input: unknown,
  { outside, act }: { readonly act: OperationAct; readonly outside: Outside }
): Effect.fn.Return<
  Figures.DerivedFigures | undefined,
  Refused | Unavailable,
  Records | Bulk | Crypto | LedgerReach
> {
  const records = yield* Records
  yield* Effect.fromResult(outside)
  yield* records.rehearse(rules(operation, input, act))
  if (operation.figures === undefined) return undefined
  return yield* records.rehearse(operation.figures(input, act))
})

/** Encodes derived figures as an action stores them, with their hash. */
export const keep = (
  derived: Figures.DerivedFigures
): Effect.Effect<HashedFigures, never, Crypto> =>
  Effect.map(Crypto, (crypto) => {
    const figures = Figures.shown(derived)
    return { figures, figuresHash: Figures.hashOf(figures, crypto) }
  })

/** Encodes a request as it is stored, with its encrypted secrets beside it. */
export const hide = Effect.fnUntraced(function* (operation: AnyOperation, input: unknown) {
  const request = Request.encode(operation, input)
  const secrets = operation.secrets ?? {}
  const count = Object.keys(secrets).length
  if (count === 0) return { request, sealed: null }
  const ids = yield* Ids
  const chance = yield* ids.bytes(Secrets.chanceBytes(count))
  const { sealingKeys: keys } = yield* Settings
  return Secrets.hide(request, { secrets, keys, chance }, yield* Crypto)
})

/** Decodes a stored request into the write's input, with its secrets decrypted. */
export const inputOf = Effect.fnUntraced(function* (
  operation: AnyOperation,
  approval: Pick<Approval, "request" | "sealed">
) {
  const { sealingKeys: keys } = yield* Settings
  return Request.decode(operation, Secrets.reveal(approval, { keys }, yield* Crypto))
})

/** Builds the act of an operation from its actor and signers, judged at `now`. */
export const actOf = (
  operationId: string,
  now: Instant.Instant,
  {
    ledgerEnd,
    ...attribution
  }: Pick<OperationAct, "actor" | "role" | "signedBy" | "sealed" | "trace"> & {
    readonly ledgerEnd?: LedgerEnd | undefined
  }
): Effect.Effect<OperationAct, never, Ledger> =>
  Effect.map(Ledger, ({ venue }) => ({
    cause: { by: "operation", operationId },
    now,
    operationId,
    venue,
    ...attribution,
    ...(ledgerEnd === undefined ? {} : { ledgerEnd })
  }))

/** Prefix of ids that the engine makes for a write. */
const prefixOf = ({ resource }: AnyOperation): string =>
  resource.prefix ?? resource.kind.replaceAll("-", "")

/**
 * Fills members of the input that the caller left to the engine, such as the id of a new record.
 */
export const complete = Effect.fnUntraced(function* (operation: AnyOperation, input: unknown) {
  if (operation.complete === undefined) return input
  const ids = yield* Ids
  const made = yield* ids.make(prefixOf(operation))
  return operation.complete(input, () => made)
})
