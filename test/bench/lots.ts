/** Movements projected with lots against the same movements projected without, each into its database. */
import { Catalogue, Follower } from "@bursar/engine-core"
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as MovementFromLedger from "#core/instruments/register/MovementFromLedger.ts"
import { world } from "../engine/world.ts"
import { type Database, registrar, withDatabase } from "./database.ts"
import { type Bench, inTurns, type Options, timed } from "./measure.ts"
import * as Meters from "./meter.ts"

/** Movements of a round. */
const perRound = 1_000
const began = Instant.toEpochMillis(Instant.of("2026-07-01T00:00:00Z"))

interface Held {
  readonly contractId: string
  readonly party: Party.Party
  readonly units: number
}

/** A ledger on which holders have a holding each, and then give a tenth of one to another holder. */
const ledgerOf = (count: number, venue: Party.Party) => {
  const holders = Array.from({ length: count }, (_, n) =>
    Party.make({ hint: `holder-${n}`, fingerprint: `1220${"ab".repeat(32)}` })
  )
  const held: Array<Held> = []
  let offset = 0
  const contractIdOf = (place: number) => `00${offset.toString(16).padStart(10, "0")}0${place}`
  const created = ({ contractId, party, units }: Held, nodeId: number, at: Instant.Instant) => ({
    _tag: "Created" as const,
    nodeId,
    contractId: contractId as Ledger.ContractId,
    template: Templates.Holding.typeRef,
    packageId: "p",
    payload: {
      registrar,
      owner: party,
      provider: venue,
      instrument: { admin: registrar, id: "fund-a" },
      amount: `${units}.0000000000`,
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    },
    views: [],
    signatories: [registrar, party],
    observers: [venue],
    witnesses: [venue],
    createdAt: at,
    blob: Option.none(),
    inAcs: true
  })
  const transaction = (eventsAt: (at: Instant.Instant) => ReadonlyArray<Ledger.Event>) => {
    const at = Instant.fromEpochMillis(began + offset)
    return {
      _tag: "Transaction" as const,
      offset: Offset.of(offset),
      updateId: `update-${offset}` as Ledger.UpdateId,
      commandId: Option.none(),
      workflowId: Option.none(),
      effectiveAt: at,
      recordTime: at,
      synchronizerId: "s",
      events: eventsAt(at)
    }
  }
  const mint = (party: Party.Party): Ledger.Transaction => {
    offset += 1
    const holding = { contractId: contractIdOf(0), party, units: 1_000_000_000 }
    held.push(holding)
    return transaction((at) => [created(holding, 0, at)])
  }
  const give = (): Ledger.Transaction => {
    offset += 1
    const giver = (offset * 7919) % held.length
    const { contractId, party, units } = held[giver]!
    const part = Math.max(1, Math.floor(units / 10))
    const left = { contractId: contractIdOf(1), party, units: units - part }
    const given = {
      contractId: contractIdOf(2),
      party: holders[(offset * 104_729) % holders.length]!,
      units: part
    }
    held[giver] = left
    return transaction((at) => [
      {
        _tag: "Exercised",
        nodeId: 0,
        lastDescendant: 2,
        contractId: contractId as Ledger.ContractId,
        template: Templates.Holding.typeRef,
        iface: Option.none(),
        choice: "Give",
        arg: {},
        result: {},
        actors: [party],
        consuming: true,
        witnesses: [venue],
        inAcs: true
      },
      created(left, 1, at),
      created(given, 2, at)
    ])
  }
  return {
    minted: holders.map(mint),
    /** The updates of the round that follows. */
    next: () => Array.from({ length: perRound }, give)
  }
}

type Projection = Effect.Success<ReturnType<typeof sideOn>>

/** Engine on a database, whose ledger says what it is told to. */
const sideOn = (storage: Database["storage"], fromLedger: typeof Catalogue.fromLedger) =>
  Effect.gen(function* () {
    const updates: Array<Ledger.Update> = []
    const layer = world({
      storage,
      operations: Catalogue.operations,
      fromLedger,
      tamper: (ledger) => ({
        ...ledger,
        ledgerEnd: Effect.sync(() => Offset.of(updates.at(-1)?.offset ?? 0)),
        updates: ({ after }) =>
          Stream.fromIterable(updates.filter((update) => update.offset > after))
      })
    })
    const context = yield* Effect.orDie(Layer.build(layer))
    const follower = Context.get(context, Follower)
    const meter = Meters.of(Context.get(yield* Layer.build(storage), SqlClient.SqlClient))
    const { venue } = Context.get(context, Ledger.Ledger)
    return {
      venue,
      meter,
      project: (next: ReadonlyArray<Ledger.Update>) => {
        updates.splice(0, updates.length, ...next)
        return Effect.orDie(follower.catchUp)
      }
    }
  })

/** Side that projects the next movements of a ledger of its own. */
const projecting = Effect.fnUntraced(function* (side: Projection, size: number) {
  const ledger = ledgerOf(size, side.venue)
  yield* side.project(ledger.minted)
  let next: ReadonlyArray<Ledger.Update> = []
  return {
    meter: side.meter,
    prepare: () =>
      Effect.sync(() => {
        next = ledger.next()
      }),
    run: () => timed(perRound, side.project(next))
  }
})

const program = (options: {
  readonly options: Options
  readonly ours: Database
  readonly bound: Database
}) =>
  Effect.gen(function* () {
    const { rounds, size = 10_000 } = options.options
    const without = Catalogue.fromLedger.map((reading) =>
      reading.batch === undefined
        ? reading
        : MovementFromLedger.fromLedger({
            batch: () => Effect.void,
            start: () => Effect.void,
            keeps: []
          })[0]!
    )
    const ours = yield* sideOn(options.ours.storage, Catalogue.fromLedger)
    const bound = yield* sideOn(options.bound.storage, without)
    const compared = yield* inTurns({
      rounds,
      ours: yield* projecting(ours, size),
      bound: yield* projecting(bound, size)
    })
    return [
      {
        bench: `movements among ${size.toLocaleString("en-US")} holders, with lots`,
        unit: "movements/s",
        against: "the same without lots",
        goal: 0.8,
        note: "transfers, one an update",
        ...compared
      }
    ]
  })

export const bench: Bench = (options) =>
  withDatabase((ours) =>
    Effect.promise(() => withDatabase((bound) => Effect.scoped(program({ options, ours, bound }))))
  )
