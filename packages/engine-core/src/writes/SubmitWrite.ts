/** Submits a call as a write: a new write, an approval of an action that awaits, or a replay. */
import { Effect, Layer } from "effect"
import * as OwnWords from "../engine/OwnWords.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Ids } from "../ports/Ids.ts"
import type { Ledger } from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import { Records } from "../records/Records.ts"
import * as Worker from "../records/Worker.ts"
import * as Concealment from "./Concealment.ts"
import * as Answers from "./AnswerSteps.ts"
import { type Caller, roleOf } from "./Caller.ts"
import { type Answer, type Call, FourEyes } from "./FourEyes.ts"
import * as FourEyesWrite from "./FourEyesWrite.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import * as KeyedCall from "./KeyedCall.ts"
import type { Operation } from "./Operation.ts"
import { Operations } from "./Operations.ts"
import * as OpenWrite from "./OpenWrite.ts"
import * as RejectWrite from "./RejectWrite.ts"
import * as Request from "./Request.ts"
import * as SignWrite from "./SignWrite.ts"

/**
 * Makes a call's write, or counts it as an approval; the refusals are those of `FourEyes.submit`.
 */
const submit = Effect.fnUntraced(function* (
  operation: Operation,
  call: Call,
  judge: OwnWords.Judge
) {
  const records = yield* Records
  const role = roleOf(call.caller, operation.makers)
  const mayApprove = operation.approvers > 0 && call.caller.roles.includes("approver")
  if (role === undefined && !mayApprove) {
    return yield* SignWrite.denied("None of the caller's roles makes or approves this write.")
  }
  const input = yield* Effect.fromResult(Request.decodeCall(operation, call))
  yield* Effect.fromResult(judge(operation.input, input, Request.pointerOf(operation)))
  const method = operation.route.slice(0, operation.route.indexOf(" "))
  const fingerprint = yield* KeyedCall.fingerprintOfWrite(operation, { method, ...call })
  const outside = yield* JudgeWrite.ask(operation, input)
  const keyed = yield* KeyedCall.keyOf(call.caller, { fingerprint, sentKey: call.key })
  if (role !== undefined && operation.approvers === 0) {
    const refusalFor = Concealment.refusalFor(role)
    const single = OpenWrite.single(operation, call, { input, key: keyed, role, outside })
    return yield* Effect.mapError(records.transact(single), refusalFor)
  }
  const submission = { operation, call, input, fingerprint, role, method, outside, keyed }
  const answer = yield* records.transact(
    Effect.flatMap(Instant.now, (now) => FourEyesWrite.run({ ...submission, now }))
  )
  return yield* Effect.fromResult(answer)
})

/** Makes the answer anew, with the operation as it is now. */
const current = Effect.fnUntraced(function* (answer: Answer, caller: Caller) {
  const { awaitedOperation, replayed, status } = answer
  if (awaitedOperation === null) return answer
  const operations = yield* Operations
  const operation = yield* OpenWrite.operationById(awaitedOperation)
  const role = roleOf(caller, operations.of(operation.kind).makers)
  // An approver that makes no such write reads it whole, as the answer to its approval did.
  const shown = role === undefined ? operation : Concealment.operationFor(operation, role)
  return yield* Answers.ofOperation(shown, yield* Instant.now, { status, replayed })
})

type Needs = KeyedCall.Needs | Bulk | LedgerReach | Ids | Crypto | Ledger | Operations

const make = Effect.gen(function* () {
  const judge = yield* OwnWords.judging
  const provided = Effect.provideContext(yield* Worker.servicesOf<Needs>())
  return FourEyes.of({
    submit: (operation, call) => provided(submit(operation, call, judge)),
    open: (operation, request, key) => provided(OpenWrite.openOwn(operation, request, key)),
    current: (answer, caller) => provided(current(answer, caller)),
    approve: (signature) => provided(SignWrite.approve(signature)),
    reject: (rejection) => provided(RejectWrite.reject(rejection))
  })
})

export const layer: Layer.Layer<FourEyes, never, Needs> = Layer.effect(FourEyes, make)
