/**
 * Group commit: transactions that wait at the same time share one database transaction and one
 * stamp.
 */
import { Cause, Context, Deferred, Effect, Exit, Option, type Scope } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import type { StorageUnavailable, VersionMoved } from "../ports/storage/StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/**
 * Largest number of calls in one group commit. Every writer holds the feed's head until its commit
 * is on disk; a group shares that wait. Larger groups gain little and delay their first member.
 */
const membersMax = 64

/**
 * Thrown at a member whose lock another member of the same group holds: it joins the next group.
 */
export class LockHeldInGroup {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

interface Member {
  readonly effect: Effect.Effect<unknown, unknown>
  /**
   * Services of the caller, with which the effect runs, also in a group that another caller started.
   */
  readonly context: Context.Context<never>
  readonly answer: Deferred.Deferred<unknown, unknown>
  /** Groups it was in that were rolled back. */
  rollbacks: number
}

/** Rolled back groups after which a member runs in a transaction of its own. */
const rollbacksMax = 2

/** Members that run in transactions of their own at a time, each on its own connection. */
const aloneMax = 8

/** A member failed, so the whole group is rolled back. */
const memberFailed = Symbol("memberFailed")

interface GroupCommit {
  /**
   * Runs `effect` as a member of the next group commit, with the effect of running alone after the
   * members before it. A member that fails leaves nothing; one that is interrupted while its group
   * runs is carried to its end.
   */
  readonly join: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
}

/** Parts that a group commit runs and flushes its transactions by. */
interface Parts {
  readonly scope: Scope.Scope
  readonly atomically: Atomically["Service"]
  readonly flush: (
    work: UnitOfWork.UnitOfWork
  ) => Effect.Effect<void, VersionMoved | StorageUnavailable>
  /** Runs one transaction by itself, again when another writer was first. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>
}

type Exits = Map<Member, Exit.Exit<unknown, unknown>>

export const make = (parts: Parts): GroupCommit => {
  const waiting: Array<Member> = []
  let isRunning = false

  const runGroups = Effect.gen(function* () {
    while (true) {
      const members = waiting.splice(0, membersMax)
      if (members.length === 0) {
        // Set in the same synchronous step as the check for waiting calls: the next caller starts a
        // group.
        isRunning = false
        return
      }
      const [only] = members
      yield* (
        members.length === 1 && only !== undefined
          ? runAlone(parts, only)
          : runTogether(parts, members, waiting)
      ).pipe(
        // The engine stops: members fail, because their outcome is not known.
        Effect.onInterrupt(() =>
          Effect.forEach(members, (member) => Deferred.interrupt(member.answer), { discard: true })
        )
      )
    }
  }).pipe(
    Effect.onError(() =>
      Effect.sync(() => {
        isRunning = false
      })
    )
  )

  const join: GroupCommit["join"] = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<A, E | Unavailable>()
        const member: Member = {
          // The context beside it has the services that the effect asks for.
          effect: effect as Effect.Effect<unknown, unknown>,
          context: context as Context.Context<never>,
          answer: answer as Deferred.Deferred<unknown, unknown>,
          rollbacks: 0
        }
        waiting.push(member)
        if (!isRunning) {
          isRunning = true
          yield* Effect.forkIn(runGroups, parts.scope)
        }
        return yield* Effect.onInterrupt(Deferred.await(answer), () =>
          Effect.sync(() => {
            const index = waiting.indexOf(member)
            if (index >= 0) waiting.splice(index, 1)
          })
        )
      })
    )

  return { join }
}

/** Runs an effect with these services and no others of the fiber, which copies none of them. */
const runWith = <A, E>(effect: Effect.Effect<A, E>, context: Context.Context<never>) =>
  Effect.updateContext(effect, (_: Context.Context<never>) => context)

const runAlone = ({ alone }: Parts, member: Member) =>
  Effect.flatMap(Effect.exit(runWith(alone(member.effect), member.context)), (exit) =>
    Deferred.done(member.answer, exit)
  )

/** A service that the store adds to the context of a transaction, such as its session. */
interface AddedService {
  readonly key: Context.Key<unknown, unknown>
  readonly service: unknown
}

/** Services of a transaction's context that the context around the transaction lacks. */
const addedTo = (
  outside: Context.Context<never>,
  inside: Context.Context<never>
): ReadonlyArray<AddedService> =>
  [...inside.mapUnsafe]
    .filter(([key, service]) => outside.mapUnsafe.get(key) !== service)
    .map(([key, service]) => ({ key: Context.Service<unknown, unknown>(key), service }))

/**
 * Context of a member: its caller's, and what the transaction adds. Merging it with the group's would
 * copy every service of the engine for each member, and hand it the instant and the span of whoever
 * started the group.
 */
const contextOf = (member: Member, added: ReadonlyArray<AddedService>): Context.Context<never> =>
  added.reduce(
    (context, { key, service }) =>
      Option.isSome(Context.getOption(context, key)) ? context : Context.add(context, key, service),
    member.context
  )

/** Runs one member inside the group's transaction: its writes join the group's once it succeeds. */
const runMember = (
  member: Member,
  {
    group,
    added
  }: { readonly group: UnitOfWork.UnitOfWork; readonly added: ReadonlyArray<AddedService> }
) =>
  Effect.suspend(() => {
    const work = UnitOfWork.make(group)
    const context = Context.add(contextOf(member, added), UnitOfWork.Current, work)
    return Effect.map(Effect.exit(runWith(member.effect, context)), (exit) => {
      if (Exit.isSuccess(exit)) UnitOfWork.merge(group, work)
      return exit
    })
  })

/**
 * Runs members concurrently in one transaction, their statements pipelined on one connection. There
 * is no partial rollback: when one fails, the whole group is rolled back, the failed member runs
 * again by itself (it may have read writes that were rolled back), and the others wait for the next
 * group.
 */
const runTogether = (
  parts: Parts,
  members: ReadonlyArray<Member>,
  waiting: Array<Member>
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const exits: Exits = new Map()
    const group = UnitOfWork.make()
    const outside = yield* Effect.context<never>()
    const committed = yield* Effect.exit(
      parts.atomically.run(runMembers(parts, { exits, group, outside }, members))
    )
    if (Exit.isSuccess(committed)) {
      yield* Effect.all(group.committed, { discard: true })
      for (const [member, exit] of exits) yield* Deferred.done(member.answer, exit)
      return
    }
    const { together, alone } = sortAfterRollback(members, exits, committed.cause)
    waiting.unshift(...together)
    yield* Effect.forEach(alone, (member) => runAlone(parts, member), {
      concurrency: aloneMax,
      discard: true
    })
  })

const runMembers = Effect.fnUntraced(function* (
  { flush }: Parts,
  {
    exits,
    group,
    outside
  }: {
    readonly exits: Exits
    readonly group: UnitOfWork.UnitOfWork
    /** Context of the group's fiber before its transaction began. */
    readonly outside: Context.Context<never>
  },
  members: ReadonlyArray<Member>
) {
  const added = addedTo(outside, yield* Effect.context<never>())
  yield* Effect.forEach(
    members,
    (member) =>
      Effect.map(runMember(member, { group, added }), (exit) => void exits.set(member, exit)),
    { concurrency: "unbounded", discard: true }
  )
  if ([...exits.values()].some(Exit.isFailure)) return yield* Effect.fail(memberFailed)
  yield* flush(group)
})

/**
 * Sorts the members of a group that was rolled back. Where a member's failure was the reason, members
 * that succeeded or waited for a lock join the next group; all others run alone.
 */
const sortAfterRollback = (
  members: ReadonlyArray<Member>,
  exits: Exits,
  cause: Cause.Cause<unknown>
): { readonly together: ReadonlyArray<Member>; readonly alone: ReadonlyArray<Member> } => {
  const isMemberFailure = cause.reasons.some(
    (reason) => Cause.isFailReason(reason) && reason.error === memberFailed
  )
  const together: Array<Member> = []
  const alone: Array<Member> = []
  for (const member of members) {
    const exit = exits.get(member)
    member.rollbacks += 1
    const mayRetry = exit !== undefined && (Exit.isSuccess(exit) || waitsForLock(exit))
    if (isMemberFailure && mayRetry && member.rollbacks < rollbacksMax) together.push(member)
    else alone.push(member)
  }
  return { together, alone }
}

const waitsForLock = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) => Cause.isDieReason(reason) && reason.defect instanceof LockHeldInGroup
  )
