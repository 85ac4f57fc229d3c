/** A town by chance: seeded, by a clock of its own, with faults and deaths; everything it does is audited. */
import { Instant } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../../engine/calls.ts"
import * as Faults from "../faults.ts"
import * as Audit from "./audit.ts"
import * as BankAudit from "./bank-audit.ts"
import * as BankAccounts from "./bank-accounts.ts"
import * as Banking from "./banking.ts"
import * as Powers from "./powers.ts"
import { takeRandomStep } from "./random-step.ts"
import * as LedgerObserver from "./ledger-observer.ts"
import { add, atoms, chain } from "./figures.ts"
import { distributingFoundings, foundingsOf, founds } from "./founding.ts"
import * as EventOrder from "./event-order.ts"
import * as DistributionBooks from "./distribution-books.ts"
import { Model } from "./model.ts"
import * as StoredBooks from "./stored-books.ts"
import * as Repeats from "./repeats.ts"
import * as Reports from "./reports.ts"
import * as Results from "./results.ts"
import * as Town from "./town.ts"
import * as Wallets from "./wallets.ts"
import * as World from "./world.ts"

const start = "2026-07-31T12:00:00Z"

export interface Options {
  readonly seed: number
  readonly steps: number
  readonly trace?: boolean
}

export interface Summary {
  readonly seed: number
  readonly steps: number
  /** The same for the same seed and steps: everything that was done and answered, in order. */
  readonly transcript: string
  /** The same for the same seed and steps, with caches or without: every answer that was compared. */
  readonly answers: string
  readonly holders: number
  readonly transactions: number
  readonly kills: number
  readonly seen: Readonly<Record<string, number>>
}

const settled = Effect.fnUntraced(function* (town: Town.Town, eventOrder: EventOrder.EventOrder) {
  town.faults.replace({})
  for (let round = 0; round < 400; round++) {
    yield* Town.work(town)
    yield* town.observer.look(town.step)
    yield* eventOrder.hear(town)
    if (town.pending.size === 0 && town.level === town.step && round > 2) return
    yield* TestClock.adjust("10 seconds")
    yield* Town.turns
  }
  throw new Error(`audit: ${[...town.pending.keys()].join(" ")} have not ended`)
})

/** Everything has ended, the bank is audited by runs, and what they started has ended too. */
const atRest = Effect.fnUntraced(function* (town: Town.Town, eventOrder: EventOrder.EventOrder) {
  yield* settled(town, eventOrder)
  yield* BankAudit.atRest(town)
  yield* settled(town, eventOrder)
})

/** Steps between two full audits. */
const auditEvery = 250

/** One town in three lives through months in which its funds distribute. */
const kindOf = (seed: number) => {
  const distributes = seed % 3 === 1
  const isEven = seed % 2 === 0
  const founded = distributes
    ? distributingFoundings(isEven ? "cash" : "units")
    : foundingsOf({ dealing: isEven })
  return { distributes, isEven, founded }
}

const story = Effect.fnUntraced(function* (
  options: Options,
  faults: SimulatedLedger.Faults.Faults,
  source: { current: (holderId: string) => World.Finding }
) {
  yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(start)))
  const participant = yield* SimulatedLedger.Participant
  const venue = (yield* participant.admin.parties).find(({ hint }) => hint === "venue")?.party
  if (venue === undefined) throw new Error("no venue")
  const bankParty = yield* Wallets.party("bank")
  const { distributes, founded, isEven } = kindOf(options.seed)
  const fundIds = founded.map(({ instrumentId }) => instrumentId)
  const registrars = fundIds.map((instrumentId) =>
    SimulatedLedger.Identifiers.party({
      hint: `registrar-${instrumentId}`,
      publicKey: World.keyOf(`registrar-${instrumentId}`)
    })
  )
  const observer = LedgerObserver.make([venue, bankParty.party, ...registrars])
  const byId = new Map<string, Town.Holder>()
  const model = new Model(observer, (holderId) => byId.get(holderId)?.successor)
  const scope = yield* Effect.scope
  const die = Faults.dice(options.seed)
  const engine = yield* Town.instance({ scope })
  const funds: Array<Town.Fund> = []
  const town: Town.Town = {
    die,
    faults,
    observer,
    model,
    source: { listVersion: "1", say: (holderId) => source.current(holderId) },
    funds,
    venue,
    bankParty,
    holders: [],
    byParty: new Map(),
    byId,
    seen: new Map(),
    said: chain(),
    recent: [],
    pending: new Map(),
    awaiting: [],
    orders: new Map(),
    signed: [],
    claimed: new Map(),
    closed: new Map(),
    sold: new Map(),
    debts: new Map(),
    given: new Map(),
    burned: new Set(),
    burnt: new Set(),
    published: new Set(),
    indices: 0,
    cycles: new Map(),
    bank: { lines: 0, stated: new Map(), used: [] },
    banking: BankAccounts.make(options.seed, { fundIds, distributes }),
    ended: new Map(),
    scope,
    trace: options.trace ?? false,
    deals: !distributes && isEven,
    distributions: distributes ? DistributionBooks.make(observer, fundIds) : null,
    approvals: new Set(),
    engine,
    step: 0,
    level: 0,
    count: 0,
    kills: 0,
    diedAt: 0
  }
  const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Town.within(town, effect)
  for (const founding of founded) funds.push(yield* run(founds(town, founding)))
  yield* run(BankAccounts.opens(town.banking))
  for (const { instrumentId } of funds) {
    const span = { maybeFrom: 0, from: 0, maybeUntil: Infinity, until: Infinity }
    model.windows.push({ instrumentId, opensAt: null, closesAt: null, span })
  }
  yield* observer.look(0)
  const eventOrder = EventOrder.make()
  observer.hears(Powers.watches(town))
  observer.hears(({ choice, contract, entity }) => {
    if (entity !== "TransferOffer" || choice !== "Accept" || contract === undefined) return
    if (Wallets.assetOf(contract) !== "USD") return
    const amount = atoms(Wallets.member(contract, "amount"))
    add(town.given, Wallets.member(contract, "receiver"), amount)
  })
  // Events of the founding are left out of the audit.
  yield* run(eventOrder.skip)
  source.current = (holderId) => {
    const found = die.once(12)
      ? die.pick(["nothing-yet", "possible", "confirmed"] as const)
      : ("none" as const)
    if (found !== "nothing-yet") {
      model.answered(holderId, { step: town.step, isClear: found === "none" })
      Town.note(town, `screened ${found}`)
    }
    Town.tell(town, `${holderId} is screened: ${found}`)
    return found
  }
  const repeats = Repeats.make(options.seed)
  const reports = Reports.make(options.seed)
  const results = Results.make()
  const oneStep = Effect.gen(function* () {
    yield* takeRandomStep(town)
    yield* Banking.goesOn(town)
    yield* repeats.look(town)
    if (!die.once(4)) yield* Town.work(town)
    yield* observer.look(town.step)
    yield* eventOrder.hear(town)
    if (town.banking.troubles.size > 0 && town.banking.die.once(4)) yield* BankAudit.inPassing(town)
    yield* results.look(town)
    yield* reports.inPassing(town)
    if (town.step % auditEvery !== 0) return
    yield* atRest(town, eventOrder)
    yield* Audit.whole(town)
    yield* reports.audit(town)
    yield* repeats.again(town)
  })
  for (town.step = 1; town.step <= options.steps; town.step++) {
    yield* run(oneStep).pipe(
      Effect.catchCause((cause) => Effect.die(finding(town, options, cause)))
    )
  }
  yield* run(
    Effect.gen(function* () {
      yield* atRest(town, eventOrder)
      yield* Audit.whole(town)
      yield* reports.audit(town)
      yield* StoredBooks.audit(town)
    })
  ).pipe(Effect.catchCause((cause) => Effect.die(finding(town, options, cause))))
  return {
    seed: options.seed,
    steps: options.steps,
    transcript: town.said.head(),
    answers: repeats.answers(),
    holders: town.holders.length,
    transactions: observer.transactions(),
    kills: town.kills,
    seen: Object.fromEntries([...town.seen].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  } satisfies Summary
})

/** Error of a failed run: the fault, the steps before it, and the command that replays it. */
const finding = (town: Town.Town, options: Options, cause: unknown) =>
  new Error(
    [
      `seed ${options.seed}, step ${town.step}: ${String(cause)}`,
      ...town.recent,
      `again: npm run sim -- --seed ${options.seed} --steps ${town.step} --trace`
    ].join("\n")
  )

/** Walks so many steps by the seed; dies with what the audit found. A step is one act of one person or party, or one move of the clock, a fault or a death. */
export const walk = (options: Options) => {
  const faults = SimulatedLedger.Faults.make()
  const source: { current: (holderId: string) => World.Finding } = { current: () => "none" }
  const heldSource: World.Source = { listVersion: "1", say: (holderId) => source.current(holderId) }
  const { distributes, founded } = kindOf(options.seed)
  const statementSources = BankAccounts.sources(
    founded.map(({ instrumentId }) => instrumentId),
    distributes
  )
  const ports = World.ports({ seed: options.seed, faults, source: heldSource, statementSources })
  return story(options, faults, source).pipe(Effect.provide(Layer.fresh(ports)))
}

export const play = (options: Options): Promise<Summary> => Calls.runCase(walk(options))
