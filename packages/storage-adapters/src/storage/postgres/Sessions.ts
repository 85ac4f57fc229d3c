/** Connections to the database: single statements share a few, a transaction has one of its own. */
import type { StorageUnavailable, StoredPin, StoreIdentity } from "@bursar/engine-core/ports"
import type { PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Option, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "./Columns.ts"
import type { Rows } from "./Columns.ts"
import * as Connections from "./Connections.ts"
import * as Faults from "./Faults.ts"
import * as Replica from "./Replica.ts"

/** One open transaction. Its statements are written to the wire without waiting for one another. */
export interface Session {
  /** Sends a statement whose answer nobody needs; its failure is seen by the next answer. */
  readonly send: (sql: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<void>
  readonly ask: (
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<Rows, StorageUnavailable>
  /** As `ask`, for a statement that only reads. */
  readonly look: Session["ask"]
  /** Waits until nothing that was read here can be taken back any more. */
  readonly settled: Effect.Effect<void, StorageUnavailable>
  /** Notes that a statement may still run although nobody waits for it: a rollback cancels it first. */
  readonly abandon: () => void
  /** Actions after the commit. */
  readonly afterCommit: Array<() => void>
  /** Cache of the ports for the length of the transaction; a rolled back part empties it. */
  readonly notes: Map<string, unknown>
}

export interface Sessions {
  readonly store: StoreIdentity.StoreIdentity
  readonly run: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StorageUnavailable, R>
  /** In the open transaction if there is one, else by itself and durable when it answers. */
  readonly ask: (
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<Rows, StorageUnavailable>
  /** As `ask`, for a statement that only reads: what it answers will never be taken back. */
  readonly look: Sessions["ask"]
  /**
   * As `look`, for rows that a point selects: waits for no flush where all that it may select is on
   * disk.
   */
  readonly lookAt: (point: Point) => Sessions["look"]
  /**
   * Begins a look-up of a reading scope once the turn of the event loop has ended, with all others of
   * the scope and its batches: their statements leave in one write to the socket.
   */
  readonly inTurn: <A, E, R>(look: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Asks a replica, where there is one that may answer, and `look` elsewhere. For statements that
   * read versions at a pin.
   */
  readonly pinned: (pin: StoredPin, look: Sessions["ask"]) => Sessions["ask"]
  /**
   * Columns of a look at the head that `noteHead` needs beside `moves`, `at` and
   * `projection_offset`; empty without a replica.
   */
  readonly headColumns: string
  /** Remembers a head of which pins are resolved. */
  readonly noteHead: (rows: Rows) => void
  /** As `ask`, but inside a transaction without waiting for the answer. */
  readonly send: (
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<void, StorageUnavailable>
  /**
   * Reading scope of one answer: statements that only read wait for no flush of their own, but once
   * together when the effect has succeeded or failed, so that its answer will never be taken back.
   */
  readonly reading: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | StorageUnavailable, R>
  /** The reading scope of this fiber, outside of any transaction. */
  readonly readingScope: Effect.Effect<ReadingScope | undefined>
  /** Outside of any transaction, even if one is open; a crash may take back what it did. */
  readonly askApart: Sessions["ask"]
  /**
   * Waits until nothing that was written up to a head can be taken back any more. No transaction may be
   * stamped at or before its instant from now on, and all that were have committed.
   */
  readonly settleTo: (head: AnswerPoint) => Effect.Effect<void, StorageUnavailable>
  /**
   * Waits for a `settleTo` that has begun: in a reading scope at its end, and look-ups of the scope at
   * points within that head need no flush of their own.
   */
  readonly awaitSettled: (flush: Flush) => Effect.Effect<void, StorageUnavailable>
  /** Checks whether all that a point may select was seen to be on disk. */
  readonly isSettled: (point: Point) => boolean
  /** Only inside `run`. */
  readonly inside: <A, E, R>(
    what: string,
    f: (session: Session) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  readonly current: Effect.Effect<Session | undefined>
  /** A transaction that lasts as long as the scope, apart from an open one. */
  readonly scoped: Effect.Effect<Session, StorageUnavailable, Scope.Scope>
}

let made = 0

export const make = (
  options: Connections.ConnectionsOptions
): Effect.Effect<Sessions, SqlError, Scope.Scope> => Effect.map(Connections.make(options), on)

const on = (connections: Connections.Connections): Sessions => {
  const { shared, exclusive, streaming, durability, replica } = connections
  const Current = Context.Reference<OpenSession | undefined>(
    `@bursar/storage-adapters/postgres/Session/${++made}`,
    { defaultValue: () => undefined }
  )

  const Reading = Context.Reference<ReadingScope | undefined>(
    `@bursar/storage-adapters/postgres/Reading/${made}`,
    { defaultValue: () => undefined }
  )

  const askApart: Sessions["ask"] = (sql, parameters) =>
    Effect.catch(
      shared.use((connection) => Columns.ask(connection, sql, parameters)),
      Faults.judge
    )

  const askAlone: Sessions["ask"] = (sql, parameters) =>
    Effect.catch(
      shared.use((connection) =>
        Effect.tap(Columns.ask(connection, sql, parameters), ({ rowCount }) =>
          // Rows that were there already may be as young as those that were written.
          rowCount > 0 ? durability.settle : durability.settleFor(connection)
        )
      ),
      Faults.judge
    )

  /** Looks, and asks in the same round trip whether what was read is on disk. */
  const lookChecked = (sql: string, parameters: ReadonlyArray<unknown>) =>
    Effect.catch(
      shared.use((connection) => {
        let hasLooked = false
        const look = Effect.tap(Columns.ask(connection, sql, parameters), () =>
          Effect.sync(() => {
            hasLooked = true
          })
        )
        // The check is on the wire with the look, and is answered after it. The driver sends a look
        // again whose prepared statement the database has dropped: the check came before that one.
        const check = Effect.map(
          durability.isSettledFor(connection),
          (isSettled) => isSettled && hasLooked
        )
        return Effect.all([look, check], { concurrency: 2 })
      }),
      Faults.judge
    )

  const settle = Effect.catch(durability.settle, Faults.judge)

  const lookSettled: Sessions["ask"] = (sql, parameters) =>
    Effect.flatMap(lookChecked(sql, parameters), ([rows, isSettled]) =>
      isSettled ? Effect.succeed(rows) : Effect.as(settle, rows)
    )

  // A fiber that outlives the reading scope it was forked in settles by itself.
  const lookAlone: Sessions["ask"] = (sql, parameters) =>
    Effect.flatMap(Reading, (scope) => {
      if (scope === undefined || scope.ended) return lookSettled(sql, parameters)
      if (scope.looks++ > 0) return askApart(sql, parameters)
      // Most scopes have one look, whose check saves them a round trip at their end.
      return Effect.flatMap(lookChecked(sql, parameters), ([rows, isSettled]) => {
        scope.isFirstSettled = isSettled
        return scope.ended && !isSettled ? Effect.as(settle, rows) : Effect.succeed(rows)
      })
    })

  /** Settles what a reading scope has read. */
  const settleScope = ({ looks, isFirstSettled, flush }: ReadingScope) => {
    const begun = flush?.settled ?? Effect.void
    if (looks === 0) return begun
    if (looks > 1 || isFirstSettled === undefined) return Effect.andThen(begun, settleShared)
    return isFirstSettled ? begun : Effect.andThen(begun, settle)
  }

  /** The latest head up to which everything was seen to be on disk. */
  let settledTo: AnswerPoint = { instant: "", offset: 0 }
  const isSettled = (point: Point): boolean => isWithin(point, settledTo)
  const settleTo: Sessions["settleTo"] = ({ instant, offset }) =>
    Effect.map(settle, () => {
      settledTo = {
        instant: instant > settledTo.instant ? instant : settledTo.instant,
        offset: Math.max(offset, settledTo.offset)
      }
    })

  const settleShared = Effect.catch(
    shared.use((connection) => durability.settleFor(connection)),
    Faults.judge
  )

  const reading: Sessions["reading"] = (effect) =>
    Effect.flatMap(Reading, (outer) => {
      if (outer?.ended === false) return effect
      const scope: ReadingScope = { ended: false, looks: 0, turn: turns(), abandon: () => {} }
      return Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const exit = yield* Effect.exit(restore(Effect.provideService(effect, Reading, scope)))
          scope.ended = true
          // An interrupted effect answers nobody.
          const isAnswer = Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)
          if (isAnswer) yield* restore(settleScope(scope))
          return yield* exit
        })
      )
    })

  const current = Effect.flatMap(Current, (open) =>
    open?.ended === true
      ? Effect.die(new Error("This transaction has ended; its fiber outlived it."))
      : Effect.succeed(open)
  )

  const readingScope = Effect.flatMap(current, (open) =>
    open === undefined
      ? Effect.map(Reading, (scope) => (scope?.ended === false ? scope : undefined))
      : Effect.succeed(undefined)
  )

  /** Commits or takes back; a connection that could do neither serves no other transaction. */
  const end = (
    pool: PgPool.PgPool,
    connection: PgConnection.PgConnection,
    open: OpenSession,
    exit: Exit.Exit<unknown, unknown>
  ): Effect.Effect<Exit.Exit<void, StorageUnavailable>> =>
    Effect.gen(function* () {
      // A fiber that runs on, such as that of a batch, sends nothing behind the commit or rollback.
      open.ended = true
      const ended = yield* Effect.exit(Exit.isSuccess(exit) ? open.commit : open.rollback(exit))
      open.close(Exit.isSuccess(exit) && Exit.isSuccess(ended))
      if (Exit.isFailure(ended)) yield* pool.invalidate(connection)
      return ended
    })

  const inTransaction = <A, E, R>(
    connection: PgConnection.PgConnection,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<Exit.Exit<A, E | StorageUnavailable>, never, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const open = openSession({ connection, connections, isPooled: connections.isPooled })
        const exit = yield* Effect.exit(restore(Effect.provideService(effect, Current, open)))
        const ended = yield* end(exclusive, connection, open, exit)
        return Exit.isSuccess(exit) && Exit.isFailure(ended) ? Exit.failCause(ended.cause) : exit
      })
    )

  const run: Sessions["run"] = (effect) =>
    Effect.flatMap(current, (outer) =>
      outer === undefined
        ? Effect.flatten(
            Effect.catch(
              exclusive.use((connection) => inTransaction(connection, effect)),
              Faults.judge
            )
          )
        : inPart(outer, effect)
    )

  return {
    store: { name: "PostgreSQL" },
    run,
    ask: (sql, parameters) =>
      Effect.flatMap(current, (open) =>
        open === undefined ? askAlone(sql, parameters) : open.ask(sql, parameters)
      ),
    look: (sql, parameters) =>
      Effect.flatMap(current, (open) =>
        open === undefined ? lookAlone(sql, parameters) : open.look(sql, parameters)
      ),
    lookAt: (point) => (sql, parameters) =>
      Effect.flatMap(current, (open) => {
        if (open !== undefined) return open.look(sql, parameters)
        if (isSettled(point)) return askApart(sql, parameters)
        return Effect.flatMap(readingScope, (scope) =>
          (scope?.flush !== undefined && isWithin(point, scope.flush) ? askApart : lookAlone)(
            sql,
            parameters
          )
        )
      }),
    inTurn: (look) =>
      Effect.flatMap(readingScope, (scope) =>
        scope === undefined ? look : Effect.andThen(scope.turn, look)
      ),
    pinned: (pin, look) =>
      replica === undefined
        ? look
        : (sql, parameters) =>
            Effect.flatMap(current, (open) =>
              open === undefined
                ? Effect.flatMap(
                    replica.look(pin, sql, parameters),
                    Option.match({
                      onNone: () => look(sql, parameters),
                      onSome: (rows) => Effect.succeed(rows)
                    })
                  )
                : look(sql, parameters)
            ),
    headColumns: replica === undefined ? "" : `, ${Replica.TIMELINE}`,
    noteHead: ({ rows }) => {
      if (rows[0] !== undefined) replica?.note(rows[0])
    },
    send: (sql, parameters) =>
      Effect.flatMap(current, (open) =>
        open === undefined ? Effect.asVoid(askAlone(sql, parameters)) : open.send(sql, parameters)
      ),
    reading,
    readingScope,
    askApart,
    settleTo,
    awaitSettled: (flush) =>
      Effect.flatMap(readingScope, (scope) =>
        scope === undefined
          ? flush.settled
          : Effect.sync(() => {
              scope.flush = flush
            })
      ),
    isSettled,
    inside: (what, f) =>
      Effect.flatMap(current, (open) =>
        open === undefined
          ? Effect.die(new Error(`${what} is only possible inside Atomically.run.`))
          : f(open)
      ),
    current,
    scoped: Effect.catch(
      Effect.flatMap(streaming.get, (connection) =>
        Effect.acquireRelease(
          Effect.sync(() => openSession({ connection, connections, isPooled: false })),
          (open, exit) => end(streaming, connection, open, exit)
        )
      ),
      Faults.judge
    )
  }
}

/** Instant and offset of a head that an answer was given out at. */
export interface AnswerPoint {
  readonly instant: string
  readonly offset: number
}

/** Point of a look-up: versions at a pin, or the ledger's updates up to an offset. */
export type Point =
  | Exclude<StoredPin, { readonly by: "latest" }>
  | { readonly by: "update"; readonly offset: number }

/**
 * Checks whether all that a point may select was written before an answer was given out at a head. At
 * the head's own offset, records of the engine are still written; no update is.
 */
const isWithin = (point: Point, { instant, offset }: AnswerPoint): boolean => {
  if (point.by === "instant") return point.instant <= instant
  return point.by === "offset" ? point.offset < offset : point.offset <= offset
}

/** A flush that has begun, after which all that was written up to a head is on disk. */
export interface Flush extends AnswerPoint {
  readonly settled: Effect.Effect<void, StorageUnavailable>
}

/** One reading scope, and what of it still has to be settled at its end. */
export interface ReadingScope {
  ended: boolean
  /** Number of looks that have to be settled. */
  looks: number
  /** Answer of the check that was sent with the first look; undefined: it has not come. */
  isFirstSettled?: boolean
  /** The last flush whose wait was left to the scope's end: it began after all earlier ones. */
  flush?: Flush
  /** Gate that opens at the end of the turn of the event loop in which it is first waited for. */
  readonly turn: Effect.Effect<void>
  /** A statement that nobody waits for any more may run to its end. */
  readonly abandon: () => void
}

/**
 * Makes a gate of turns. All fibers that wait for one turn run on before any microtask, in one of which
 * the driver writes the statements that it was given.
 */
const turns = (): Effect.Effect<void> => {
  let gate: Deferred.Deferred<void> | undefined
  return Effect.suspend(() => {
    if (gate !== undefined) return Deferred.await(gate)
    const begun = Deferred.makeUnsafe<void>()
    gate = begun
    const open = Effect.sync(() => {
      gate = undefined
      Deferred.doneUnsafe(begun, Exit.void)
    })
    return Effect.andThen(
      Effect.forkDetach(Effect.andThen(Effect.yieldNow, open), { startImmediately: true }),
      Deferred.await(begun)
    )
  })
}

interface OpenSession extends Session {
  ended: boolean
  /** Savepoints that no statement has followed yet. */
  readonly untouched: Array<string>
  parts: number
  readonly commit: Effect.Effect<void, StorageUnavailable>
  readonly rollback: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void, StorageUnavailable>
  readonly takeBack: (part: string) => Effect.Effect<void, StorageUnavailable>
  readonly close: (committed: boolean) => void
}

const openSession = ({
  connection,
  connections,
  isPooled
}: {
  readonly connection: PgConnection.PgConnection
  readonly connections: Connections.Connections
  /** True: `processId` of the connection is the pooler's, and not that of a server process. */
  readonly isPooled: boolean
}): OpenSession => {
  const { durability } = connections
  let begun = false
  /** Process that serves the transaction. */
  let serverProcess: Effect.Effect<unknown, SqlError> = Effect.succeed(connection.processId)
  let wrote = false
  let fault: SqlError | undefined
  /** True: an interrupted statement may still be running in the database. */
  let abandoned = false
  const abandon = () => {
    abandoned = true
  }
  const sent: Array<Fiber.Fiber<unknown>> = []

  /** Keeps the first failure: those after it only say that there was one. */
  const query = (sql: string, parameters: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError> =>
    Columns.ask(connection, sql, parameters).pipe(
      Effect.tapError((error) =>
        Effect.sync(() => {
          fault ??= error
        })
      ),
      Effect.onInterrupt(() => Effect.sync(abandon))
    )
  /**
   * Asks the database to cancel a running statement that was interrupted, by a timeout for example:
   * while it waits for a lock, a rollback on this connection would wait behind it.
   */
  const cancelAbandoned = Effect.suspend(() => {
    if (!abandoned) return Effect.void
    abandoned = false
    return Effect.ignore(
      Effect.flatMap(serverProcess, (id) =>
        connections.cancelling.use((other) =>
          other.query("select pg_cancel_backend($1::int4)", [String(id)])
        )
      )
    )
  })
  const post = (sql: string, parameters: ReadonlyArray<unknown>): Effect.Effect<void> =>
    Effect.map(
      Effect.forkDetach(Effect.ignore(query(sql, parameters)), { startImmediately: true }),
      (fiber) => {
        sent.push(fiber)
      }
    )
  /** Behind a pooler, the transaction itself has to say which process serves it. */
  const askProcess = Effect.map(
    Effect.forkDetach(query("select pg_backend_pid() as id", []), { startImmediately: true }),
    (fiber) => {
      serverProcess = Effect.map(Fiber.join(fiber), ({ rows }) => rows[0]?.["id"])
    }
  )
  const begin = isPooled ? Effect.andThen(post("begin", []), askProcess) : post("begin", [])
  const prepare = Effect.suspend(() => {
    if (begun && open.untouched.length === 0) return Effect.void
    const first = begun ? Effect.void : begin
    begun = true
    const savepoints = open.untouched.splice(0).map((part) => `savepoint ${part}`)
    return Effect.andThen(
      first,
      Effect.forEach(savepoints, (sql) => post(sql, []), { discard: true })
    )
  })
  const settled = Effect.suspend(() => Effect.forEach(sent, Fiber.await, { discard: true }))
  const judge = (error: SqlError): Effect.Effect<never, StorageUnavailable> =>
    Faults.judge(fault ?? error)

  const look: Session["look"] = (sql, parameters) =>
    Effect.catch(Effect.andThen(prepare, query(sql, parameters)), judge)

  const open: OpenSession = {
    ended: false,
    untouched: [],
    parts: 0,
    abandon,
    afterCommit: [],
    notes: new Map(),
    send: (sql, parameters) =>
      Effect.suspend(() => {
        wrote = true
        return Effect.andThen(prepare, post(sql, parameters))
      }),
    ask: (sql, parameters) =>
      Effect.suspend(() => {
        wrote = true
        return look(sql, parameters)
      }),
    look,
    settled: Effect.catch(durability.settleFor(connection), Faults.judge),
    commit: Effect.suspend(() =>
      begun
        ? Effect.flatMap(Effect.catch(query("commit", []), judge), (result) =>
            result.command === "COMMIT"
              ? Effect.catch(
                  wrote ? durability.settle : durability.settleFor(connection),
                  Faults.judge
                )
              : Effect.andThen(
                  settled,
                  Effect.suspend(() => takenBack(fault))
                )
          )
        : Effect.void
    ),
    rollback: (exit) =>
      Effect.suspend(() => {
        if (!begun) return Effect.void
        // A statement that was sent may still be running when its transaction is interrupted.
        if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) abandoned = true
        return Effect.andThen(
          cancelAbandoned,
          Effect.catch(
            // A refusal tells of what was read, so that must not be taken back either.
            Effect.andThen(connection.query("rollback", []), durability.settleFor(connection)),
            Faults.judge
          )
        )
      }),
    takeBack: (part) =>
      Effect.gen(function* () {
        yield* cancelAbandoned
        yield* Effect.catch(query(`rollback to savepoint ${part}`, []), Faults.judge)
        yield* settled
        fault = undefined
      }),
    close: (committed) => {
      if (committed) for (const f of open.afterCommit) f()
    }
  }
  return open
}

const takenBack = (fault: SqlError | undefined): Effect.Effect<never, StorageUnavailable> =>
  fault === undefined
    ? Effect.die(new Error("The database took back what was to be committed."))
    : Faults.judge(fault)

/**
 * A run inside another is a part of it: its failure takes back the part alone. Parts follow one
 * another; two of one transaction at a time would end each other's.
 */
const inPart = <A, E, R>(
  outer: OpenSession,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StorageUnavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const part = `part_${++outer.parts}`
      const announced = outer.afterCommit.length
      outer.untouched.push(part)
      const exit = yield* Effect.exit(restore(effect))
      const untouched = outer.untouched.indexOf(part)
      if (untouched >= 0) {
        outer.untouched.splice(untouched, 1)
        return yield* exit
      }
      if (Exit.isSuccess(exit)) {
        yield* outer.send(`release savepoint ${part}`, [])
        return exit.value
      }
      outer.afterCommit.length = announced
      outer.notes.clear()
      yield* outer.takeBack(part)
      return yield* exit
    })
  )
