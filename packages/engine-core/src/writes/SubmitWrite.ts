/** Submits a call as a write: a new write, an approval of an action that awaits, or a replay. */
import { Context, Effect, Layer } from "effect"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import { Ledger } from "../ports/Ledger.ts"
import { Bulk } from "../ports/storage/Bulk.ts"
import { Keys } from "../ports/storage/Keys.ts"
import { WebhookSender } from "../ports/WebhookSender.ts"
import { LedgerReach } from "../records/LedgerReach.ts"
import { Records } from "../records/Records.ts"
import * as Concealment from "./Concealment.ts"
import { roleOf } from "./Caller.ts"
import * as CallKeys from "./CallKeys.ts"
import { type Call, FourEyes } from "./FourEyes.ts"
import * as FourEyesWrite from "./FourEyesWrite.ts"
import * as Idempotency from "./Idempotency.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import type { Operation } from "./Operation.ts"
import { Operations } from "./Operations.ts"
import * as OpenWrite from "./OpenWrite.ts"
import * as RejectWrite from "./RejectWrite.ts"
import * as Request from "./Request.ts"
import * as SignWrite from "./SignWrite.ts"

/**
 * Makes a call's write, or counts it as an approval; the refusals are those of `FourEyes.submit`.
 */
const submit = Effect.fnUntraced(function* (operation: Operation, call: Call) {
  const records = yield* Records
  const crypto = yield* Crypto
  const role = roleOf(call.caller, operation.makers)
  const mayApprove = operation.approvers > 0 && call.caller.roles.includes("approver")
  if (role === undefined && !mayApprove) {
    return yield* SignWrite.denied("None of the caller's roles makes or approves this write.")
  }
  const input = yield* Effect.fromResult(Request.decodeCall(operation, call))
  const method = operation.route.slice(0, operation.route.indexOf(" "))
  const fingerprint = crypto.sha256(Idempotency.fingerprintText({ method, ...call }))
  const outside = yield* JudgeWrite.ask(operation, input)
  const keyed = yield* CallKeys.of(call.caller, { fingerprint, sent: call.key })
  if (role !== undefined && operation.approvers === 0) {
    return yield* records
      .transact(OpenWrite.single(operation, call, { input, key: keyed, role, outside }))
      .pipe(Effect.mapError(Concealment.refusalFor(role)))
  }
  const asked = { operation, call, input, fingerprint, role, method, outside, keyed }
  const answer = yield* records.transact(
    Effect.flatMap(Instant.now, (now) => FourEyesWrite.run({ ...asked, now }))
  )
  return yield* Effect.fromResult(answer)
})

type Needs = Records | Bulk | LedgerReach | Keys | Ids | Crypto | Ledger | Operations

/**
 * Services of a write; `Settings` and `WebhookSender` have defaults, so that no type demands them.
 */
const needs = [
  Records,
  Bulk,
  LedgerReach,
  Keys,
  Ids,
  Crypto,
  Ledger,
  Operations,
  Settings,
  WebhookSender
] as const

const make = Effect.gen(function* () {
  const services = Context.pick(...needs)(yield* Effect.context<Needs>())
  const provided = Effect.provideContext(services)
  return FourEyes.of({
    submit: (operation, call) => provided(submit(operation, call)),
    open: (operation, request, key) => provided(OpenWrite.openOwn(operation, request, key)),
    approve: (signature) => provided(SignWrite.approve(signature)),
    reject: (rejection) => provided(RejectWrite.reject(rejection))
  })
})

export const layer: Layer.Layer<FourEyes, never, Needs> = Layer.effect(FourEyes, make)
