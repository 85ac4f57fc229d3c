/** Submits a call as a write: a new write, an approval of an action that awaits, or a replay. */
import { Effect, Layer, Option, Result } from "effect"
import * as Discreet from "../restraints/restriction/Discreet.ts"
import { Settings } from "../engine/Settings.ts"
import * as Instant from "../kernel/Instant.ts"
import { refused, type Unavailable } from "../kernel/Refusal.ts"
import { Crypto } from "../ports/Crypto.ts"
import { Ids } from "../ports/Ids.ts"
import type { Ledger } from "../ports/Ledger.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import { stored } from "../records/Away.ts"
import { Records, type Stored } from "../records/Records.ts"
import type { Role } from "../vocabulary/Role.ts"
import * as Answers from "./Answers.ts"
import * as Approval from "./Approval.ts"
import { roleOf } from "./Caller.ts"
import { type Call, FourEyes } from "./FourEyes.ts"
import * as Idempotency from "./Idempotency.ts"
import * as JudgeWrite from "./JudgeWrite.ts"
import { finishesInCall, type Operation } from "./Operation.ts"
import * as OpenWrite from "./OpenWrite.ts"
import type { Operations } from "./Operations.ts"
import * as Request from "./Request.ts"
import * as SignWrite from "./SignWrite.ts"

/** Actions of one fingerprint that are read in one page. */
const sameMax = 100

const make = Effect.gen(function* () {
  const records = yield* Records
  const keys = yield* Keys
  const ids = yield* Ids
  const crypto = yield* Crypto
  const settings = yield* Settings
  const judging = yield* JudgeWrite.make
  const opening = yield* OpenWrite.make(judging)
  const signing = yield* SignWrite.make(judging, opening)
  const { repeated, scopeOf } = opening
  const { bindTo } = signing
  const reused = () => Effect.fail(refused("idempotency-key-reused"))

  type Action = Stored<Approval.Approval>

  /** The actions of a request in one state, newest first, until `take` has taken enough. */
  const matching = Effect.fnUntraced(function* (
    of: { readonly fingerprint: string; readonly state: Action["state"] },
    take: (action: Action) => Effect.Effect<boolean, Unavailable>
  ) {
    const taken: Array<Action> = []
    const where = { fingerprint: [of.fingerprint], state: [of.state] }
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
        if (of.state !== "awaiting") return taken
      }
      after = rows.at(-1)?.sortKey
      if (rows.length < sameMax) return taken
    }
  })

  interface Asked {
    readonly operation: Operation
    readonly call: Call
    readonly input: unknown
    readonly fingerprint: string
    readonly role: Role | undefined
    readonly method: string
    readonly outside: JudgeWrite.Outside
    readonly now: Instant.Instant
    /** The key it is keyed with, sent or made of the body. */
    readonly keyed: Pick<KeyRow, "scope" | "key" | "fingerprint"> & { readonly isSent: boolean }
  }

  /**
   * Rows a and b: the caller has used this key; one made of the body binds for a while, or for good
   * once what it named was rejected.
   */
  const usedBefore = Effect.fnUntraced(function* (of: Asked) {
    const { call, keyed, now, operation } = of
    const bound = yield* stored(keys.find({ ...keyed, now: Instant.sortable(now) }))
    if (Option.isNone(bound)) return undefined
    if (bound.value.fingerprint !== of.fingerprint) return yield* reused()
    const action = yield* opening.approvalById(Idempotency.parseTarget(bound.value.target).id)
    if (keyed.isSent || action.state === "rejected" || isWithin(action, now, settings)) {
      return yield* repeated(operation, action, { caller: call.caller, now })
    }
    return undefined
  })

  /** Whether the key that was sent is one the action's maker has used for it. */
  const isNamed =
    ({ call: { key }, now }: Asked) =>
    (action: Action): Effect.Effect<boolean, Unavailable> => {
      if (key === null || action.key === key) return Effect.succeed(true)
      const scope = scopeOf({ sub: action.maker })
      return Effect.map(
        stored(keys.find({ scope, key, now: Instant.sortable(now) })),
        Option.exists(({ target }) => target === Idempotency.target("action", action.actionKey))
      )
    }

  /** Rows d and e: repeating the call of another's action is an approval of it, or was one. */
  const asApprover = Effect.fnUntraced(function* (of: Asked, awaiting: ReadonlyArray<Action>) {
    const { call, fingerprint, keyed, now, operation } = of
    const { caller } = call
    if (!caller.roles.includes("approver")) return undefined
    const candidates = yield* Effect.filter(awaiting, isNamed(of))
    if (candidates.length > 0 && caller.roles.includes("auditor")) {
      return yield* Effect.fail(refused("auditor-never-approves"))
    }
    if (candidates.length > 1) return yield* Effect.fail(refused("approval-ambiguous"))
    const [candidate] = candidates
    if (candidate !== undefined) {
      // The signer has used the key from now on: with another request it is refused. The key before
      // the action, as `approve` and `reject` take them, so that none waits for another in a ring.
      if (keyed.isSent) yield* bindTo(candidate.actionKey, keyed)
      yield* records.lock(`action:${settings.tenantId}:${candidate.actionKey}`)
      return yield* signing.sign(yield* opening.approvalById(candidate.actionKey), call, {
        now,
        outside: of.outside,
        by: finishesInCall(operation) ? "call" : "worker",
        route: operation.route,
        seen: null
      })
    }
    const [ran] = yield* matching({ fingerprint, state: "approved" }, (action) =>
      Approval.signedBy(action).includes(caller.sub) ? isNamed(of)(action) : Effect.succeed(false)
    )
    return ran === undefined
      ? undefined
      : Result.succeed(yield* repeated(operation, ran, { caller, now }))
  })

  /** Rows f and h: the refusal for callers who may not make the write. */
  const mayNotMake = Effect.fnUntraced(function* ({ fingerprint }: Asked) {
    const [rejected] = yield* matching({ fingerprint, state: "rejected" }, () =>
      Effect.succeed(true)
    )
    if (rejected !== undefined) return yield* Effect.fail(refused("approval-rejected"))
    return yield* SignWrite.denied("None of the caller's roles makes this write.")
  })

  /**
   * A call on a four-eyes route, by the first row of the table that matches
   * (docs/contract/four-eyes.md#a-call-on-a-four-eyes-route).
   */
  const shared = Effect.fnUntraced(function* (of: Asked) {
    const { call, fingerprint, keyed, role } = of
    yield* records.lock(`write:${settings.tenantId}:${fingerprint}`)
    const before = yield* usedBefore(of)
    if (before !== undefined) return Result.succeed(before)
    const awaiting = yield* matching({ fingerprint, state: "awaiting" }, () => Effect.succeed(true))
    // c: the caller made an action with this request that still awaits.
    const own = awaiting.find((action) => action.maker === call.caller.sub)
    if (own !== undefined) {
      yield* bindTo(own.actionKey, keyed)
      return Result.succeed(Answers.ofAction(own, { status: 200, replayed: true }))
    }
    const signed = yield* asApprover(of, awaiting)
    if (signed !== undefined) return signed
    if (role === undefined) return yield* mayNotMake(of)
    // g
    const actionKey = yield* ids.make("ak")
    yield* bindTo(actionKey, keyed)
    return Result.succeed(yield* opening.makeAction({ ...of, key: keyed.key, role, actionKey }))
  })

  const submit = Effect.fnUntraced(function* (operation: Operation, call: Call) {
    const role = roleOf(call.caller, operation.makers)
    const mayApprove = operation.approvers > 0 && call.caller.roles.includes("approver")
    if (role === undefined && !mayApprove) {
      return yield* SignWrite.denied("None of the caller's roles makes or approves this write.")
    }
    const input = yield* Effect.fromResult(Request.decodeCall(operation, call))
    const method = operation.route.slice(0, operation.route.indexOf(" "))
    const fingerprint = crypto.sha256(Idempotency.fingerprintText({ method, ...call }))
    const outside = yield* judging.ask(operation, input)
    if (role !== undefined && operation.approvers === 0) {
      return yield* records
        .transact(opening.single(operation, call, { input, fingerprint, role, outside }))
        .pipe(Effect.mapError(Discreet.refusalFor(role)))
    }
    const keyed = {
      scope: scopeOf(call.caller),
      key: call.key ?? Idempotency.bodyKey(fingerprint),
      fingerprint,
      isSent: call.key !== null
    }
    const asked = { operation, call, input, fingerprint, role, method, outside, keyed }
    const answer = yield* records.transact(
      Effect.flatMap(Instant.now, (now) => shared({ ...asked, now }))
    )
    return yield* Effect.fromResult(answer)
  })

  const { approve, reject } = signing
  return FourEyes.of({ submit, open: opening.openOwn, approve, reject })
})

const isWithin = (
  action: Stored<Approval.Approval>,
  now: Instant.Instant,
  settings: { readonly bodyKeyWindow: number }
): boolean => now - action.createdAt < BigInt(settings.bodyKeyWindow) * 1_000_000n

export const layer: Layer.Layer<
  FourEyes,
  never,
  Records | Keys | Ids | Crypto | Ledger | Operations
> = Layer.effect(FourEyes, make)
