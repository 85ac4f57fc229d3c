/**
 * A fund's month that real hosts distribute: its database, its ledger and its outside parties are of
 * the test's own process and outlive every host, and all share a time of day that the test moves.
 */
import { createHash } from "node:crypto"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Engine, EventQueries, FourEyes, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Feed, Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Clock, Context, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { ports } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Executions from "../operations/executions.ts"
import type * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as LedgerThere from "../processes/ledger-there.ts"
import { wanted } from "../waiting.ts"
import * as Host from "./host.ts"
import { tell } from "../processes/tell.ts"
import { remove } from "../folders.ts"

export const month = "2026-07"
export const distributionId = `fund-a.${month}`

/** Parties whose ids follow from their names, so that two ledgers have the same ones. */
const named = Layer.effect(
  SimulatedLedger.Participant,
  Effect.map(SimulatedLedger.Participant, (participant) => ({
    ...participant,
    admin: {
      ...participant.admin,
      addParty: (options: Parameters<typeof participant.admin.addParty>[0]) =>
        participant.admin.addParty({
          publicKey: createHash("sha256").update(options.hint).digest(),
          ...options
        })
    }
  }))
)

interface Size {
  readonly holders: number
  /** Parties with units that are no holders of the venue; each gets a line that waits. */
  readonly others: number
  readonly batchLines: number
}

const engineOn = (
  storage: Layer.Layer<Memory.Storage>,
  { batchLines }: Pick<Size, "batchLines">
) => {
  const { clock, offset } = movedClock()
  const layer = Engine.layer.pipe(
    Layer.provideMerge(
      named.pipe(Layer.provideMerge(ports({ storage, settings: { batchLines } })))
    ),
    Layer.provideMerge(Layer.succeed(Clock.Clock, clock))
  )
  return { runtime: ManagedRuntime.make(layer), offset }
}

/** Parties that are no holders are given units, many in one transaction. */
const crowd = ({ asset, registrar, venue }: Fund.Parties, count: number) =>
  Effect.gen(function* () {
    if (count === 0) return
    const participant = yield* SimulatedLedger.Participant
    const { admin } = participant
    const added = yield* Effect.forEach(Array.from({ length: count }), (_, nth) =>
      admin.addParty({ hint: `other-${nth}`, kind: "local" })
    )
    const parties = added.map(({ party }) => party)
    const rights = [registrar.party, ...parties].map(
      (party) => ({ kind: "CanActAs", party }) as const
    )
    const { token } = yield* admin.addParty({ hint: "crowd", kind: "local", rights })
    const user = yield* participant.authenticate(token)
    for (let from = 0; from < count; from += 100) {
      const owners = parties.slice(from, from + 100)
      const [first, ...rest] = owners.map((owner, nth) =>
        Templates.create(Templates.Holding, {
          registrar: registrar.party,
          owner,
          provider: venue,
          instrument: asset,
          amount: Decimal.fromInteger(1_000 + from + nth),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
      if (first === undefined) continue
      yield* participant.submit(user, {
        commandId: `crowd:${from}`,
        actAs: [registrar.party, ...owners],
        readAs: [],
        commands: [first, ...rest],
        dedup: null,
        submissionId: `crowd:${from}`,
        workflowId: null,
        disclosed: [],
        minLedgerTime: null,
        traceparent: null
      })
    }
    yield* Calls.settle
  })

/** Holders and other parties with units, and an income in July; the clock is at the instant after it. */
const accrued = ({ holders: count, others }: Size, after = "2026-08-01T00:02:00Z") =>
  Effect.gen(function* () {
    const holderIds = Array.from({ length: count }, (_, nth) => `h${nth + 1}`)
    const { holders, stage } = yield* Executions.founded(holderIds)
    for (const [nth, holder] of holders.entries()) {
      yield* Powers.mints(stage, holder, String(12_345.67 * (nth + 1)))
    }
    yield* crowd(stage, others)
    yield* Cycles.at("2026-07-20T12:00:00Z")
    yield* Executions.publishes(stage, "0.000103333", "2026-07-20T11:00:00Z")
    yield* Cycles.at(after)
    return stage
  })

const body = { instrumentId: "fund-a", month }

/** The execution is signed and queued, and not begun. */
const signed = Effect.gen(function* () {
  const actionKey = yield* Calls.openAction("distribution.execute", {}, body)
  const door = yield* FourEyes
  yield* door.approve({
    actionKey: String(actionKey),
    caller: Calls.person("ada", "approver"),
    identity: { requestId: "req-execute", traceId: null, keyId: null }
  })
})

/** Hash and lines of the month, with everything that the ledger was told of each. */
const shown = Effect.gen(function* () {
  const { linesHash, sealedAt, totals } = yield* Executions.distributionOf(distributionId)
  const lines = yield* Executions.linesOf(distributionId)
  return {
    linesHash,
    isSealed: sealedAt !== null,
    holders: totals.holders,
    gross: Decimal.formatPlain(totals.gross),
    lines: lines.map(({ carryOut, entitlement, holderId, net, number, party, units, withheld }) =>
      [
        number,
        holderId ?? party,
        ...[units, entitlement, withheld, net, carryOut].map((figure) =>
          Decimal.formatPlain(figure)
        )
      ].join(" ")
    )
  }
})
export type Shown = Effect.Success<typeof shown>

/** The same month on a store and a ledger of its own, by an engine that is not killed. */
export const undisturbed = async (size: Size): Promise<Shown> => {
  const { runtime } = engineOn(Memory.layer, size)
  const program = Effect.gen(function* () {
    yield* accrued(size)
    yield* Calls.write("distribution.execute", {}, body)
    return yield* shown
  })
  return runtime.runPromise(program).finally(() => runtime.dispose())
}

/** Point at which a host is killed, around a submission that exercises a choice. */
interface AtChoice {
  readonly choice: string
  /**
   * `before`: the ledger never gets the submission. `after`: it commits and its answer is lost. A
   * number: the answer arrives, and so many messages to the database later the host dies.
   */
  readonly at: "before" | "after" | number
}

/** A host that starts is killed by a message of its own to the database, from the first that says this. */
interface AtText {
  /** A regular expression. */
  readonly says: string
  /** Number of the message, from 1. */
  readonly at: number
}

export type Death = AtChoice | AtText

const choicesOf = ({ commands }: Ledger.Submission): ReadonlyArray<string> =>
  commands.flatMap((command) => ("choice" in command ? [command.choice] : []))

/**
 * Ends the leases that dead hosts left: a lease runs by the database's clock, which no test moves, and a
 * short one is lost by a live host too where the machine is busy, which then begins its work again.
 */
const leasesEnd = Effect.gen(function* () {
  const context = yield* Effect.context<never>()
  const sql = Context.getUnsafe(context, SqlClient.SqlClient)
  yield* sql`update bursar.work set leased_until = clock_timestamp() - interval '1 second'
    where leased_until is not null`
})

/** Ends of the ledger, its projection and the feed. */
const moved = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const log = yield* ProjectionLog
  const feed = yield* Feed
  const end = yield* ledger.ledgerEnd
  const { offset } = yield* log.head
  const { seq } = yield* feed.head
  return `${end} ${offset} ${seq}`
})

/** Services of the test's own engine, which never does a host's work. */
const idle = Engine.Engine.of({ run: Effect.never, settle: Effect.void })

type Runtime = ReturnType<typeof engineOn>["runtime"]
type Services = ManagedRuntime.ManagedRuntime.Services<Runtime>

/** A scene on PostgreSQL with its ledger in the test's process, and the hosts that go on with it. */
export interface Hosted<S> {
  readonly stage: S
  /** Acts of the test itself, after which the hosts go on alone. */
  readonly does: <A>(effect: Effect.Effect<A, unknown, Services>) => Promise<A>
  /** Waits until a condition on the records holds. */
  readonly until: (holds: Effect.Effect<boolean, unknown, Services>) => Promise<void>
  /** Sets the time of day of ledger, hosts and test. */
  readonly at: (instant: string) => Promise<void>
  readonly start: () => Promise<Host.Host>
  readonly hosts: () => ReadonlyArray<Host.Host>
  /**
   * Kills whichever host submits the choice next; starts one before where none is up. A death by a text
   * starts the host that dies of it, and none may be up.
   */
  readonly dies: (death: Death) => Promise<void>
  /** Number of times that a host committed each choice. */
  readonly committed: () => Readonly<Record<string, number>>
  readonly close: () => Promise<void>
}

export interface Months extends Hosted<Fund.Parties> {
  readonly shown: () => Promise<Shown>
}

/** Opens the month on PostgreSQL; by default after July, with its execution signed. */
export const open = async (
  size: Size,
  period: {
    readonly at?: string
    /** Done by the test's own engine, before there is a host. */
    readonly first: Effect.Effect<unknown, unknown, Services>
  } = { first: signed }
): Promise<Months> => {
  const hosted = await host(
    size,
    Effect.tap(accrued(size, period.at), () => period.first)
  )
  return { ...hosted, shown: () => hosted.does(shown) }
}

/** Plays a scene by the test's own engine on PostgreSQL, with which hosts then go on. */
export const host = async <S, R extends Services>(
  size: Pick<Size, "batchLines">,
  scene: Effect.Effect<S, unknown, R>
): Promise<Hosted<S>> => {
  const scope = Effect.runSync(Scope.make())
  const url = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  const storage = Layer.orDie(Postgres.layer({ url: Redacted.make(url), maxConnections: 4 }))
  const { offset, runtime } = engineOn(storage as typeof Memory.layer, size)
  const folder = await mkdtemp(join(tmpdir(), "bursar-months-"))
  const identity = await Host.identity()
  const committed: Record<string, number> = {}
  let death: AtChoice | undefined
  let hosts: ReadonlyArray<Host.Host> = []
  const there = LedgerThere.over(runtime, ({ child, submission, submit }) =>
    Effect.gen(function* () {
      const choices = choicesOf(submission)
      const at = death !== undefined && choices.includes(death.choice) ? death.at : undefined
      if (at !== undefined) death = undefined
      if (at === "before") {
        child.kill("SIGKILL")
        return yield* Effect.die(new Error("the host that asks is dead"))
      }
      const receipt = yield* submit
      if (!receipt.duplicate) {
        for (const choice of new Set(choices)) committed[choice] = (committed[choice] ?? 0) + 1
      }
      if (at === "after") child.kill("SIGKILL")
      if (typeof at === "number") tell(child, { arm: at, when: "after" })
      return receipt
    })
  )
  const preload = (name: string) => new URL(name, import.meta.url).pathname
  const start = async (armed: Readonly<Record<string, string>> = {}) => {
    const started = await Host.start({
      databaseUrl: url,
      dataFolder: folder,
      jwksUrl: identity.jwksUrl,
      settings: {
        ...Host.ownKeys,
        BURSAR_DATABASE_CONNECTIONS: "6",
        BURSAR_LEDGER_TOKEN: "another-process-has-it",
        BURSAR_OPERATIONS_LEASE: "10",
        BURSAR_LEDGER_BATCH_LINES: String(size.batchLines),
        DATE_OFFSET: String(offset()),
        ...armed
      },
      preload: [preload("../processes/elsewhere.ts"), preload("./moved-date.ts")],
      born: there.serve
    })
    hosts = [...hosts, started]
    return started
  }
  /** Starts a host that may do its work, and die of it, before it reports readiness. */
  const startToDie = async (armed: Readonly<Record<string, string>> = {}): Promise<void> => {
    try {
      await start(armed)
    } catch (error) {
      if (!(error instanceof Host.KilledAtStart)) throw error
    }
  }
  const does: Hosted<S>["does"] = (effect) =>
    runtime.runPromise(Effect.provideService(effect, Engine.Engine, idle) as typeof effect)
  const stage = await runtime.runPromise(scene as Effect.Effect<S, unknown, Services>)
  return {
    stage,
    does,
    until: async (holds) => {
      await wanted(
        async () => ((await does(holds)) ? true : undefined),
        () => does(moved)
      )
    },
    at: async (instant) => {
      await does(Cycles.at(instant))
      for (const host of hosts) host.moveDate(offset())
    },
    start: () => start(),
    hosts: () => hosts,
    dies: async (next) => {
      if ("says" in next) {
        if (hosts.length > 0) throw new Error("a host that runs may have said it already")
        await startToDie({ TRIPWIRE_SAYS: next.says, TRIPWIRE_ARM: String(next.at) })
      } else {
        death = next
        if (hosts.length === 0) await startToDie()
      }
      if (hosts.length === 0) return does(leasesEnd)
      const dead = await Promise.race(hosts.map((host) => host.ended.then(() => host)))
      hosts = hosts.filter((host) => host !== dead)
      if (hosts.length === 0) await does(leasesEnd)
    },
    committed: () => committed,
    close: async () => {
      for (const host of hosts) host.kill()
      await Promise.all(hosts.map((host) => host.ended))
      identity.stop()
      await runtime.dispose()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await remove(folder)
    }
  }
}

/** State of the month's distribution; undefined before it is executed. */
export const stateOf = Effect.gen(function* () {
  const records = yield* Records
  const [found] = yield* records.list(distributions, { where: { month: [month] }, limit: 2 })
  return found?.record.state
})

/** Trigger of each run that cleared the distribution, in order. */
export const clearedBy = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(runs, { limit: 100 })
  return found.flatMap(({ record: { distributionsCleared, trigger } }) =>
    distributionsCleared.includes(distributionId) ? [trigger] : []
  )
})

/** Kind and state of the operations on the distribution, in order. */
export const written = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(operations, { limit: 1_000 })
  return found.flatMap(({ record: { kind, state } }) =>
    kind.startsWith("distribution.") ? [`${kind} ${state}`] : []
  )
})

/** A standing approval, under which the scheduler executes the month. */
export const grants = Calls.write(
  "standing-approval.grant",
  {},
  { standingApprovalId: "sa1", instrumentId: "fund-a", until: "2027-06-30T00:00:00Z" }
)

/** Events that announce the month as due and as payable, in order. */
export const announced = Effect.gen(function* () {
  const { page } = yield* EventQueries.EventQueries
  const { value } = yield* page({ caller: Calls.operator, params: {}, limit: 1_000 })
  return value
    .map(({ type }) => type)
    .filter((type) => type === "distribution.due" || type === "distribution.payable")
})
