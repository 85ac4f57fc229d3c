/**
 * Idempotency of writes that finish in their call and leave no operation: a key row of their own.
 */
import { Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import { type Refused, refused, type Unavailable } from "../kernel/Refusal.ts"
import { type KeyRow, Keys } from "../ports/storage/Keys.ts"
import { orUnavailable } from "../records/PortFailure.ts"
import { Records } from "../records/Records.ts"

/** Milliseconds that a call waits for a concurrent call under its key. */
const waitMillis = 5_000

/** Outcome of claiming a call's key: first, or an earlier call's target. */
export type KeyClaim = { readonly first: true } | { readonly first: false; readonly target: string }

type Refusals = Refused<"idempotency-key-reused" | "idempotency-in-progress">

const inProgress = refused("idempotency-in-progress", {
  detail: "The same call is still running; repeat it later for its answer.",
  retryAfter: 1
})

/**
 * Runs `effect` in a transaction of its own that locks the call's key: one of several calls under a
 * key is first, and the others wait for it up to 5 s and get its target. A refusal by `effect`
 * leaves the key free. Refuses `idempotency-key-reused`, before `effect` runs, when the key named
 * another call (docs/contract/idempotency.md#writes-that-finish-in-the-call).
 */
export const run = <A, E, R, R2 = never>(
  /** Checks whether the target of the key binds it no longer; null: it always binds. */
  isTargetOver: ((target: string) => Effect.Effect<boolean, Unavailable, R2>) | null,
  row: KeyRow,
  effect: (claimed: KeyClaim) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Refusals | Unavailable, R | R2 | Records | Keys> =>
  Effect.gen(function* () {
    const records = yield* Records
    const keys = yield* Keys
    // Calls that shared a transaction with this one would wait for the key as well.
    return yield* records.transactAlone(
      Effect.gen(function* () {
        const now = Instant.sortable(yield* Instant.now)
        const claiming = Effect.timeoutOrElse(orUnavailable(keys.claim({ ...row, now })), {
          duration: waitMillis,
          orElse: () => Effect.fail(inProgress)
        })
        const first = yield* claiming
        // Of several calls that find the target over, one claims the key anew and the others read its row.
        const isOver =
          !first.claimed &&
          first.winner.fingerprint === row.fingerprint &&
          isTargetOver !== null &&
          (yield* isTargetOver(first.winner.target))
        if (isOver) yield* orUnavailable(keys.free([first.winner.target]))
        const claim = isOver ? yield* claiming : first
        if (claim.claimed) return yield* effect({ first: true })
        if (claim.winner.fingerprint !== row.fingerprint) {
          return yield* Effect.fail(refused("idempotency-key-reused"))
        }
        return yield* effect({ first: false, target: claim.winner.target })
      })
    )
  })
