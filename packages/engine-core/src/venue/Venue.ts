/**
 * The engine as a library: one object by which a program makes, approves and awaits the writes of its
 * people, reads what they may read, and hands statements in.
 */
import { Effect } from "effect"
import { DeclaredCatalogue, Engine, type Services } from "../Engine.ts"
import { EventQueries } from "../feeds/EventQueries.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import { Queries } from "../reads/Queries.ts"
import type { Room } from "../nouns/Room.ts"
import { StatementIntake } from "../statements/external-statement/Intake.ts"
import { FourEyes } from "../writes/FourEyes.ts"
import { Operations } from "../writes/Operations.ts"
import { type CallerOptions, callerOf, identities } from "./Calls.ts"
import type { CallsWith } from "./OwnCalls.ts"
import * as ReadCalls from "./ReadCalls.ts"
import * as StatementCalls from "./StatementCalls.ts"
import * as WriteCalls from "./WriteCalls.ts"

/** A person or a program of the venue, with everything that it may ask of the engine. */
export interface Person
  extends WriteCalls.WriteCalls,
    ReadCalls.ReadCalls,
    StatementCalls.StatementCalls {
  readonly sub: string
}

/** Engine of a venue as one object: its people, its statements and its clockwork. */
export interface Venue extends StatementCalls.StatementCalls {
  /** The calls of a person or a program; each refuses what its roles do not admit. */
  readonly as: (caller: CallerOptions) => Person
  /**
   * Follows the ledger and runs every worker until interrupted; then it stops gracefully. While it
   * runs, `done` and `receive` wait for it instead of driving the engine themselves.
   */
  readonly run: Effect.Effect<never>
  /** Projects the ledger and works until no work is left, for a program without `run`. */
  readonly settle: Effect.Effect<void, Unavailable>
}

/** A venue whose people have the calls of its rooms beside those of the engine. */
export type VenueWith<R, V extends Venue = Venue> = Omit<V, "as"> & {
  readonly as: (caller: CallerOptions) => CallsWith<Person, R>
}

/** Subject of the program by which the venue itself hands statements in. */
const feedSubject = "feed"

/**
 * Makes the object of a venue from the services of its engine.
 *
 * @example
 * ```ts
 * import { Venue } from "@bursar/engine-core"
 * import { Venue as Ready } from "@bursar/storage-adapters/venue"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const venue = yield* Venue.make
 *   const anna = venue.as({ sub: "anna", roles: ["approver"] })
 *   return yield* Effect.flip(anna.read("subscriptions.get", { subscriptionId: "none" }))
 * })
 * const refusal = await Effect.runPromise(Effect.provide(program, Ready.memory()))
 * refusal.slug // => "not-found"
 * ```
 */
export const make: Effect.Effect<Venue, never, Services> = Effect.gen(function* () {
  const engine = yield* Engine
  const services = {
    fourEyes: yield* FourEyes,
    queries: yield* Queries,
    operations: yield* Operations,
    events: yield* EventQueries,
    intake: yield* StatementIntake,
    catalogue: yield* DeclaredCatalogue,
    identity: identities()
  }
  let running = 0
  const work = Effect.suspend(() => (running > 0 ? Effect.void : engine.settle))
  const run = Effect.acquireUseRelease(
    Effect.sync(() => running++),
    () => engine.run,
    () => Effect.sync(() => running--)
  )
  const as = (options: CallerOptions): Person => {
    const needs = { ...services, work, caller: callerOf(options) }
    return {
      sub: options.sub,
      ...WriteCalls.make(needs),
      ...ReadCalls.make(needs),
      ...StatementCalls.make(needs)
    }
  }
  const { receive } = as({ sub: feedSubject, roles: ["feed"] })
  return { as, receive, run, settle: engine.settle }
})

/** Rooms by whose declarations the calls of a venue are typed. */
export interface RoomsOption<R extends ReadonlyArray<Room>> {
  /** The rooms of the venue's engine, which `Engine.layerWith` was given. */
  readonly rooms: R
}

/** Ends a program whose venue is typed by a room that its engine does not have. */
export const demandRooms = (rooms: ReadonlyArray<Room>): Effect.Effect<void> =>
  Effect.flatMap(DeclaredCatalogue, (catalogue) => {
    const missing = rooms.find((room) => !catalogue.rooms.includes(room))
    return missing === undefined
      ? Effect.void
      : Effect.die(
          new Error(
            `The venue's engine does not have the room ${missing.name}: give it Catalogue.withRooms(rooms) of the same rooms.`
          )
        )
  })

/**
 * Makes the object of a venue as `make` does, with the writes and reads of its rooms typed by their
 * declarations. A room that the engine does not have is a defect.
 */
export const makeWith = <const R extends ReadonlyArray<Room>>({
  rooms
}: RoomsOption<R>): Effect.Effect<VenueWith<R[number]>, never, Services> =>
  // Cast: a person's calls find writes and reads by name in the catalogue, which has those of the rooms.
  Effect.andThen(demandRooms(rooms), make) as Effect.Effect<VenueWith<R[number]>, never, Services>
