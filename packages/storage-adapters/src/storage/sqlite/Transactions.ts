/**
 * Transactions of the records: one writer at a time, over all processes, and readers beside it that see
 * what is committed.
 */
import type { StorageUnavailable, StoreIdentity } from "@bursar/engine-core/ports"
import { Cause, Context, Effect, Exit, type Result, Semaphore } from "effect"
import type { Database } from "./Database.ts"
import * as Faults from "./Faults.ts"
import type { Flushes } from "./Flushes.ts"

/** One open transaction, and what the ports note for its length. */
export interface SqliteTransaction {
  readonly db: Database
  readonly afterCommit: Array<() => void>
  /** Notes of the ports; a part of the transaction that is taken back empties them. */
  readonly notes: Map<string, unknown>
  parts: number
  ended: boolean
}

export interface SqliteTransactions {
  readonly store: StoreIdentity.StoreIdentity
  readonly run: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StorageUnavailable, R>
  /** Reading scope: what is read in it is waited for once, at its end. */
  readonly reading: SqliteTransactions["run"]
  /** Reads in the open transaction, or what is committed; all statements of `f` see one snapshot. */
  readonly read: <A>(f: (db: Database) => A) => Effect.Effect<A, StorageUnavailable>
  /** Runs `f` in the open transaction, or in one of its own; an exception is a defect and leaves nothing. */
  readonly write: <A>(
    f: (transaction: SqliteTransaction) => A
  ) => Effect.Effect<A, StorageUnavailable>
  /** As `write`, for an `f` that refuses before it writes. */
  readonly attempt: <A, E>(
    f: (transaction: SqliteTransaction) => Result.Result<A, E>
  ) => Effect.Effect<A, E | StorageUnavailable>
  /** As `write`, without waiting for the disk outside of a transaction. */
  readonly writeUnsettled: SqliteTransactions["write"]
  /** Only inside `run`. */
  readonly inside: <A>(
    what: string,
    f: (transaction: SqliteTransaction) => A
  ) => Effect.Effect<A, StorageUnavailable>
  readonly current: Effect.Effect<SqliteTransaction | undefined>
  /** Waits for the disk; in a reading scope at its end. */
  readonly settle: Effect.Effect<void, StorageUnavailable>
}

interface ReadingScope {
  ended: boolean
}

let made = 0

export const make = ({
  writer,
  reader,
  flushes,
  lockMillis
}: {
  readonly writer: Database
  readonly reader: Database
  readonly flushes: Flushes
  /** Milliseconds that a call waits for another process's transaction. */
  readonly lockMillis: number
}): SqliteTransactions => {
  const turn = Semaphore.makeUnsafe(1)
  const Current = Context.Reference<SqliteTransaction | undefined>(
    `@bursar/storage-adapters/sqlite/Transaction/${++made}`,
    { defaultValue: () => undefined }
  )
  const Reading = Context.Reference<ReadingScope | undefined>(
    `@bursar/storage-adapters/sqlite/Reading/${made}`,
    { defaultValue: () => undefined }
  )
  const open = (): SqliteTransaction => ({
    db: writer,
    afterCommit: [],
    notes: new Map(),
    parts: 0,
    ended: false
  })

  const current = Effect.flatMap(Current, (transaction) =>
    transaction?.ended === true
      ? Effect.die(new Error("This transaction has ended; its fiber outlived it."))
      : Effect.succeed(transaction)
  )

  const rollBack = () => {
    if (writer.isInTransaction()) writer.run("rollback")
  }

  const unlocked = <A, E, R>(effect: Effect.Effect<A, E | Faults.Locked, R>) =>
    Faults.untilUnlocked(effect, lockMillis)

  const begin = unlocked(Faults.attempt(() => void writer.run("begin immediate")))

  const end = (transaction: SqliteTransaction, exit: Exit.Exit<unknown, unknown>) =>
    Effect.gen(function* () {
      transaction.ended = true
      if (Exit.isFailure(exit)) return rollBack()
      // A full disk ends a transaction at the statement that it failed.
      if (!writer.isInTransaction()) {
        return yield* Faults.refused(new Error("the database file took the transaction back"))
      }
      const committed = Faults.attempt(() => void writer.run("commit"))
      yield* Effect.tapError(unlocked(committed), () => Effect.sync(rollBack))
      for (const announce of transaction.afterCommit) announce()
    })

  const outermost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        // A caller that is interrupted waits for its turn no longer.
        yield* restore(turn.take(1))
        const exit = yield* Effect.ensuring(
          Effect.gen(function* () {
            yield* Effect.onError(restore(begin), () => Effect.sync(rollBack))
            const transaction = open()
            const inner: Exit.Exit<A, E | StorageUnavailable> = yield* Effect.exit(
              restore(Effect.provideService(effect, Current, transaction))
            )
            const ended = yield* Effect.exit(end(transaction, inner))
            return Exit.isFailure(ended) && Exit.isSuccess(inner)
              ? Exit.failCause(ended.cause)
              : inner
          }),
          turn.release(1)
        )
        // A refusal tells of what was read, which must not be taken back either.
        const isAnswer = Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)
        if (isAnswer) yield* restore(flushes.settle)
        return yield* exit
      })
    )

  /** A run inside another is a part of it: its failure takes back the part alone. */
  const part = <A, E, R>(outer: SqliteTransaction, effect: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const mark = beginPart(outer)
        const exit = yield* Effect.exit(restore(effect))
        endPart(outer, mark, Exit.isSuccess(exit))
        // What a part has noted may be of what it wrote.
        if (Exit.isFailure(exit)) outer.notes.clear()
        return yield* exit
      })
    )

  const run: SqliteTransactions["run"] = (effect) =>
    Effect.flatMap(current, (outer) =>
      outer === undefined ? outermost(effect) : part(outer, effect)
    )

  /** The reading scope of this fiber; a fiber that outlives it settles by itself. */
  const settle = Effect.flatMap(Reading, (scope) =>
    scope === undefined || scope.ended ? flushes.settle : Effect.void
  )

  const within = <A>(transaction: SqliteTransaction, f: (transaction: SqliteTransaction) => A) =>
    unlocked(
      Faults.attempt(() => {
        const mark = beginPart(transaction)
        let isDone = false
        try {
          const answer = f(transaction)
          isDone = true
          return answer
        } finally {
          endPart(transaction, mark, isDone)
        }
      })
    )

  const alone = <A>(f: (transaction: SqliteTransaction) => A) =>
    turn.withPermit(
      unlocked(
        Faults.attempt(() => {
          writer.run("begin immediate")
          const transaction = open()
          try {
            const answer = f(transaction)
            writer.run("commit")
            for (const announce of transaction.afterCommit) announce()
            return answer
          } finally {
            transaction.ended = true
            rollBack()
          }
        })
      )
    )

  const writeUnsettled: SqliteTransactions["write"] = (f) =>
    Effect.flatMap(current, (outer) => (outer === undefined ? alone(f) : within(outer, f)))

  const write: SqliteTransactions["write"] = (f) =>
    Effect.flatMap(current, (outer) =>
      outer === undefined ? Effect.tap(alone(f), () => flushes.settle) : within(outer, f)
    )

  return {
    store: { name: "SQLite" },
    run,
    reading: (effect) =>
      Effect.flatMap(Reading, (outer) => {
        if (outer?.ended === false) return effect
        const scope: ReadingScope = { ended: false }
        return Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const exit = yield* Effect.exit(restore(Effect.provideService(effect, Reading, scope)))
            scope.ended = true
            // An interrupted effect answers nobody.
            const isAnswer = Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)
            if (isAnswer) yield* restore(flushes.settle)
            return yield* exit
          })
        )
      }),
    read: (f) =>
      Effect.flatMap(current, (outer) =>
        outer === undefined
          ? Effect.tap(unlocked(Faults.attempt(() => snapshot(reader, f))), () => settle)
          : unlocked(Faults.attempt(() => f(outer.db)))
      ),
    write,
    writeUnsettled,
    attempt: (f) => Effect.flatMap(write(f), Effect.fromResult),
    inside: (what, f) =>
      Effect.flatMap(current, (outer) =>
        outer === undefined
          ? Effect.die(new Error(`${what} is only possible inside Atomically.run.`))
          : within(outer, f)
      ),
    current,
    settle
  }
}

/** Runs statements that read on one snapshot. */
const snapshot = <A>(db: Database, f: (db: Database) => A): A => {
  db.run("begin")
  try {
    return f(db)
  } finally {
    db.run("rollback")
  }
}

interface Mark {
  readonly name: string
  readonly announced: number
}

const beginPart = (transaction: SqliteTransaction): Mark => {
  const name = `part_${++transaction.parts}`
  transaction.db.run(`savepoint ${name}`)
  return { name, announced: transaction.afterCommit.length }
}

const endPart = (
  transaction: SqliteTransaction,
  { name, announced }: Mark,
  isKept: boolean
): void => {
  transaction.parts -= 1
  if (!transaction.db.isInTransaction()) return
  if (!isKept) {
    transaction.db.run(`rollback to ${name}`)
    transaction.afterCommit.length = announced
  }
  transaction.db.run(`release ${name}`)
}
