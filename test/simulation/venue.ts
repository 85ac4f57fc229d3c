/** A venue by chance: staff through the only door, outside parties with their own tokens, and faults. */
import { type Caller, Catalogue, Engine, type Operation, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Cause, Effect, Exit, Layer, Result, Scope, Stream } from "effect"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { type Subscription, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import * as Passing from "../engine/passing.ts"
import { ports } from "../engine/world.ts"
import * as Bank from "../operations/bank.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { type Asked, Auditor, buys, type Cents, type Line, type Told } from "./auditor.ts"
import * as Faults from "./faults.ts"

const staff = [
  Calls.person("olga", "operator"),
  Calls.person("otto", "operator", "approver"),
  Calls.person("ada", "approver"),
  Calls.person("aida", "auditor", "approver")
] as const

const holderIds = ["h1", "h2", "h3"] as const
type HolderId = (typeof holderIds)[number]

/** A decimal of so many places from a whole number of its smallest parts. */
const plain = (parts: bigint, places: number): string => {
  const digits = parts.toString().padStart(places + 1, "0")
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
/** Smallest parts of a decimal, read off its text without the engine's arithmetic. */
const parts = (decimal: Decimal.Decimal, places: number): bigint => {
  const [whole = "0", fraction = ""] = Decimal.formatPlain(decimal).split(".")
  if (/[1-9]/u.test(fraction.slice(places))) throw new Error(`more than ${places} places`)
  return BigInt(whole + fraction.slice(0, places).padEnd(places, "0"))
}

/** The one instance at work; it is killed without a word and another put in its place. */
const instance = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const start = Effect.gen(function* () {
    const { operations, fromLedger } = Catalogue
    const life = Killable.make({ operations, fromLedger })
    const engine = yield* Layer.build(life.engine)
    yield* Effect.provide(Passing.working, engine)
    return life
  }).pipe(Scope.provide(scope))
  let life = yield* start
  return {
    kill: Effect.gen(function* () {
      yield* life.kill
      life = yield* start
    })
  }
})

/** The venue ready to deal: an instrument, its market, and holders who may hold it. */
const ready = Effect.gen(function* () {
  const stage = yield* Fund.opened({ holderCap: 5 })
  yield* Fund.market(stage)
  const parties = new Map<HolderId, Party.Party>()
  for (const holderId of holderIds) {
    parties.set(holderId, (yield* Cycles.joins(stage, holderId)).party)
  }
  return { stage, parties }
})

interface Sent {
  readonly write: Operation.Operation
  readonly caller: Caller.Caller
  readonly call: Parameters<typeof Calls.submit>[2]
  readonly operationId: string
}

const writeOf = (kind: string): Operation.Operation => {
  const found = Catalogue.operations.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`no operation ${kind}`)
  return found
}

interface Simulation {
  readonly die: Faults.Dice
  readonly auditor: Auditor
  readonly faults: SimulatedLedger.Faults.Faults
  readonly kill: Effect.Effect<void, never, Engine.Ports>
  readonly oracle: ReturnType<typeof wallet>
  readonly attestor: ReturnType<typeof wallet>
  readonly stage: Fund.Parties
  readonly sent: Array<Sent>
  readonly orders: Array<string>
  /** Points by the cut-off they price, in ten-thousandths. */
  readonly points: Map<Instant.Instant, { readonly cid: string; readonly price: bigint } | null>
  readonly awaiting: Array<{ readonly actionKey: string; readonly act: Asked }>
  readonly bank: Array<Line>
  /** Statements that the bank has sent. */
  readonly planted: Set<string>
  count: number
}

/** Operations that were there when the story began are nobody's to audit. */
const prologue = Effect.map(
  Effect.flatMap(Records, (records) => records.list(operations, { limit: 1_000 })),
  (rows) => new Set(rows.map(({ record }) => record.operationId))
)

const submit = Effect.fnUntraced(function* (
  sim: Simulation,
  kind: string,
  input: {
    readonly params: Readonly<Record<string, string>>
    readonly body: string
    readonly act: Asked
  }
) {
  const write = writeOf(kind)
  const caller = sim.die.pick([staff[0], staff[1]])
  const call = { params: input.params, body: input.body, key: `sim-${++sim.count}` }
  const answer = yield* Effect.result(Calls.submit(write, caller, call))
  if (Result.isFailure(answer)) return
  const operationId = String(Calls.field(answer.success, "operationId"))
  if (write.approvers > 0) {
    const actionKey = String(Calls.field(answer.success, "actionKey"))
    const maker = String(Calls.field(answer.success, "maker"))
    const act = input.act.kind === "record" ? { ...input.act, maker } : input.act
    sim.awaiting.push({ actionKey, act })
    return
  }
  sim.auditor.opened(operationId, input.act)
  sim.sent.push({ write, caller, call, operationId })
})

const cash = (lines: ReadonlyArray<Line>): string =>
  `{"cash":[${lines
    .map(
      ({ statementId, line, cents }) =>
        `{"statementId":"${statementId}","line":${line},"amount":${plain(cents, 2)}}`
    )
    .join(",")}]}`

const orderOf = (subscriptionId: string) =>
  Effect.flatMap(Records, (records) => records.find(subscriptions, subscriptionId))

const idsIn = (state: string) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(
      records.list(subscriptions, { where: { state: [state] }, limit: 1_000 }),
      (rows): ReadonlyArray<string> => rows.map(({ record }) => record.subscriptionId)
    )
  )

/** Bank lines that pay an order: exactly, too little, in two parts, or with a line of another's. */
const lines = Effect.fnUntraced(function* (sim: Simulation, cents: Cents) {
  const named = linesOf(sim, cents)
  for (const { statementId, stated } of named) {
    if (sim.planted.has(statementId)) continue
    sim.planted.add(statementId)
    yield* Bank.states({ id: statementId, entries: [{ amount: plain(stated, 2) }] })
  }
  return named
})

const linesOf = (sim: Simulation, cents: Cents): ReadonlyArray<Line> => {
  const { die, bank } = sim
  const line = (amount: Cents): Line => {
    const statementId = `bank-${bank.length + 1}`
    const made = { statementId, line: 1, cents: amount, stated: amount }
    bank.push(made)
    return made
  }
  const old = bank[die.roll(Math.max(1, bank.length))]
  switch (die.roll(8)) {
    case 0:
      return []
    case 1:
      return cents > 1n ? [line(cents - 1n)] : []
    case 2:
      return cents > 1n ? [line(cents / 2n), line(cents - cents / 2n)] : [line(cents)]
    case 3:
      // The same line once more, said to be of just this amount.
      return old === undefined ? [] : [{ ...old, cents }]
    default:
      return [line(cents)]
  }
}

const centsOf = (order: Subscription): Cents =>
  order.amount === null ? 0n : parts(order.amount, 2)

/** The contract that a transaction of an outside party made. */
const madeBy = (transaction: {
  readonly nodes: ReadonlyArray<{ readonly _tag: string; readonly contractId: string }>
}): string => transaction.nodes.find(({ _tag }) => _tag === "Create")?.contractId ?? ""

const publish = Effect.fnUntraced(function* (sim: Simulation, cutOffAt: Instant.Instant) {
  const { stage, oracle, attestor, die } = sim
  const price = BigInt(9_000 + die.roll(2_000))
  const transaction = yield* oracle.act(
    Templates.create(Templates.OraclePoint, {
      oracle: oracle.party,
      venue: stage.venue,
      fund: stage.fund.party,
      registrar: stage.registrar.party,
      attestors: [attestor.party],
      instrumentId: "fund-a",
      metric: "price",
      value: Decimal.of(plain(price, 4)),
      valuationTime: cutOffAt,
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )
  sim.points.set(cutOffAt, { cid: madeBy(transaction), price })
})

const attest = Effect.fnUntraced(function* (sim: Simulation, order: Subscription) {
  if (order.claimCid === null) return
  if (!sim.points.has(order.cutOffAt)) {
    const published = yield* Effect.exit(publish(sim, order.cutOffAt))
    // Published, but the oracle did not get its id, so that no order can name the point.
    if (Exit.isFailure(published)) {
      if (isCommitted(published)) sim.points.set(order.cutOffAt, null)
      return
    }
  }
  const point = sim.points.get(order.cutOffAt) ?? null
  if (point === null) return
  const units = buys(centsOf(order), point.price)
  if (units === 0n) return
  const exit = yield* Effect.exit(
    sim.attestor.act(
      Templates.exercise(Templates.SubscriptionClaim, order.claimCid, "Attest", {
        attestor: sim.attestor.party,
        pointCid: point.cid,
        price: Decimal.of(plain(point.price, 4)),
        units: Decimal.of(plain(units, 6))
      })
    )
  )
  if (isCommitted(exit)) sim.auditor.priced(order.subscriptionId, units)
})

/** The transaction is there: it was answered, or a repeat was told that it is a repeat. */
const isCommitted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit) ||
  exit.cause.reasons.some(
    (reason) => Cause.isDieReason(reason) && text(reason.defect, "code") === "DUPLICATE_COMMAND"
  )

const text = (value: unknown, member: string): string =>
  typeof value === "object" && value !== null && member in value
    ? String((value as Readonly<Record<string, unknown>>)[member])
    : ""

/** One act of a person or a party. */
const step = Effect.fnUntraced(function* (sim: Simulation) {
  const { die } = sim
  const what = die.roll(20)
  // Staff mostly do what an order is ready for; now and then anything to any.
  const ready = what < 7 ? "claimed" : what < 11 ? "priced" : "delivered"
  const among = die.once(4) ? sim.orders : yield* idsIn(ready)
  const subscriptionId = among[die.roll(Math.max(1, among.length))] ?? sim.orders.at(-1) ?? "none"
  const params = { subscriptionId }
  const found = yield* orderOf(subscriptionId)
  const order = found._tag === "Some" ? found.value : undefined
  if (what < 3) {
    const holderId = die.pick(holderIds)
    const cents = BigInt(1 + die.roll(5_000_000))
    const made = `s${sim.orders.length + 1}`
    sim.orders.push(made)
    const body = `{"subscriptionId":"${made}","instrumentId":"fund-a","holderId":"${holderId}","payment":"wire","amount":${plain(cents, 2)}}`
    const act = { kind: "claim", subscriptionId: made, holderId, cents } as const
    return yield* submit(sim, "subscription.claim", { params: {}, body, act })
  }
  if (what < 7) return order === undefined ? undefined : yield* attest(sim, order)
  if (what < 11 && order !== undefined) {
    const paid = yield* lines(sim, centsOf(order))
    const act = { kind: "deliver", subscriptionId, lines: paid } as const
    return yield* submit(sim, "subscription.deliver", { params, body: cash(paid), act })
  }
  if (what < 14) {
    const act = { kind: "settle", subscriptionId, lines: [] } as const
    return yield* submit(sim, "subscription.settle", { params, body: cash([]), act })
  }
  if (what === 14) {
    const kind = die.pick(["withdraw" as const, "release" as const])
    const act = { kind, subscriptionId } as const
    return yield* submit(sim, `subscription.${kind}`, { params, body: "{}", act })
  }
  if (what === 15) return yield* record(sim)
  if (what === 16) return yield* decide(sim)
  if (what === 17) return yield* again(sim)
  if (what === 18) sim.faults.replace(Faults.plan(die))
  else if (die.once(2)) yield* sim.kill
  yield* Passing.seconds(die.pick([1, 1, 2, 5, 20]))
})

const record = (sim: Simulation) => {
  const instrumentId = `i${++sim.count}`
  const { stage } = sim
  const body = JSON.stringify({
    ...bodyOf(),
    instrumentId,
    registrar: stage.registrar.party,
    oracle: stage.oracle.party
  })
  const act = { kind: "record", instrumentId, maker: "" } as const
  return submit(sim, "instrument.record", { params: {}, body, act })
}

/**
 * Approves or rejects an action as any person: its maker, an auditor and one who decided before
 * among them.
 */
const decide = Effect.fnUntraced(function* (sim: Simulation) {
  const one = sim.awaiting[sim.die.roll(Math.max(1, sim.awaiting.length))]
  if (one === undefined) return
  const who = sim.die.pick(staff)
  if (sim.die.once(4)) return yield* Calls.slug(Calls.reject(one.actionKey, who))
  const answer = yield* Effect.result(Calls.approve(one.actionKey, who))
  if (Result.isFailure(answer)) return
  const operationId = Calls.field(answer.success, "operationId")
  if (operationId !== null) sim.auditor.opened(String(operationId), one.act)
})

/** The same request under the same key is the same operation, however late. */
const again = Effect.fnUntraced(function* (sim: Simulation) {
  const one = sim.sent[sim.die.roll(Math.max(1, sim.sent.length))]
  if (one === undefined) return
  const answer = yield* Calls.submit(one.write, one.caller, one.call)
  const operationId = String(Calls.field(answer, "operationId"))
  if (operationId !== one.operationId) throw new Error("audit: a repeat opened another operation")
})

/** The engine's own records at one moment. */
const recordsNow = Effect.fnUntraced(function* (
  prologue: ReadonlySet<string>,
  parties: ReadonlyMap<string, string>
) {
  const records = yield* Records
  const feed = yield* Feed
  const now = yield* Instant.now
  const head = yield* feed.head
  const pin = {
    offset: head.projectionOffset as never,
    ledgerTime: null,
    select: { by: "snapshot" as const, instant: Instant.of(head.at) },
    judgedAt: now
  }
  const limit = 10_000
  const ran = yield* records.list(operations, { limit, pin })
  const held = yield* records.list(registerEntries, { limit, pin })
  const orders = yield* records.list(subscriptions, { limit, pin })
  const recorded = yield* records.list(instruments, { limit, pin })
  const holderOf = new Map([...parties].map(([holderId, party]) => [party, holderId]))
  return {
    operations: ran
      .map(({ record }) => record)
      .filter(({ operationId }) => !prologue.has(operationId))
      .map(({ operationId, state, signedBy }) => ({
        operationId,
        state,
        signedBy: signedBy ?? []
      })),
    register: new Map(
      held.map(({ record }) => [holderOf.get(record.party) ?? record.party, parts(record.units, 6)])
    ),
    orders: new Map(
      orders.map(({ record }) => [
        record.subscriptionId as string,
        {
          state: record.state as string,
          matched: parts(record.cash.matched, 2),
          units: record.units === null ? null : parts(record.units, 6)
        }
      ])
    ),
    instruments: new Set(
      recorded.map(({ record }) => record.instrumentId as string).filter((id) => id !== "fund-a")
    )
  } satisfies Told
})

/** The ledger's own active contracts, read from the node without the engine's code. */
const stands = Effect.fnUntraced(function* (parties: ReadonlyMap<string, string>) {
  const participant = yield* SimulatedLedger.Participant
  const at = yield* participant.ledgerEnd
  const byParty = new Map<Party.Party, typeof SimulatedLedger.Views.everything>()
  for (const { party } of yield* participant.admin.parties) {
    byParty.set(party, SimulatedLedger.Views.everything)
  }
  const user = {
    userId: "auditor",
    tokenHash: null,
    rights: [...byParty.keys()].map((party) => ({ kind: "CanReadAs" as const, party })),
    expiresAt: null,
    active: true
  }
  const all = yield* Stream.runCollect(
    participant.acs(user, { at, reading: { shape: "ACS_DELTA", byParty } })
  )
  const contractsOf = (template: Templates.Template) =>
    all.filter((one) => Templates.same(one.template, template.typeRef))
  const holderOf = new Map([...parties].map(([holderId, party]) => [party, holderId]))
  const held = new Map<string, bigint>()
  for (const { payload } of contractsOf(Templates.Holding)) {
    const holderId = holderOf.get(String(payload["owner"])) ?? String(payload["owner"])
    const units = parts(Decimal.of(String(payload["amount"])), 6)
    held.set(holderId, (held.get(holderId) ?? 0n) + units)
  }
  return {
    held,
    claims: contractsOf(Templates.SubscriptionClaim).length,
    lots: contractsOf(Templates.Lot).length,
    delivered: contractsOf(Templates.DeliveredLot).length
  }
})

export interface Summary {
  readonly seed: number
  readonly steps: number
  readonly operations: number
  readonly succeeded: number
  readonly failed: number
  /** Number of orders in each state. */
  readonly orders: Readonly<Record<string, number>>
  readonly kills: number
}

const counted = (some: ReadonlyArray<string>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const one of some.toSorted()) counts[one] = (counts[one] ?? 0) + 1
  return counts
}

/** Walks so many steps by the seed; dies with the audit's complaint. */
export const simulate = (options: { readonly seed: number; readonly steps: number }) => {
  const faults = SimulatedLedger.Faults.make()
  const story = Effect.gen(function* () {
    const { stage, parties } = yield* ready
    const before = yield* prologue
    const worker = yield* instance
    const oracle = stage.oracle
    let kills = 0
    const sim: Simulation = {
      die: Faults.dice(options.seed),
      auditor: new Auditor(),
      faults,
      kill: Effect.andThen(
        Effect.sync(() => {
          kills += 1
        }),
        worker.kill
      ),
      oracle: wallet(yield* SimulatedLedger.Participant, oracle.party),
      attestor: wallet(yield* SimulatedLedger.Participant, stage.attestor.party),
      stage,
      sent: [],
      orders: [],
      points: new Map(),
      awaiting: [],
      bank: [],
      planted: new Set(),
      count: 0
    }
    for (let taken = 0; taken < options.steps; taken++) {
      yield* step(sim)
      // The engine works beside them; more often than not it comes to something in between.
      if (!sim.die.once(3)) yield* Passing.seconds(1)
      sim.auditor.audit(yield* recordsNow(before, parties))
    }
    faults.replace({})
    const ended = Effect.map(recordsNow(before, parties), ({ operations }) =>
      operations.every(({ state }) => state === "succeeded" || state === "failed")
    )
    yield* Passing.until(ended, 3_600)
    // The slowest word of the ledger has come, and is projected.
    yield* Passing.seconds(30)
    const last = yield* recordsNow(before, parties)
    sim.auditor.close(last, yield* stands(parties))
    return {
      ...options,
      operations: last.operations.length,
      succeeded: last.operations.filter(({ state }) => state === "succeeded").length,
      failed: last.operations.filter(({ state }) => state === "failed").length,
      orders: counted([...last.orders.values()].map(({ state }) => state)),
      kills
    } satisfies Summary
  })
  return story.pipe(
    Effect.provide(
      Layer.fresh(
        Engine.layerOf({ operations: Catalogue.operations, fromLedger: Catalogue.fromLedger })
      ).pipe(Layer.provideMerge(ports({ faults, settings: { lease: 9_000 } })))
    )
  )
}

let acts = 0
/**
 * A party's hand, which acts with its own right alone, also while no token is valid and answers are lost: a
 * wallet of the venue has a token, and no patience.
 */
const wallet = (participant: SimulatedLedger.Participant["Service"], party: Party.Party) => {
  const user = {
    userId: party,
    tokenHash: null,
    rights: [{ kind: "CanActAs" as const, party }],
    expiresAt: null,
    active: true
  }
  /** An answer that was lost is asked for again, under the same command id, until there is one. */
  const act = (...said: ReadonlyArray<Templates.Command>) => {
    const commandId = `${party.slice(0, 8)}-${++acts}`
    const attempt = Effect.suspend(() =>
      participant.submit(user, {
        commandId,
        actAs: [party],
        readAs: [],
        commands: said,
        dedup: null,
        submissionId: `${++acts}`,
        workflowId: null,
        disclosed: [],
        minLedgerTime: null,
        traceparent: null
      })
    )
    return attempt.pipe(
      Effect.retry({ while: ({ code }) => code === "SERVICE_NOT_RUNNING", times: 50 }),
      Effect.orDie
    )
  }
  return { party, act }
}
