/**
 * Venue in one process as one object: the engine's calls, the clock that the program moves, and the
 * wallets of the outside parties, with Effect and as promises.
 */
import { type Engine, Venue } from "@bursar/engine-core"
import type { Instant } from "@bursar/engine-core/kernel"
import type * as Templates from "@bursar/engine-core/templates"
import { Effect, type Layer } from "effect"
import type { Acts } from "../ledger/wallets/Acts.ts"
import { type Actor, actors } from "../ledger/wallets/Duty.ts"
import type * as PartySession from "../ledger/wallets/PartySession.ts"
import type * as World from "../ledger/wallets/World.ts"
import type { InstantInput } from "./SettableClock.ts"
import { type LengthOfTime, VenueClock } from "./VenueClock.ts"
import { type Common, type Duties, type PerformedAct, Wallets } from "./Wallets.ts"

/** The engine's services with the clock and the wallets of one process. */
export type Services = Engine.Services | VenueClock | Wallets

/** Venue in one process, with its clock and the wallets of its outside parties. */
export interface LocalVenue extends Venue.Venue {
  /** Clock of engine, ledger and wallets, which the program moves. */
  readonly clock: VenueClock["Service"]
  /** Wallets of the outside parties, opened by name. */
  readonly wallets: Wallets["Service"]
}

/** Makes the object of a venue from the services of `memory`. */
export const make: Effect.Effect<LocalVenue, never, Services> = Effect.gen(function* () {
  return { ...(yield* Venue.make), clock: yield* VenueClock, wallets: yield* Wallets }
})

/**
 * Makes the object of a venue with the writes and reads of its rooms typed by their declarations. A room
 * that the engine does not have is a defect.
 */
export const makeWith = <const R extends Parameters<typeof Venue.demandRooms>[0]>({
  rooms
}: Venue.RoomsOption<R>): Effect.Effect<Venue.VenueWith<R[number], LocalVenue>, never, Services> =>
  // Cast: as that of the engine's own `makeWith`.
  Effect.andThen(Venue.demandRooms(rooms), make) as Effect.Effect<
    Venue.VenueWith<R[number], LocalVenue>,
    never,
    Services
  >

/** The clock of `VenueClock` as promises. */
export interface OpenClock {
  readonly now: () => Promise<Instant.Instant>
  readonly to: (at: InstantInput) => Promise<void>
  readonly by: (length: LengthOfTime) => Promise<void>
  readonly set: (at: InstantInput) => Promise<void>
  readonly runDue: () => Promise<void>
}

/** A wallet as promises: its members, and the acts of its actor. */
export type OpenWallet<A extends Actor> = {
  readonly party: Common["party"]
  readonly find: <T extends Templates.Template>(
    template: T
  ) => Promise<ReadonlyArray<World.FoundContract<T>>>
  readonly show: <V>(read: (world: World.World) => V) => Promise<V>
  readonly submit: (
    ...commands: PartySession.PartyChange["commands"]
  ) => Promise<PartySession.CommittedChange>
  readonly perform: (plan: World.Plan) => Promise<PerformedAct>
  readonly works: (plan?: World.Plan) => Promise<number>
} & {
  readonly [name in keyof Acts[A]]: Acts[A][name] extends (...args: infer Args) => World.Plan
    ? (...args: Args) => Promise<PerformedAct>
    : never
}

/** The wallets of `Wallets` as promises. */
export type OpenWallets = {
  readonly [A in Actor]: (name: string, duty?: Duties[A]) => Promise<OpenWallet<A>>
} & { readonly work: () => Promise<number> }

/** A venue in one process, open until it is disposed of. */
export interface OpenLocalVenue extends Venue.OpenVenue {
  readonly clock: OpenClock
  readonly wallets: OpenWallets
}

/**
 * Opens a venue over the layer of `memory`; `rooms` of it type their own calls. A refusal is thrown as `Refused`, and an act that a wallet
 * did not perform as its error; any other error is a defect.
 */
export const open = <E, const R extends Parameters<typeof Venue.demandRooms>[0] = readonly []>(
  layer: Layer.Layer<Services, E>,
  { rooms = [] }: { readonly rooms?: R | readonly [] } = {}
): Promise<Venue.OpenVenueWith<R[number], OpenLocalVenue>> =>
  // Cast: as that of the engine's own `open`.
  Venue.openWith(layer, {
    make: Effect.andThen(Venue.demandRooms(rooms), make),
    members: ({ clock, wallets }: LocalVenue, promise) => ({
      clock: openClock(clock, promise),
      wallets: openWallets(wallets, promise)
    })
  }) as unknown as Promise<Venue.OpenVenueWith<R[number], OpenLocalVenue>>

const openClock = (clock: LocalVenue["clock"], promise: Venue.PromiseOf): OpenClock => ({
  now: () => promise(clock.now),
  to: (at) => promise(Effect.suspend(() => clock.to(at))),
  by: (length) => promise(Effect.suspend(() => clock.by(length))),
  set: (at) => promise(Effect.suspend(() => clock.set(at))),
  runDue: () => promise(clock.runDue)
})

/** Cast: each actor's wallet has the acts of its own table, and the loop knows no single actor. */
const openWallets = (wallets: LocalVenue["wallets"], promise: Venue.PromiseOf): OpenWallets => {
  const opened = actors.map((actor) => {
    const open = wallets[actor] as (name: string, duty?: object) => ReturnType<typeof wallets.fund>
    return [
      actor,
      (name: string, duty?: object) =>
        promise(Effect.map(open(name, duty), (wallet) => promised(wallet, promise)))
    ] as const
  })
  return {
    ...Object.fromEntries(opened),
    work: () => promise(wallets.work)
  } as unknown as OpenWallets
}

/** Calls of a wallet as promises; its party stays as it is. */
const promised = (wallet: object, promise: Venue.PromiseOf): object =>
  Object.fromEntries(
    Object.entries(wallet).map(([name, member]) => [
      name,
      typeof member === "function"
        ? (...args: ReadonlyArray<unknown>) =>
            promise(Effect.suspend(() => member(...args) as Effect.Effect<unknown, Error>))
        : member
    ])
  )
