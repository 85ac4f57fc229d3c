/** Judges a write before it runs: outside answers, rules, figures. */
import { Effect, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { WebhookSender } from "../ports/WebhookSender.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import type { Approval } from "./Approval.ts"
import * as Figures from "./Figures.ts"
import type { Operation } from "./Operation.ts"
import * as Request from "./Request.ts"
import * as Secrets from "./Secrets.ts"

/** Outside judgement of a write, where its declaration asks for one. */
export type Outside = Result.Result<void, Refused | Unavailable>

/** Figures as an action keeps them. */
export interface Kept {
  readonly figures: Figures.Figures
  readonly figuresHash: string
}

const judging = (operation: Operation, input: unknown, act: OperationAct) => {
  switch (operation.on) {
    case "records":
      return Effect.asVoid(operation.run(input, act))
    case "ledger":
      return Effect.asVoid(operation.plan(input, act, 1))
    case "outside":
      return operation.begin(input, act)
  }
}

/** The figures of a write; undefined where it computes none. */
const figuresOf = (
  operation: Operation,
  input: unknown,
  act: OperationAct
): Effect.Effect<Figures.Derived | undefined, Refused | Unavailable, Records | Crypto> =>
  operation.figures === undefined ? Effect.succeed(undefined) : operation.figures(input, act)

/** The prefix of an id the engine makes. */
const prefixOf = ({ resource }: Operation): string =>
  resource.prefix ?? resource.kind.replaceAll("-", "")

export const make = Effect.gen(function* () {
  const records = yield* Records
  const ids = yield* Ids
  const crypto = yield* Crypto
  const ledger = yield* Ledger
  const settings = yield* Settings
  const sender = yield* WebhookSender

  /** Asks the outside judgement of a write, before the transaction that uses it. */
  const ask = (operation: Operation, input: unknown): Effect.Effect<Outside> =>
    operation.judge === undefined
      ? Effect.succeed(Result.void)
      : Effect.result(operation.judge(input)).pipe(
          Effect.provideService(WebhookSender, sender),
          Effect.provideService(Settings, settings)
        )

  /**
   * Judges a write as it would run now, derives its figures where it declares any, and writes
   * nothing. The rules come first: figures are derived only for a write that may run, from the
   * records before it, since what judging wrote is rolled back.
   */
  const precheck = (
    operation: Operation,
    input: unknown,
    of: { readonly act: OperationAct; readonly outside: Outside }
  ): Effect.Effect<Figures.Derived | undefined, Refused | Unavailable> =>
    Effect.andThen(
      Effect.fromResult(of.outside),
      Effect.andThen(
        records.rehearse(judging(operation, input, of.act)),
        records.rehearse(figuresOf(operation, input, of.act))
      )
    ).pipe(Effect.provideService(Records, records), Effect.provideService(Crypto, crypto))

  /** The figures as they are kept with an action, under their hash. */
  const keep = (derived: Figures.Derived): Kept => {
    const figures = Figures.shown(derived)
    return { figures, figuresHash: Figures.hashOf(figures, crypto) }
  }

  /** The request as it is kept, its secrets sealed beside it. */
  const hide = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
    const request = Request.encode(operation, input)
    const secrets = operation.secrets ?? []
    if (secrets.length === 0) return { request, sealed: null }
    const chance = yield* ids.bytes(Secrets.chanceBytes(secrets))
    return Secrets.hide(request, { secrets, keys: settings.sealingKeys, chance }, crypto)
  })

  /** The stored request, its secrets as they were sent. */
  const inputOf = (operation: Operation, kept: Pick<Approval, "request" | "sealed">) =>
    Request.decode(operation, Secrets.reveal(kept, { keys: settings.sealingKeys }, crypto))

  const actOf = (
    operationId: string,
    now: Instant.Instant,
    of: Pick<OperationAct, "actor" | "signedBy" | "sealed" | "trace">
  ): OperationAct => ({
    cause: { by: "operation", operationId },
    now,
    operationId,
    venue: ledger.venue,
    ...of
  })

  /**
   * Completes the request with what the caller left to the engine, such as the id of a new record.
   */
  const complete = Effect.fnUntraced(function* (operation: Operation, input: unknown) {
    if (operation.complete === undefined) return input
    const made = yield* ids.make(prefixOf(operation))
    return operation.complete(input, () => made)
  })

  return { ask, precheck, keep, hide, inputOf, actOf, complete }
})

export type Judging = Effect.Success<typeof make>
