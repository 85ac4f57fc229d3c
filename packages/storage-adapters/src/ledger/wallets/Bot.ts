/**
 * Runtime of a party's bot: reads the contracts that the party sees, and performs each act of its
 * plan once.
 */
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Duration, Effect, FiberMap, Option, Semaphore, Stream } from "effect"
import type { DoorError } from "./DoorClient.ts"
import { DoorRefused, isPassing } from "./DoorClient.ts"
import type { CommittedChange, PartySession, SubmitError } from "./PartySession.ts"
import type { WireContract } from "./Wire.ts"
import * as World from "./World.ts"

/** Messages of the program for the person who runs it. */
export type Message =
  | { readonly _tag: "Ready"; readonly offset: number }
  | { readonly _tag: "Acted"; readonly act: World.Act; readonly change: CommittedChange }
  /** Another party consumed a contract of the act first. */
  | { readonly _tag: "Overtaken"; readonly act: World.Act }
  | { readonly _tag: "Failed"; readonly act: World.Act; readonly error: SubmitError }

/** Options of a program of an outside party. */
export interface Options {
  readonly session: PartySession
  readonly plan: World.Plan
  readonly report: (message: Message) => Effect.Effect<void>
  /** Delay between an act's decision and its execution. */
  readonly delay?: Duration.Duration
}

/** Number of acts that run in parallel. */
const atOnce = 8
/**
 * Interval at which the plan is evaluated again without updates: time or a file may have changed
 * it.
 */
const askAgain = Duration.seconds(1)

/** The last offset read is pruned: the program reads the active contracts again. */
const isLeftBehind = (error: DoorRefused): boolean =>
  error.code === "PARTICIPANT_PRUNED_DATA_ACCESSED"

/** Acts of a bot by their command ids. */
interface Acts {
  /** Acts that are under way or ended, which the plan is not asked for again. */
  readonly answered: Set<string>
  readonly running: FiberMap.FiberMap<string>
  readonly turns: Semaphore.Semaphore
}

/**
 * Runs the bot until it is interrupted. An act that is under way goes on while the active contracts
 * are read again: interrupted, it would count as answered and never be performed.
 */
export const run = (options: Options): Effect.Effect<never, DoorError> =>
  Effect.gen(function* () {
    const acts: Acts = {
      answered: new Set(),
      running: yield* FiberMap.make<string>(),
      turns: yield* Semaphore.make(atOnce)
    }
    return yield* Effect.retry(watch(options, acts), {
      while: (error) => error instanceof DoorRefused && isLeftBehind(error)
    })
  }).pipe(Effect.scoped)

/** Contracts that the party sees at an offset, by their ids. */
export const active = (
  session: PartySession,
  at: Offset.Offset
): Effect.Effect<Map<string, WireContract>, DoorError> =>
  Effect.map(
    session.acs(at),
    (contracts) => new Map(contracts.map((contract) => [contract.contractId, contract]))
  )

const watch = (options: Options, { answered, running, turns }: Acts) =>
  Effect.gen(function* () {
    const { session, report } = options
    const offset = yield* session.ledgerEnd
    const contracts = yield* active(session, offset)
    const look = Effect.gen(function* () {
      const now = yield* Instant.now
      for (const act of options.plan({ party: session.party, now, contracts })) {
        const { commandId } = act.change
        if (answered.has(commandId)) continue
        answered.add(commandId)
        const done = perform(options, act, answered)
        yield* FiberMap.run(running, commandId, turns.withPermits(1)(done))
      }
    })
    yield* report({ _tag: "Ready", offset })
    yield* look
    yield* Stream.merge(
      Stream.map(session.updates(offset), Option.some),
      Stream.map(Stream.tick(askAgain), Option.none)
    ).pipe(
      Stream.runForEach((update) => {
        if (Option.isSome(update)) World.apply(contracts, update.value)
        return look
      })
    )
    return yield* Effect.never
  })

const consumedCodes: ReadonlySet<string> = new Set([
  "CONTRACT_NOT_FOUND",
  "CONTRACT_NOT_ACTIVE",
  "LOCAL_VERDICT_INACTIVE_CONTRACTS"
])

const isOvertaken = (error: DoorError): boolean =>
  error._tag === "DoorRefused" && consumedCodes.has(error.code)

/**
 * Performs an act: a refused one is not repeated, an unanswered one is. The parts of a refused act
 * are performed one by one.
 */
const perform = (options: Options, act: World.Act, answered: Set<string>): Effect.Effect<void> =>
  Effect.delay(options.session.submit(act.change), options.delay ?? Duration.zero).pipe(
    Effect.matchEffect({
      onSuccess: (change) => options.report({ _tag: "Acted", act, change }),
      onFailure: (error) => {
        if (error._tag === "NotSigned") return options.report({ _tag: "Failed", act, error })
        if (isOvertaken(error) || isPassing(error)) {
          answered.delete(act.change.commandId)
          return options.report(
            isOvertaken(error) ? { _tag: "Overtaken", act } : { _tag: "Failed", act, error }
          )
        }
        return Effect.andThen(
          options.report({ _tag: "Failed", act, error }),
          apart(options, act.parts ?? [], answered)
        )
      }
    })
  )

const apart = (
  options: Options,
  parts: ReadonlyArray<World.Act>,
  answered: Set<string>
): Effect.Effect<void> =>
  Effect.forEach(
    parts,
    (part) =>
      Effect.suspend(() => {
        const { commandId } = part.change
        if (answered.has(commandId)) return Effect.void
        answered.add(commandId)
        return perform(options, part, answered)
      }),
    { discard: true }
  )

/** Largest number of evaluations of a plan until it has nothing new; more are a defect. */
const roundsMax = 1_000

/**
 * Performs the acts of the plan, evaluation by evaluation, until it has no new one, for a program that
 * drives its parties itself. `answered` has the acts of earlier calls, which are not repeated.
 */
export const runUntilIdle = (
  options: Options,
  answered: Set<string>
): Effect.Effect<void, DoorError> =>
  Effect.gen(function* () {
    const { plan, session } = options
    for (let round = 0; round < roundsMax; round++) {
      const contracts = yield* active(session, yield* session.ledgerEnd)
      const now = yield* Instant.now
      const acts = plan({ party: session.party, now, contracts }).filter(
        ({ change }) => !answered.has(change.commandId)
      )
      if (acts.length === 0) return
      for (const act of acts) {
        answered.add(act.change.commandId)
        yield* perform(options, act, answered)
      }
    }
    return yield* Effect.die(new Error(`${session.party} does not come to rest`))
  })

/** Performs the first act that the plan has, within the given time. */
export const runOnce = (
  options: Pick<Options, "session" | "plan"> & { readonly within: Duration.Duration }
): Effect.Effect<
  Option.Option<{ readonly act: World.Act; readonly change: CommittedChange }>,
  SubmitError
> =>
  Effect.gen(function* () {
    const { session, plan, within } = options
    const offset = yield* session.ledgerEnd
    const contracts = yield* active(session, offset)
    const look = Effect.map(Instant.now, (now) =>
      Option.fromUndefinedOr(plan({ party: session.party, now, contracts })[0])
    )
    const first = yield* look
    const act =
      Option.isSome(first) || Duration.isZero(within)
        ? first
        : yield* session.updates(offset).pipe(
            Stream.mapEffect((update) => {
              World.apply(contracts, update)
              return look
            }),
            Stream.filter(Option.isSome),
            Stream.map(({ value }) => value),
            Stream.runHead,
            Effect.timeoutOption(within),
            Effect.map(Option.flatten)
          )
    if (Option.isNone(act)) return Option.none()
    return Option.some({ act: act.value, change: yield* session.submit(act.value.change) })
  })
