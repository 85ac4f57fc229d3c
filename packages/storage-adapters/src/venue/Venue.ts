/**
 * Venue in one process, made ready: memory, the simulated ledger, cryptography, ids, readers of
 * statements, a sealing key, a settable clock and the outside parties' wallets, as one layer; and the
 * venue as one object, which has that clock and those wallets as members.
 */
import {
  Catalogue,
  ConfiguredSource,
  Engine,
  Settings,
  settingsDefaults
} from "@bursar/engine-core"
import { type Ledger, ScreeningSource, StatementSource } from "@bursar/engine-core/ports"
import type { Room } from "@bursar/engine-core/rooms"
import { Clock, Effect, Layer, Schema } from "effect"
import type { Participant } from "../ledger/simulated/Participant.ts"
import * as SimulatedLedger from "../ledger/simulated/SimulatedLedger.ts"
import * as PlatformCrypto from "#platform-crypto"
import * as Random from "../web/Random.ts"
import * as ScriptedScreening from "../screening/ScriptedScreening.ts"
import * as Statements from "../statements/Statements.ts"
import * as Memory from "../storage/memory/Memory.ts"
import type * as LocalVenue from "./LocalVenue.ts"
import * as SettableClock from "./SettableClock.ts"
import * as VenueClock from "./VenueClock.ts"
import * as Wallets from "./Wallets.ts"

// Everything of the engine's own venue; those of this module take their places.
export * from "@bursar/engine-core/venue"
export { make, makeWith, open } from "./LocalVenue.ts"
export type {
  LocalVenue,
  OpenClock,
  OpenLocalVenue,
  OpenWallet,
  OpenWallets
} from "./LocalVenue.ts"
export type { InstantInput } from "./SettableClock.ts"
export { type LengthOfTime, VenueClock } from "./VenueClock.ts"
export {
  type Common,
  type Duties,
  layer as layerWallets,
  NothingToDo,
  type PerformedAct,
  type Wallet,
  type WalletError,
  Wallets
} from "./Wallets.ts"

/** Options of a venue in one process, for its ports; each member has a default. */
export interface PortsOptions {
  /** Settings of the engine, in place of the defaults. A new sealing key is made where none is given. */
  readonly settings?: Partial<typeof settingsDefaults>
  /** Sources of statements, as a deployment's configuration writes them; a contradiction is a defect. */
  readonly statementSources?: ReadonlyArray<typeof ConfiguredSource.SourceText.Encoded>
  /** Reader of statements of another form; by default those of `@bursar/storage-adapters/statements`. */
  readonly statements?: StatementSource.Reader
  /** Screening of holders: a source, or a script that answers as one; absent: nobody is screened. */
  readonly screening?: ScriptedScreening.Script | ScreeningSource.Source
  /** Templates and faults of the simulated ledger, and its ids. */
  readonly ledger?: Partial<SimulatedLedger.Options>
  /** Storage in place of that in memory. */
  readonly storage?: Layer.Layer<Memory.Storage>
}

/** Options of a venue in memory. */
export interface Options extends PortsOptions {
  /** Instant or date at which the clock stands until it is moved; absent: it runs with the machine's. */
  readonly clock?: SettableClock.InstantInput
  /** Rooms of the venue's own, lowest first; the rules of their templates are entities of `ledger`. */
  readonly rooms?: ReadonlyArray<Room.Room>
  /** Engine in place of that of the built-in words and the rooms, such as `Engine.layerOf` makes. */
  readonly engine?: typeof Engine.layer
}

/** The engine's ports in one process, and the simulated ledger behind them. */
export type Ports = Engine.Ports | Participant

/** Everything of a venue in one process. */
export type Services = LocalVenue.Services | Ports

/**
 * Layer of the ports alone, on the clock that is there: for a test or a program that puts an engine of
 * its own over them. The venue's party is added to the ledger, and its port has that party's token.
 */
export const ports = (options: PortsOptions = {}): Layer.Layer<Ports> =>
  Layer.mergeAll(
    options.storage ?? Layer.fresh(Memory.layer),
    PlatformCrypto.layer,
    ledgerOf(options.ledger ?? {}),
    Layer.effect(Settings, settingsOf(options)),
    Layer.succeed(StatementSource.StatementSource, options.statements ?? Statements.reader),
    Layer.succeed(ScreeningSource.ScreeningSource, screeningOf(options.screening))
  )

/**
 * Layer of a whole venue in one process. Its clock is that of the engine, the ledger, the wallets and
 * the program that is provided with the layer.
 *
 * @example
 * ```ts
 * import { Instant } from "@bursar/engine-core/kernel"
 * import { Venue } from "@bursar/storage-adapters/venue"
 * import { Effect } from "effect"
 *
 * const now = Effect.map(Instant.now, Instant.format)
 * const text = await Effect.runPromise(Effect.provide(now, Venue.memory({ clock: "2026-07-30" })))
 * text // => "2026-07-30T00:00:00.000000Z"
 * ```
 */
export const memory = ({
  clock,
  rooms = [],
  engine = Engine.layerWith(Catalogue.withRooms(rooms)),
  ...options
}: Options = {}): Layer.Layer<Services> =>
  Layer.unwrap(
    Effect.sync(() => {
      const settable = SettableClock.make(clock ?? null)
      return VenueClock.layer(settable).pipe(
        Layer.provideMerge(Wallets.layer),
        Layer.provideMerge(Layer.fresh(engine)),
        Layer.provideMerge(ports(options)),
        Layer.provideMerge(Layer.succeed(Clock.Clock, settable.clock))
      )
    })
  )

/** A node with one party, the venue, and the venue's port on it. */
const ledgerOf = (
  options: Partial<SimulatedLedger.Options>
): Layer.Layer<Ledger.Ledger | Participant> => {
  const ids = { ledgerId: "venue", participantId: "participant-1" }
  const port = Layer.unwrap(
    Effect.gen(function* () {
      const { admin } = yield* SimulatedLedger.Participant
      const { token } = yield* admin.addParty({
        hint: "venue",
        kind: "local",
        userId: "bursar-engine"
      })
      return SimulatedLedger.Venue.layer({ token })
    })
  )
  const node = SimulatedLedger.layerMemory({ ...ids, ...options })
  return port.pipe(Layer.provideMerge(node), Layer.orDie)
}

const decodeSources = Schema.decodeUnknownEffect(Schema.Array(ConfiguredSource.SourceText))

const settingsOf = ({ settings = {}, statementSources }: PortsOptions) =>
  Effect.gen(function* () {
    const keyed = {
      ...settingsDefaults,
      sealingKeys: [{ keyId: "key-1", secret: Random.bytes(32) }],
      ...settings
    }
    if (statementSources === undefined) return keyed
    const sources = yield* decodeSources(statementSources)
    const fault = sources.flatMap((source) =>
      ConfiguredSource.faultsOf(source).map(
        ({ detail, pointer }) => `the source ${source.externalSourceId}, ${pointer}: ${detail}`
      )
    )[0]
    if (fault !== undefined) return yield* Effect.die(new Error(fault))
    return { ...keyed, statementSources: sources.map(ConfiguredSource.of) }
  }).pipe(Effect.orDie)

const screeningOf = (screening: PortsOptions["screening"]): ScreeningSource.Source => {
  if (screening === undefined) return ScreeningSource.none
  return "ask" in screening ? screening : ScriptedScreening.make(Effect.succeed(screening))
}
