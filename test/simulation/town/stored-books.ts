/** Audit of the stored rows when a town has ended: each record is the fold of its facts, each movement leaves the balance that it states. */
import { Catalogue, type Collection, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Documents, FactLog, type FactRow, Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { lots } from "#core/instruments/lot/Lot.ts"
import { movements, partyMovements } from "#core/instruments/register/Movement.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Codecs from "#core/records/Codecs.ts"
import { holds, same } from "../books.ts"
import { add, atoms, type Atoms, cent, halfUp, whole } from "./figures.ts"
import { note, type Town } from "./town.ts"

const page = 5_000

const factsOf = Effect.fnUntraced(function* (collection: string) {
  const log = yield* FactLog
  const byRecord = new Map<string, Array<FactRow>>()
  let after: { readonly recordId: string; readonly version: number } | undefined
  for (;;) {
    const rows = yield* log.scan({
      collection,
      limit: page,
      ...(after === undefined ? {} : { after })
    })
    for (const row of rows) {
      const versions = byRecord.get(row.recordId)
      if (versions === undefined) byRecord.set(row.recordId, [row])
      else versions.push(row)
    }
    after = rows.at(-1)
    if (rows.length < page) return byRecord
  }
})

/** The body that a record's facts come to, read one after the other. */
const folded = <R, F>(collection: Collection<R, F>, rows: ReadonlyArray<FactRow>): string => {
  const codecs = Codecs.of(collection)
  let self: R | undefined
  for (const [nth, row] of rows.entries()) {
    same(row.version, nth + 1, `the versions of ${collection.name} ${row.recordId}`)
    if (self === undefined) {
      const opened = /^\{"on":"open","record":(.*)\}$/su.exec(row.fact)
      self = codecs.decodeRecord(opened?.[1] ?? "")
    } else self = collection.evolve(self, codecs.decodeFact(row.fact))
  }
  if (self === undefined) throw new Error("audit: a record without a fact")
  return codecs.encodeRecord(self)
}

const folds = Effect.fnUntraced(function* (town: Town) {
  const documents = yield* Documents
  for (const collection of Catalogue.collections) {
    const facts = yield* factsOf(collection.name)
    const stored = yield* documents.get({
      collection: collection.name,
      recordIds: [...facts.keys()],
      pin: { by: "latest" }
    })
    note(town, "records folded", stored.length)
    same(stored.length, facts.size, `how many ${collection.name} there are`)
    for (const { body, recordId } of stored) {
      const rows = facts.get(recordId) ?? []
      holds(folded(collection, rows) === body, `${collection.name} ${recordId} is not its facts`)
    }
  }
})

/** Units that came, went, or were only locked, added up by hand: each movement left what it says it did. */
const moved = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const limit = 1_000_000
  const all = (yield* records.list(movements, { limit })).map(({ record }) => record)
  const supply = new Map<string, bigint>()
  const held = new Map<string, bigint>()
  const after = new Map<string, bigint>()
  const seqs = new Map<string, number>()
  const inTurn = all.toSorted((a, b) => a.seq - b.seq)
  for (const { balanceAfter, from, instrumentId, kind, registrar, seq, to, units } of inTurn) {
    const asset = `${registrar} ${instrumentId}`
    same(seq, (seqs.get(asset) ?? 0) + 1, `the number of a movement of ${instrumentId}`)
    seqs.set(asset, seq)
    const amount = atoms(Decimal.formatPlain(units))
    if (kind !== "lock" && kind !== "unlock") {
      if (from === null) add(supply, asset, amount)
      else add(held, `${asset} ${from}`, -amount)
      if (to === null) add(supply, asset, -amount)
      else add(held, `${asset} ${to}`, amount)
    }
    const shownBalance = atoms(Decimal.formatPlain(balanceAfter))
    same(
      shownBalance,
      supply.get(asset) ?? 0n,
      `what movement ${seq} of ${instrumentId} left (${kind})`
    )
    for (const party of new Set([from, to])) {
      if (party === null) continue
      const left = held.get(`${asset} ${party}`) ?? 0n
      holds(left >= 0n, `${party} had ${left} of ${instrumentId} after ${seq}`)
      after.set(`${asset} ${party} ${seq}`, left)
    }
  }
  for (const { record } of yield* records.list(partyMovements, { limit })) {
    const { balanceAfter, instrumentId, party, registrar, seq } = record
    const key = `${registrar} ${instrumentId} ${party} ${seq}`
    same(atoms(Decimal.formatPlain(balanceAfter)), after.get(key), `what ${key} left`)
    after.delete(key)
  }
  same([...after.keys()].slice(0, 3), [], "movements that a party is not shown")
  for (const { instrumentId, registrar } of town.funds) {
    const asset = `${registrar.party} ${instrumentId}`
    same(
      supply.get(asset) ?? 0n,
      town.observer.supply(instrumentId),
      `${instrumentId} by its movements`
    )
  }
  note(town, "movements added up", all.length)
})

/** A lot as the auditor keeps it, in atoms of units and of cash. */
interface Kept {
  readonly id: string
  readonly at: bigint
  left: bigint
  cost: bigint | null
}

const toCents = (amount: Atoms): Atoms => halfUp(amount, cent) * cent

/** Lots by hand, oldest first, from the movements and from what each subscription was paid. */
export const keptLots = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const limit = 1_000_000
  const paid = new Map<string, bigint>()
  for (const { record } of yield* records.list(subscriptions, { limit })) {
    const { cash, refund, subscriptionId } = record
    if (cash.expected === null || refund === null) continue
    const net = Decimal.subtract(cash.expected, refund)
    paid.set(subscriptionId, atoms(Decimal.formatPlain(net)))
  }
  const books = new Map<string, Array<Kept>>()
  const all = (yield* records.list(movements, { limit })).map(({ record }) => record)
  for (const movement of all.toSorted((a, b) => a.offset - b.offset || a.seq - b.seq)) {
    const { from, instrumentId, kind, ledgerTime, reference, registrar, seq, to, units } = movement
    if (from === to) continue
    const bookOf = (party: string) => {
      const key = `${registrar}/${instrumentId}/${party}`
      const book = books.get(key) ?? []
      books.set(key, book)
      return book
    }
    const idOf = (place: number) =>
      [seq, place].map((count) => String(count).padStart(16, "0")).join("/")
    let wanted = atoms(Decimal.formatPlain(units))
    if (from === null) {
      const bought = kind === "subscription" ? (reference?.id ?? "") : ""
      // Units of a distribution cost the income that they are paid for: at par, or at the ex price.
      const price = town.distributions?.months.get(reference?.id ?? "")?.payoutPrice ?? whole
      const cost =
        kind === "distribution" ? toCents((wanted * price) / whole) : (paid.get(bought) ?? null)
      const id = paid.has(bought) ? bought : idOf(0)
      bookOf(to ?? "").push({ id, at: ledgerTime, left: wanted, cost })
      continue
    }
    for (let place = 0; wanted > 0n; place += 1) {
      const [oldest] = bookOf(from)
        .filter(({ left }) => left > 0n)
        .sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1))
      if (oldest === undefined) throw new Error(`audit: ${from} gave what no lot of it has`)
      const part = oldest.left < wanted ? oldest.left : wanted
      const half = oldest.left * cent
      const cost =
        oldest.cost === null
          ? null
          : part === oldest.left
            ? oldest.cost
            : ((2n * oldest.cost * part + half) / (2n * half)) * cent
      oldest.left -= part
      if (oldest.cost !== null && cost !== null) oldest.cost -= cost
      wanted -= part
      if (to !== null) bookOf(to).push({ id: idOf(place), at: oldest.at, left: part, cost })
    }
  }
  return books
})

/** Every open lot is one that the auditor keeps, with its date, its units and its cost. */
const lotsKept = Effect.fnUntraced(function* (town: Town) {
  const records = yield* Records
  const text = (key: string, { at, cost, id, left }: Kept) => `${key} ${id} ${at} ${left} ${cost}`
  const expected = [...(yield* keptLots(town))].flatMap(([key, book]) =>
    book.filter(({ left }) => left > 0n).map((lot) => text(key, lot))
  )
  const stored = (yield* records.list(lots, { limit: 1_000_000 }))
    .map(({ record }) => record)
    .filter(({ remaining }) => Decimal.isPositive(remaining))
    .map(({ acquiredAt, costLeft, instrumentId, lotId, party, registrar, remaining }) =>
      text(`${registrar}/${instrumentId}/${party}`, {
        id: lotId,
        at: acquiredAt,
        left: atoms(Decimal.formatPlain(remaining)),
        cost: costLeft === null ? null : atoms(Decimal.formatPlain(costLeft))
      })
    )
  same(stored.toSorted(), expected.toSorted(), "the lots of the parties")
  note(town, "lots kept", stored.length)
})

/**
 * An event of an operation or an action is found by the instrument and the holder that its record
 * states, and by no others: but for writes that name several holders, whose record states one or none.
 */
const concerned = Effect.fnUntraced(function* (town: Town) {
  const feed = yield* Feed
  const records = yield* Records
  const { events } = yield* feed.read({ order: "asc", limit: 1_000_000 })
  const several =
    /^(?:holder\.(?:register-successor|recover|force-transfer|restrict-batch)|instrument\.(?:recover|force-transfer)|standing-settlement\.)/u
  let compared = 0
  for (const { holderIds, instrumentId, payload, resourceId, resourceKind, type } of events) {
    if (!/^(?:operation|approval)\./u.test(type)) continue
    const collection = Catalogue.collections.find(({ name }) => name === resourceKind)
    const columns = collection?.filters
    if (collection === undefined || columns === undefined) continue
    const found = yield* records.many(collection, [resourceId])
    const [record] = found
    // A write that was refused has made no record.
    if (record === undefined) continue
    const kind = String((JSON.parse(payload) as { readonly kind: string }).kind)
    const about = `${type} of ${kind} ${resourceId}`
    // A batch states an instrument only where it is that of all its entries.
    const isOfSeveral = several.test(kind) && instrumentId === null
    if (columns["instrumentId"] !== undefined && resourceKind !== "holder" && !isOfSeveral) {
      same(instrumentId, columns["instrumentId"](record), `the instrument of ${about}`)
    }
    if (columns["holderId"] !== undefined && !several.test(kind)) {
      const holderId = columns["holderId"](record)
      same(holderIds, holderId === null ? [] : [holderId], `the holders of ${about}`)
    }
    compared += 1
  }
  note(town, "events of writes compared with their records", compared)
})

export const audit = Effect.fnUntraced(function* (town: Town) {
  yield* folds(town)
  yield* concerned(town)
  yield* moved(town)
  yield* lotsKept(town)
})
