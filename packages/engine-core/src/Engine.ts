/** Composition of the engine: all services over the ports. */
import { Context, Effect, Fiber, Layer } from "effect"
import * as Catalogue from "./catalogue.ts"
import * as AuditLog from "./feeds/AuditLog.ts"
import * as AuditQueries from "./feeds/AuditQueries.ts"
import * as AuditRunner from "./feeds/AuditRunner.ts"
import * as EventQueries from "./feeds/EventQueries.ts"
import * as OwnWords from "./engine/OwnWords.ts"
import * as Retention from "./engine/Retention.ts"
import * as HistoryKeeper from "./feeds/HistoryKeeper.ts"
import * as RetentionRunner from "./feeds/RetentionRunner.ts"
import * as Signals from "./feeds/SignalRunner.ts"
import type { Task } from "./engine/Schedule.ts"
import * as Schedules from "./feeds/ScheduleRunner.ts"
import { dueDistributions } from "./distributions/schedule/DueDistributionRunner.ts"
import { indexing } from "./holders/external-account/AccountNumberRunner.ts"
import * as Rescreen from "./restraints/screening/RescreenRunner.ts"
import type { Collection } from "./kernel/Collection.ts"
import type { Unavailable } from "./kernel/Refusal.ts"
import type { Crypto } from "./ports/Crypto.ts"
import type { Ids } from "./ports/Ids.ts"
import type { Ledger } from "./ports/Ledger.ts"
import { layerEngine, type ScreeningSource } from "./ports/ScreeningSource.ts"
import type { StatementSource } from "./ports/StatementSource.ts"
import {
  Atomically,
  Blobs,
  Bulk,
  Documents,
  FactLog,
  Feed,
  Keys,
  ProjectionLog,
  RateWindow,
  StoreIdentity,
  Terms,
  WorkQueue
} from "./ports/storage/index.ts"
import { contracts } from "./projection/Contract.ts"
import * as Follower from "./projection/Follower.ts"
import * as FromLedgerIndex from "./projection/FromLedgerIndex.ts"
import type { FromLedger } from "./projection/FromLedger.ts"
import * as SearchKinds from "./overviews/search/SearchKinds.ts"
import * as ReadsLayer from "./reads/layer.ts"
import * as WaitingKinds from "./reads/WaitingKinds.ts"
import type { Queries } from "./reads/Queries.ts"
import * as LedgerReach from "./records/LedgerReach.ts"
import { reserveReporting } from "./reserves/report/ReportRunner.ts"
import { dailyRun } from "./reconciliation/run/DailyRunRunner.ts"
import type { Reconciler } from "./reconciliation/run/Reconciler.ts"
import * as AllChecks from "./reconciliation/checks/AllChecks.ts"
import * as StartSteps from "./reconciliation/run/StartSteps.ts"
import * as RecordsLayer from "./records/layer.ts"
import type { Records } from "./records/Records.ts"
import * as SearchTerms from "./records/SearchTerms.ts"
import { indexingWaits } from "./records/WaitIndexRunner.ts"
import * as Waits from "./records/Waits.ts"
import * as Workers from "./records/Workers.ts"
import { entryTerms } from "./statements/external-statement/EntryTerms.ts"
import { searchFilling } from "./statements/external-statement/SearchRunner.ts"
import type { StatementIntake } from "./statements/external-statement/Intake.ts"
import * as ReceiveSteps from "./statements/external-statement/ReceiveSteps.ts"
import { approvals } from "./writes/Approval.ts"
import * as ClockRunner from "./writes/ClockRunner.ts"
import { ConcealedRecord } from "./writes/Concealment.ts"
import * as SubmitWrite from "./writes/SubmitWrite.ts"
import type { FourEyes } from "./writes/FourEyes.ts"
import type { AnyOperation, Operation } from "./writes/Operation.ts"
import * as Operations from "./writes/Operations.ts"
import * as Consequence from "./records/Consequence.ts"
import * as Timely from "./records/Timely.ts"

/** Engine of a venue: it follows the ledger and runs every worker until its scope ends. */
export class Engine extends Context.Service<
  Engine,
  {
    /**
     * Follows the ledger and runs every worker of the table until interrupted; then it stops
     * gracefully.
     */
    readonly run: Effect.Effect<never>
    /**
     * Projects the ledger and works off every queue but that of the scheduled tasks, repeatedly until
     * no work is left: the engine without background work, for tests, scripts and embedders that drive
     * it.
     */
    readonly settle: Effect.Effect<void, Unavailable>
  }
>()("@bursar/engine-core/Engine") {}

/** The catalogue that an engine was made with, by which reads are found by their name. */
export const DeclaredCatalogue = Context.Reference<Catalogue.Catalogue>(
  "@bursar/engine-core/Catalogue",
  { defaultValue: () => Catalogue.builtIn }
)

/** Largest number of rounds; more without coming to rest is a defect. */
const roundsMax = 10_000

const engine = Layer.effect(
  Engine,
  Effect.gen(function* () {
    const follower = yield* Follower.Follower
    const workers = yield* Workers.Workers
    return Engine.of({
      run: Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.forkScoped(follower.run)
          const running = yield* Effect.forkScoped(workers.run)
          return yield* Fiber.join(running)
        })
      ),
      settle: Effect.gen(function* () {
        let offset = -1
        for (let round = 0; round < roundsMax; round++) {
          const head = yield* follower.catchUp
          const ran = yield* workers.runOnce
          if (ran === 0 && head.offset === offset) return
          offset = head.offset
        }
        return yield* Effect.die(new Error("the engine does not come to rest"))
      })
    })
  })
)

/**
 * Ports that an embedder provides. A venue that takes no statements says so by `StatementSource.layerNone`,
 * and one that screens nobody by `ScreeningSource.layerNone`.
 */
export type Ports =
  | Ledger
  | Ids
  | Crypto
  | StatementSource
  | ScreeningSource
  | Atomically
  | Blobs
  | Bulk
  | FactLog
  | Documents
  | Keys
  | WorkQueue
  | Feed
  | ProjectionLog
  | RateWindow
  | Terms

/** Services of the engine. */
export type Services =
  | Engine
  | FourEyes
  | Queries
  | Records
  | LedgerReach.LedgerReach
  | AuditLog.AuditLog
  | AuditQueries.AuditQueries
  | EventQueries.EventQueries
  | Signals.Signals
  | Follower.Follower
  | Reconciler
  | StatementIntake
  | Rescreen.Screenings
  | Workers.Workers
  | Operations.Operations

/** Scheduled tasks of the engine. */
const tasksOf = ({
  history,
  clocked
}: {
  readonly history: ReadonlyArray<Collection>
  readonly clocked: ReadonlyArray<Collection>
}): ReadonlyArray<Task<Ports | Records | LedgerReach.LedgerReach | FourEyes>> => [
  AuditRunner.hourly,
  AuditRunner.bySize,
  RetentionRunner.retention({
    history: [contracts, ...history],
    more: Catalogue.retentionSteps
  }),
  RetentionRunner.sweep,
  ClockRunner.clock(clocked),
  Rescreen.rescreenings,
  dueDistributions,
  dailyRun,
  reserveReporting,
  indexing,
  searchFilling,
  indexingWaits
]

/** Writes that only the engine opens: nobody calls them, so that no list of operations has them. */
const engineOpened = (timely: ReadonlyArray<Timely.Timely>): ReadonlyArray<AnyOperation> =>
  timely.map(({ operation }) => operation).filter(({ route }) => route === null)

/** Ends the start where the storage ports are of several stores: a mix records half of what is done. */
const oneStore = Effect.gen(function* () {
  const services = {
    Atomically: yield* Atomically,
    Blobs: yield* Blobs,
    Bulk: yield* Bulk,
    Documents: yield* Documents,
    FactLog: yield* FactLog,
    Feed: yield* Feed,
    Keys: yield* Keys,
    ProjectionLog: yield* ProjectionLog,
    RateWindow: yield* RateWindow,
    Terms: yield* Terms,
    WorkQueue: yield* WorkQueue
  }
  const mix = StoreIdentity.mixOf(
    Object.entries(services).map(([port, { store }]) => ({ port, store }))
  )
  if (mix !== null) return yield* Effect.die(new Error(mix))
})

/**
 * The engine with the writes and readings that an embedder chooses. Storage ports of several stores are a
 * defect at the start, whose message says which port is of which.
 */
export const layerOf = (choice: EngineChoice): Layer.Layer<Services, never, Ports> =>
  Layer.unwrap(Effect.as(oneStore, assembled(choice)))

interface EngineChoice {
  readonly operations: ReadonlyArray<Operation>
  readonly fromLedger: ReadonlyArray<FromLedger>
  /** Collections that readings fold; retention deletes their records that the ledger has pruned. */
  readonly history?: ReadonlyArray<Collection>
  /** Collections whose clock moves are noted; actions are always included. */
  readonly clocked?: ReadonlyArray<Collection>
  /** Scheduled writes, which the engine opens by itself. */
  readonly timely?: ReadonlyArray<Timely.Timely>
  /** Catalogue of the rooms that the venue adds; left out: none. */
  readonly catalogue?: Catalogue.Catalogue
}

const assembled = ({
  history,
  clocked,
  operations,
  timely,
  fromLedger,
  catalogue = Catalogue.builtIn
}: EngineChoice): Layer.Layer<Services, never, Ports> =>
  engine.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Workers.layer(Catalogue.workers),
        Follower.layer,
        StartSteps.layer,
        ReceiveSteps.layer,
        Rescreen.layer
      )
    ),
    Layer.provide(
      Schedules.layer(
        tasksOf({
          history: history ?? [],
          clocked: [...new Set<Collection>([approvals, ...(clocked ?? [])])]
        })
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        SubmitWrite.layer,
        ReadsLayer.layer,
        EventQueries.layer,
        Signals.layer,
        AuditQueries.layer,
        AuditLog.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        RecordsLayer.layer,
        LedgerReach.layer,
        Operations.layer([...operations, ...engineOpened(timely ?? [])]),
        FromLedgerIndex.layer(fromLedger)
      )
    ),
    Layer.provide(Layer.succeed(Timely.Declared, timely ?? [])),
    // Of the whole catalogue, so that no choice of operations leaves out what follows their changes.
    Layer.provide(Layer.succeed(Consequence.Declared, catalogue.consequences)),
    // Of the whole catalogue, so that no choice of operations leaves records out of the search.
    Layer.provide(Layer.succeed(SearchTerms.Declared, SearchKinds.of(catalogue))),
    Layer.provide(Layer.succeed(SearchTerms.DeclaredParts, [entryTerms])),
    // From the whole catalogue, so that no choice of operations leaves records out of the list of work.
    Layer.provide(Layer.succeed(Waits.Declared, WaitingKinds.of(catalogue))),
    Layer.provide(Layer.succeed(HistoryKeeper.Declared, Catalogue.historyKeepers)),
    // Of the whole catalogue, so that no choice of operations reveals what earlier ones announced.
    Layer.provide(Layer.succeed(ConcealedRecord, catalogue.concealed)),
    Layer.provideMerge(Layer.succeed(DeclaredCatalogue, catalogue)),
    Layer.provideMerge(Layer.succeed(OwnWords.OwnWords, catalogue.ownWords)),
    Layer.provide(Layer.succeed(AllChecks.Declared, catalogue.roomChecks)),
    Layer.provide(layerEngine)
  )

/**
 * The engine with a catalogue: everything that this package declares, and the rooms of the venue. It is
 * made once by `Catalogue.withRooms`, for the engine and its host alike.
 */
export const layerWith = (catalogue: Catalogue.Catalogue): Layer.Layer<Services, never, Ports> =>
  layerOf({
    operations: catalogue.operations,
    fromLedger: catalogue.fromLedger,
    history: catalogue.collections.filter(
      ({ keptBy, name }) => keptBy === "ledger" && !Retention.everKept.has(name)
    ),
    clocked: catalogue.collections,
    timely: catalogue.timely,
    catalogue
  })

/** The engine with everything this package declares. */
export const layer: Layer.Layer<Services, never, Ports> = layerWith(Catalogue.builtIn)
