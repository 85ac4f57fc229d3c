/**
 * Property of booked entries over the engine: however the bank's statements overlap, are corrected and
 * take entries back, orders take of each entry of the bank's ledger what a book beside the engine says,
 * and never more than the entry has.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Date, Decimal } from "@bursar/engine-core/kernel"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { assert, test } from "vitest"
import { cashLines } from "#core/orders/order/CashTaking.ts"
import * as StatementQueries from "#core/overviews/external-statement/StatementQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { isLong } from "../long-run.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const orderAmount = 50_000
const orderCount = 8
const days = 4

// ---- the bank's ledger

/**
 * How an entry is told from others: by the bank's reference, by the payer's, or by nothing, as all
 * entries of a day and an amount that one payer sends under one reference.
 */
type Naming = "bank" | "payer" | "twin"

interface Booked {
  readonly id: number
  readonly day: number
  readonly amount: number
  readonly naming: Naming
  /** The entry that this one takes back; null: it is a payment. */
  readonly takesBack: number | null
}

const dateOf = (day: number) => Date.of(`2026-07-${String(20 + day)}`)

/** The entry as a statement shows it. */
const shownAs = ({ amount, day, id, naming, takesBack }: Booked): Bank.Entry => {
  const own = takesBack ?? id
  return {
    amount: String(amount),
    bookingDate: dateOf(day),
    valueDate: dateOf(day),
    bankReference: naming === "bank" ? `B${own}` : null,
    reference: naming === "twin" ? "fund" : `payer ${own}`,
    ...(takesBack === null ? {} : { direction: "debit", reversal: true })
  }
}

// ---- the book beside the engine

interface Line {
  readonly booked: Booked
  /** Name of the entry: twins are numbered in the order of their statement. */
  readonly key: string
}

interface Statement {
  readonly id: string
  readonly source: number
  readonly from: number
  readonly through: number
  readonly lines: ReadonlyArray<Line>
}

/** Cash that an order took of an entry by a line of a statement, or of the corrections of it. */
interface Taking {
  statementId: string
  readonly key: string
  readonly amount: number
  /** Part of the amount that the statement in force has a line for. */
  held: number
}

interface Book {
  readonly ledger: Array<Booked>
  readonly inForce: Map<string, Statement>
  readonly takings: Array<Taking>
  statements: number
  orders: number
  /** Deliveries that were refused and that were made, so that a history says what it tried. */
  readonly tried: { refused: number; made: number; moved: number; lost: number; takenBack: number }
}

const keysOf = (booked: ReadonlyArray<Booked>): ReadonlyArray<Line> => {
  const counts = new Map<string, number>()
  return booked.map((each) => {
    if (each.naming !== "twin") return { booked: each, key: String(each.id) }
    const equal = `${each.day} ${each.amount}`
    const nth = (counts.get(equal) ?? 0) + 1
    counts.set(equal, nth)
    return { booked: each, key: `twin ${equal} ${nth}` }
  })
}

const linesOf = (
  { ledger }: Book,
  statement: Pick<Statement, "source" | "from" | "through"> & { readonly without: number | null }
) => {
  const own = ledger.filter(
    ({ day, id }) => day >= statement.from && day <= statement.through && id !== statement.without
  )
  // The second source lists the newest entry first.
  return keysOf(statement.source === 1 ? own.toReversed() : own)
}

const takenOf = ({ takings }: Book, key: string) =>
  takings.reduce((sum, taking) => sum + (taking.key === key ? taking.held : 0), 0)

/** Entries that some statement in force says are taken back. */
const takenBack = ({ inForce }: Book) =>
  new Set(
    [...inForce.values()].flatMap(({ lines }) =>
      lines.flatMap(({ booked: { takesBack } }) => (takesBack === null ? [] : [String(takesBack)]))
    )
  )

/** Moves the takings of a corrected statement to its correction: first what is held, then what was lost. */
const corrected = (book: Book, before: Statement, after: Statement) => {
  const own = book.takings.filter(({ statementId }) => statementId === before.id)
  const amounts = new Map(after.lines.map(({ booked, key }) => [key, booked.amount]))
  const held = own.filter((taking) => taking.held > 0)
  const wanted = [
    ...held.map((taking) => ({ taking, amount: taking.held })),
    ...own.map((taking) => ({ taking, amount: taking.amount - taking.held }))
  ]
  const heldBefore = new Map(held.map((taking) => [taking, taking.held]))
  for (const taking of own) {
    taking.held = 0
    taking.statementId = after.id
  }
  for (const { amount, taking } of wanted) {
    const left = (amounts.get(taking.key) ?? 0) - takenOf(book, taking.key)
    const moved = Math.max(0, Math.min(amount, left))
    taking.held += moved
    book.tried.moved += moved > 0 ? 1 : 0
    book.tried.lost += moved < amount ? 1 : 0
  }
  for (const [taking, amount] of heldBefore) if (taking.held === 0) copied(book, taking, amount)
}

/** Leaves cash that a correction has no line for in the first other statement that states its entry. */
const copied = (book: Book, taking: Taking, amount: number) => {
  const [first] = [...book.inForce.values()]
    .filter(({ lines }) =>
      lines.some(
        ({ booked, key }) =>
          key === taking.key && booked.amount - takenOf(book, taking.key) >= amount
      )
    )
    .toSorted((a, b) => a.through - b.through || (a.id < b.id ? -1 : 1))
  if (first === undefined) return
  taking.statementId = first.id
  taking.held = amount
}

// ---- steps

type Step =
  | {
      readonly step: "book"
      readonly day: number
      readonly amount: number
      readonly naming: Naming
    }
  | { readonly step: "take-back"; readonly at: number; readonly after: number }
  | {
      readonly step: "state"
      readonly source: number
      readonly from: number
      readonly through: number
    }
  | { readonly step: "correct"; readonly at: number; readonly leavesOut: number | null }
  | { readonly step: "take"; readonly at: number; readonly second: number | null }

const nat = fc.nat({ max: 1_000 })
const day = fc.nat({ max: days - 1 })
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant("book" as const),
      day,
      amount: fc.constantFrom(50_000, 100_000),
      naming: fc.constantFrom<Naming>("bank", "payer", "twin")
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant("take-back" as const), at: nat, after: day })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant("state" as const),
      source: fc.nat({ max: 1 }),
      from: day,
      through: day
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("correct" as const),
      at: nat,
      leavesOut: fc.option(nat, { nil: null })
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant("take" as const),
      at: nat,
      second: fc.option(nat, { nil: null })
    })
  }
)

const nth = <A>(all: ReadonlyArray<A>, at: number): A | undefined => all[at % all.length]

/** Half of the time one of those that a history is to come back to, where there are any. */
const rather = <A>(
  all: ReadonlyArray<A>,
  at: number,
  isPreferred: (one: A) => boolean
): A | undefined => {
  const preferred = at % 2 === 0 ? all.filter(isPreferred) : []
  return nth(preferred.length > 0 ? preferred : all, Math.floor(at / 2))
}

/** Whether a correction lost cash of an entry, or of a statement's lines. */
const hasLost = (book: Book, sought: Partial<Pick<Taking, "key" | "statementId">>) =>
  book.takings.some(
    (taking) =>
      taking.held < taking.amount &&
      (sought.key === undefined || taking.key === sought.key) &&
      (sought.statementId === undefined || taking.statementId === sought.statementId)
  )

const states = Effect.fnUntraced(function* (
  book: Book,
  range: Pick<Statement, "source" | "from" | "through">,
  as: { readonly corrects?: Statement; readonly without?: number | null } = {}
) {
  const lines = linesOf(book, { ...range, without: as.without ?? null })
  const statement = { ...range, id: `book-${++book.statements}`, lines }
  yield* Bank.states({
    id: statement.id,
    source: `source${range.source}`,
    businessDate: dateOf(range.through),
    entries: lines.map(({ booked }) => shownAs(booked)),
    ...(as.corrects === undefined ? {} : { corrects: as.corrects.id })
  })
  if (as.corrects !== undefined) {
    book.inForce.delete(as.corrects.id)
    corrected(book, as.corrects, statement)
  }
  book.inForce.set(statement.id, statement)
})

/** An order names one line, or two with half of its cash each. */
const takes = Effect.fnUntraced(function* (
  book: Book,
  { at, second }: Extract<Step, { readonly step: "take" }>
) {
  const payments = [...book.inForce.values()].flatMap(({ id, lines }) =>
    lines.flatMap(({ booked, key }, index) =>
      booked.takesBack === null ? [{ id, key, line: index + 1, amount: booked.amount }] : []
    )
  )
  const one = rather(payments, at, ({ key }) => hasLost(book, { key }))
  const two = second === null ? undefined : nth(payments, second)
  if (one === undefined || book.orders === orderCount) return
  const named = two === undefined || two === one ? [one] : [one, two]
  const amount = orderAmount / named.length
  const back = takenBack(book)
  const sums = new Map<string, number>()
  for (const { key } of named) sums.set(key, (sums.get(key) ?? 0) + amount)
  const isPaid = named.every(
    (line) =>
      !back.has(line.key) && takenOf(book, line.key) + (sums.get(line.key) ?? 0) <= line.amount
  )
  const subscriptionId = `s${book.orders}`
  const cash = named.map(({ id, line }) => ({ statementId: id, line, amount }))
  const { why } = yield* Calls.write("subscription.deliver", { subscriptionId }, { cash })
  assert.strictEqual(why, isPaid ? "" : "rule-refused cash line-left")
  if (named.some(({ key }) => back.has(key))) book.tried.takenBack++
  if (!isPaid) {
    book.tried.refused++
    return
  }
  book.tried.made++
  book.orders++
  for (const { id, key } of named) book.takings.push({ statementId: id, key, amount, held: amount })
})

const does = Effect.fnUntraced(function* (book: Book, step: Step) {
  const id = book.ledger.length
  switch (step.step) {
    case "book":
      book.ledger.push({ ...step, id, takesBack: null })
      return
    case "take-back": {
      const backs = new Set(book.ledger.map(({ takesBack }) => takesBack))
      const own = book.ledger.filter(
        (each) => each.takesBack === null && each.naming !== "twin" && !backs.has(each.id)
      )
      const taking = nth(own, step.at)
      if (taking !== undefined) {
        book.ledger.push({
          ...taking,
          id,
          day: Math.max(taking.day, step.after),
          takesBack: taking.id
        })
      }
      return
    }
    case "state": {
      const { source } = step
      const [from, through] = [Math.min(step.from, step.through), Math.max(step.from, step.through)]
      const before = [...book.inForce.values()].find(
        (other) => other.source === source && other.through === through
      )
      // One statement of a source is in force for a date: another one corrects it.
      yield* states(
        book,
        { source, from: Math.min(from, before?.from ?? from), through },
        before === undefined ? {} : { corrects: before }
      )
      return
    }
    case "correct": {
      const before = rather([...book.inForce.values()], step.at, ({ id }) =>
        step.leavesOut === null
          ? hasLost(book, { statementId: id })
          : book.takings.some(({ held, statementId }) => held > 0 && statementId === id)
      )
      if (before === undefined) return
      const named = before.lines.filter(({ booked }) => booked.naming !== "twin")
      const isTaken = ({ key }: Line) =>
        book.takings.some((taking) => taking.statementId === before.id && taking.key === key)
      const without =
        step.leavesOut === null ? null : (rather(named, step.leavesOut, isTaken)?.booked.id ?? null)
      yield* states(book, before, { corrects: before, without })
      return
    }
    case "take":
      yield* takes(book, step)
  }
})

/** Every history begins with entries of two days, two of them equal, that both sources state. */
const overlapping: ReadonlyArray<Step> = [
  { step: "book", day: 0, amount: 50_000, naming: "bank" },
  { step: "book", day: 1, amount: 50_000, naming: "payer" },
  { step: "book", day: 1, amount: 50_000, naming: "twin" },
  { step: "book", day: 1, amount: 50_000, naming: "twin" },
  { step: "state", source: 0, from: 0, through: 1 },
  { step: "state", source: 1, from: 0, through: 1 }
]

// ---- laws

/** What orders took of each entry, by the lines of the statements in force, agrees with the book. */
const demandAgreement = Effect.fnUntraced(function* (book: Book) {
  const records = yield* Records
  const found = yield* records.list(cashLines, { limit: 1_000 })
  const sums = new Map<string, number>()
  for (const { record } of found) {
    const taken = Number(Decimal.formatPlain(record.taken))
    if (taken === 0) continue
    const line = book.inForce.get(record.statementId)?.lines[record.line - 1]
    assert.isDefined(line, `${record.statementId}:${record.line} is not in force and has ${taken}`)
    if (line === undefined) continue
    const sum = (sums.get(line.key) ?? 0) + taken
    sums.set(line.key, sum)
    assert.isAtMost(sum, line.booked.amount, `entry ${line.key}`)
  }
  const own = new Set(book.takings.filter(({ held }) => held > 0).map(({ key }) => key))
  assert.deepStrictEqual(
    Object.fromEntries(sums),
    Object.fromEntries([...sums.keys(), ...own].map((key) => [key, takenOf(book, key)]))
  )
})

/** Every line in force shows what was taken of its entry, and whether it was taken back. */
const demandShown = Effect.fnUntraced(function* (book: Book) {
  const queries = yield* Queries
  const back = takenBack(book)
  for (const { id, lines } of book.inForce.values()) {
    const { rows } = yield* queries.streamed(StatementQueries.get, {
      caller: Calls.operator,
      params: { externalStatementId: id as never },
      point: {}
    })
    const views = rows === null ? [] : yield* Stream.runCollect(rows)
    const shown = views.map((line) =>
      line.kind === "cash"
        ? [Number(Decimal.formatPlain(line.taken)), line.reversedBy !== null]
        : []
    )
    assert.deepStrictEqual(
      shown,
      lines.map(({ key }) => [takenOf(book, key), back.has(key)])
    )
  }
})

/** The fund with its priced orders of 50,000 each. */
const priced = Effect.gen(function* () {
  const stage = yield* Fund.opened()
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  const orders = Array.from({ length: orderCount }, (_, at) => `s${at}`)
  for (const subscriptionId of orders) {
    const order = { subscriptionId, instrumentId: "fund-a", holderId: "h1", payment: "wire" }
    yield* Calls.write("subscription.claim", {}, { ...order, amount: orderAmount })
  }
  yield* Cycles.at(Cycles.friday)
  yield* Fund.publishes(stage, "1", Cycles.friday)
  for (const id of orders) {
    yield* Cycles.attests(stage, { id, units: String(orderAmount), price: "1" })
  }
})

const history = (all: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    yield* priced
    const book: Book = {
      ...{ ledger: [], inForce: new Map(), takings: [], statements: 0, orders: 0 },
      tried: { refused: 0, made: 0, moved: 0, lost: 0, takenBack: 0 }
    }
    for (const step of [...overlapping, ...all]) {
      yield* does(book, step)
      yield* demandAgreement(book)
    }
    yield* demandShown(book)
    return book.tried
  })

const numRuns = isLong ? 40 : 8

test("orders take of each entry of the bank's ledger what its book says, and never more than it has", async () => {
  const all = { refused: 0, made: 0, moved: 0, lost: 0, takenBack: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 15, maxLength: 40 }), async (given) => {
      const tried = await Calls.runCase(Effect.provide(history(given), world()))
      for (const name of ["refused", "made", "moved", "lost", "takenBack"] as const) {
        all[name] += tried[name]
      }
    }),
    // To shrink a history plays hundreds of them, which the long run alone has the time for.
    { seed: 3304, numRuns, endOnFailure: !isLong }
  )
  // The histories did what they are about.
  for (const [name, count] of Object.entries(all)) assert.isAbove(count, 0, name)
})
