/** Answers a call on a four-eyes route as a repeat, a signature, or a new action. */
import { Effect, Result } from "effect"
import { Settings } from "../engine/Settings.ts"
import type * as Instant from "../kernel/Instant.ts"
import { refused, type Unavailable } from "../kernel/Refusal.ts"
import { Ids } from "../ports/Ids.ts"
import { isMembers } from "../records/EventDeclaration.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as ActionWrite from "./ActionWrite.ts"
import * as Answers from "./AnswerSteps.ts"
import * as Approval from "./Approval.ts"
import type { Call } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import type * as JudgeWrite from "./JudgeWrite.ts"
import * as KeyedCall from "./KeyedCall.ts"
import { finishesInCall, type Operation } from "./Operation.ts"
import * as Lasting from "./LastingLookups.ts"
import { operationById } from "./OpenWrite.ts"
import * as SignWrite from "./SignWrite.ts"

/** Actions of one fingerprint that are read in one page. */
const sameMax = 100

type Action = Stored<Approval.Approval>

/**
 * Loads the actions of a fingerprint in one state that `take` accepts, newest first: all that
 * await, and of other states the newest one.
 */
const matching = Effect.fnUntraced(function* <R>(
  { fingerprint, state }: { readonly fingerprint: string; readonly state: Action["state"] },
  take: (action: Action) => Effect.Effect<boolean, Unavailable, R>
) {
  const records = yield* Records
  const taken: Array<Action> = []
  const where = { fingerprint: [fingerprint], state: [state] }
  for (let after: string | undefined; ; ) {
    const rows = yield* records.list(Approval.approvals, {
      where,
      direction: "desc",
      limit: sameMax,
      ...(after === undefined ? {} : { after })
    })
    for (const { record } of rows) {
      if (!(yield* take(record))) continue
      taken.push(record)
      if (state !== "awaiting") return taken
    }
    after = rows.at(-1)?.sortKey
    if (rows.length < sameMax) return taken
  }
})

/** A decoded call on a four-eyes route, with the caller's role and key. */
interface FourEyesCall {
  readonly operation: Operation
  readonly call: Call
  readonly input: unknown
  readonly fingerprint: string
  readonly role: Role | undefined
  readonly method: string
  readonly outside: JudgeWrite.Outside
  readonly now: Instant.Instant
  readonly keyed: KeyedCall.CallKey
}

/**
 * Answers a caller that has used this key before; undefined where the key no longer binds. A key
 * derived from the body binds for a limited time, or for good where its action was rejected.
 */
const usedBefore = Effect.fnUntraced(function* (submission: FourEyesCall) {
  const { call, keyed, now, operation } = submission
  const settings = yield* Settings
  const target = yield* KeyedCall.earlier(keyed)
  if (target === undefined) return undefined
  const action = yield* ActionWrite.approvalById(Idempotency.parseTarget(target).id)
  const binds =
    keyed.isSent ||
    action.state === "rejected" ||
    (isWithin(action, now, settings) && (yield* lasts(operation, action)))
  if (!binds || (!keyed.isSent && !namesSame(submission, action))) return undefined
  const { caller } = call
  // A caller that signs under a key which it used before: it is answered as a signer only if it has
  // signed, since its earlier call may have been refused, or its signature may be void.
  if (action.maker !== caller.sub) {
    return yield* signedAs(submission, action.actionKey, { isRepeat: true })
  }
  return Result.succeed(yield* ActionWrite.answerToRepeat(operation, action, { caller, now }))
})

/**
 * Checks whether a call names the version that it replaces, by its If-Match, as an action of the same body
 * does: one that replaces another version is another write. An approver who names none signs the version
 * that the action names, which the run compares with the one in force.
 */
const namesSame = (
  { call, operation: { ifMatch } }: Pick<FourEyesCall, "call" | "operation">,
  { maker, request }: Pick<Action, "maker" | "request">
): boolean => {
  if (ifMatch === undefined) return true
  const version = call.ifMatch ?? null
  if (version === null && call.caller.sub !== maker) return true
  return (isMembers(request) ? (request[ifMatch] ?? null) : null) === version
}

/** Signs an action by a call on the route of its write, whose key is bound to it already. */
const signedAs = Effect.fnUntraced(function* (
  { call, now, operation, outside }: FourEyesCall,
  actionKey: string,
  { isRepeat }: { readonly isRepeat: boolean }
) {
  const records = yield* Records
  const settings = yield* Settings
  yield* records.lock(`action:${settings.tenantId}:${actionKey}`)
  const action = yield* ActionWrite.approvalById(actionKey)
  if (action.state !== "awaiting" && Approval.signedBy(action).includes(call.caller.sub)) {
    return Result.succeed(
      yield* ActionWrite.answerToRepeat(operation, action, { caller: call.caller, now })
    )
  }
  return yield* SignWrite.sign(action, call, {
    ...{ now, outside, isRepeat },
    by: finishesInCall(operation) ? "call" : "worker",
    route: operation.route,
    figuresHashSeen: null
  })
})

/** Checks that what an action's operation made is as it was made; true where it has not run. */
const lasts = Effect.fnUntraced(function* (operation: Operation, { operationId }: Action) {
  if (operationId === null || operation.lasts === undefined) return true
  return yield* Lasting.lasts(operation, yield* operationById(operationId))
})

/** Checks whether the action's maker has used the key that was sent for this action. */
const isNamed = Effect.fnUntraced(function* ({ call: { key } }: FourEyesCall, action: Action) {
  if (key === null || action.key === key) return true
  const target = Idempotency.target("action", action.actionKey)
  return yield* KeyedCall.isNamedBy({ caller: { sub: action.maker }, key }, target)
})

/** Approves the action of another maker's equal call, or answers who has approved it; undefined: no such action. */
const asApprover = Effect.fnUntraced(function* (
  submission: FourEyesCall,
  awaiting: ReadonlyArray<Action>
) {
  const { call, fingerprint, keyed, now, operation } = submission
  const { caller } = call
  if (!caller.roles.includes("approver")) return undefined
  const candidates = yield* Effect.filter(awaiting, (action) => isNamed(submission, action))
  if (candidates.length > 0 && caller.roles.includes("auditor")) {
    return yield* Effect.fail(refused("auditor-never-approves"))
  }
  if (candidates.length > 1) return yield* Effect.fail(refused("approval-ambiguous"))
  const [candidate] = candidates
  if (candidate !== undefined) {
    // The key now belongs to the signer: another request under it is refused. The key is locked
    // before the action, as in `approve` and `reject`, so that there is no deadlock.
    const isRepeat = yield* KeyedCall.bindSignature(candidate.actionKey, keyed)
    return yield* signedAs(submission, candidate.actionKey, { isRepeat })
  }
  const [ran] = yield* matching({ fingerprint, state: "approved" }, (action) =>
    Approval.signedBy(action).includes(caller.sub) && namesSame(submission, action)
      ? isNamed(submission, action)
      : Effect.succeed(false)
  )
  return ran === undefined || (!keyed.isSent && !(yield* lasts(operation, ran)))
    ? undefined
    : Result.succeed(yield* ActionWrite.answerToRepeat(operation, ran, { caller, now }))
})

/**
 * Recovery of a refusal to an approver that repeats another's call under a key of its own, which
 * approves nothing: names the action of the same call that awaits, the oldest of several, and how to
 * approve it.
 */
const toApprove = (
  { call: { caller } }: FourEyesCall,
  awaiting: ReadonlyArray<Action>
): string | null => {
  const first = awaiting.at(-1)
  const mayApprove = caller.roles.includes("approver") && !caller.roles.includes("auditor")
  return first === undefined || !mayApprove
    ? null
    : `The same call of ${first.maker} awaits approvers as ${first.actionKey}: to approve it call POST /v1/approvals/${first.actionKey}:approve, or repeat this call without an Idempotency-Key.`
}

/** Refuses callers who may not make the write; an equal action that was rejected is the reason, where there is one. */
const mayNotMake = Effect.fnUntraced(function* (
  submission: FourEyesCall,
  awaiting: ReadonlyArray<Action>
) {
  const { fingerprint } = submission
  const recovery = toApprove(submission, awaiting)
  const details = recovery === null ? {} : { recovery }
  const [rejected] = yield* matching({ fingerprint, state: "rejected" }, (action) =>
    Effect.succeed(namesSame(submission, action))
  )
  if (rejected !== undefined) return yield* Effect.fail(refused("approval-rejected", details))
  const detail = "None of the caller's roles makes this write."
  return yield* Effect.fail(refused("permission-denied", { detail, ...details }))
})

/**
 * Answers a call on a four-eyes route by the first row of the table that matches
 * (docs/contract/four-eyes.md#a-call-on-a-four-eyes-route).
 */
export const run = Effect.fnUntraced(function* (submission: FourEyesCall) {
  const records = yield* Records
  const ids = yield* Ids
  const settings = yield* Settings
  const { call, fingerprint, keyed, role } = submission
  yield* records.lock(`write:${settings.tenantId}:${fingerprint}`)
  const before = yield* usedBefore(submission)
  if (before !== undefined) return before
  const awaiting = yield* matching({ fingerprint, state: "awaiting" }, (action) =>
    Effect.succeed(namesSame(submission, action))
  )
  // The caller made an action with this request, under another key, that still awaits.
  const own = awaiting.find((action) => action.maker === call.caller.sub)
  if (own !== undefined) {
    yield* KeyedCall.bindToAction(own.actionKey, keyed)
    return Result.succeed(yield* Answers.ofAction(own, { status: 200, replayed: true }))
  }
  const signed = yield* asApprover(submission, awaiting)
  if (signed !== undefined) return signed
  if (role === undefined) return yield* mayNotMake(submission, awaiting)
  const actionKey = yield* ids.make("ak")
  yield* KeyedCall.bindToAction(actionKey, keyed)
  const also = toApprove(submission, awaiting)
  return Result.succeed(
    yield* ActionWrite.make({ ...submission, key: keyed.key, role, actionKey, also })
  )
})

const isWithin = (
  action: Stored<Approval.Approval>,
  now: Instant.Instant,
  settings: { readonly bodyKeyWindow: number }
): boolean => now - action.createdAt < BigInt(settings.bodyKeyWindow) * 1_000_000n
