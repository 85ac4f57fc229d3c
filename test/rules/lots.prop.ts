/**
 * Laws of lots over random histories of every kind of movement: units and cost are conserved to the
 * last place, and a second, plain computation gives the same lots.
 */
import { Decimal, Instant, Party } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as LotsHoldings from "#core/reconciliation/run/checks/LotsHoldings.ts"
import type { Acquisition, Lot } from "#core/instruments/lot/Lot.ts"
import * as LotRules from "#core/instruments/lot/LotRules.ts"
import { idOf } from "#core/instruments/register/RegisterEntry.ts"
import { MovementKind } from "#core/vocabulary/sets.ts"

const party = (hint: string) => Party.make({ hint, fingerprint: `1220${"ab".repeat(32)}` })
const parties = ["alice", "bob", "carol"].map(party)
const funds = ["fund", "bond"].map((instrumentId) => ({ registrar: party("reg"), instrumentId }))

/** Direction of each kind of movement; `rebase` is shown in statements and moves nothing. */
const directions: Readonly<Record<MovementKind, "in" | "out" | "across" | "stays">> = {
  mint: "in",
  subscription: "in",
  distribution: "in",
  burn: "out",
  redemption: "out",
  transfer: "across",
  "forced-transfer": "across",
  recovery: "across",
  lock: "stays",
  unlock: "stays",
  rebase: "stays"
}

interface Command {
  readonly kind: MovementKind
  readonly fund: number
  readonly party: number
  readonly other: number
  /** Units that come in. */
  readonly units: bigint
  /** Thousandths of a holder's units that leave, rounded up to a whole atom. */
  readonly part: bigint
  /** Cost in hundredths; null: the units come without a price. */
  readonly cost: bigint | null
  /** Seconds since the movement before. */
  readonly later: number
}

const commands = fc.array(
  fc.record<Command>({
    kind: fc.constantFrom(...MovementKind.members),
    fund: fc.nat(funds.length - 1),
    party: fc.nat(parties.length - 1),
    other: fc.nat(parties.length - 1),
    units: fc.oneof(
      fc.bigInt({ min: 1n, max: 30n }),
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.constant(10n ** 10n)
    ),
    part: fc.oneof(fc.constant(1000n), fc.bigInt({ min: 1n, max: 1000n })),
    cost: fc.option(
      fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 10n ** 12n }))
    ),
    later: fc.constantFrom(0, 0, 1, 86_400)
  }),
  { maxLength: 40, size: "max" }
)

const hundredths = (count: bigint) => Decimal.fromAtoms(count * 10n ** 8n)
const begin = Instant.of("2026-07-01T00:00:00Z")

/** Plays commands into movements that every party can cover. */
const played = (all: ReadonlyArray<Command>): ReadonlyArray<LotRules.Step> => {
  const balances = new Map<string, bigint>()
  const counts = new Map<string, number>()
  let now: bigint = begin
  return all.flatMap(({ kind, later, ...command }): ReadonlyArray<LotRules.Step> => {
    now += BigInt(later) * 10n ** 9n
    const asset = funds[command.fund]
    if (asset === undefined) return []
    const direction = directions[kind]
    const heldBy = (owner: Party.Party) => balances.get(idOf({ ...asset, party: owner })) ?? 0n
    const able = direction === "in" ? parties : parties.filter((owner) => heldBy(owner) > 0n)
    const self = able[command.party % able.length]
    if (self === undefined) return []
    const others = parties.filter((owner) => owner !== self)
    const that = others[command.other % others.length] ?? self
    const add = (to: Party.Party, units: bigint) => {
      const id = idOf({ ...asset, party: to })
      balances.set(id, (balances.get(id) ?? 0n) + units)
    }
    const units = direction === "in" ? command.units : (heldBy(self) * command.part + 999n) / 1000n
    if (direction === "in") add(self, units)
    if (direction === "out" || direction === "across") add(self, -units)
    if (direction === "across") add(that, units)
    const seq = (counts.get(asset.instrumentId) ?? 0) + 1
    counts.set(asset.instrumentId, seq)
    const origin = { resourceKind: "subscription", id: `sub-${seq}` } as const
    const acquisition: Acquisition | null =
      direction === "in" && command.cost !== null
        ? {
            lotId: kind === "subscription" ? origin.id : null,
            origin,
            basePrice: Decimal.fromAtoms(command.units),
            cost: hundredths(command.cost),
            currency: "USD"
          }
        : null
    const movement = {
      ...asset,
      seq,
      from: direction === "in" ? null : self,
      to: direction === "out" ? null : direction === "across" ? that : self,
      units: Decimal.fromAtoms(units),
      ledgerTime: Instant.fromNanos(now),
      reference: null
    }
    return [{ movement, acquisition }]
  })
}

const histories = commands.map(played)

/** Units of a party by its movements alone. */
const heldBy = (steps: ReadonlyArray<LotRules.Step>, id: string): Decimal.Decimal =>
  Decimal.sum(
    steps.flatMap(({ movement }) => [
      ...(movement.to !== null && idOf({ ...movement, party: movement.to }) === id
        ? [movement.units]
        : []),
      ...(movement.from !== null && idOf({ ...movement, party: movement.from }) === id
        ? [Decimal.negate(movement.units)]
        : [])
    ])
  )

const everyLot = (books: LotRules.Books): ReadonlyArray<Lot> => [...books.values()].flat()

/** Every party's lots of every instrument, as texts. */
const shown = (books: LotRules.Books) =>
  everyLot(books)
    .map(
      (lot) =>
        `${idOf(lot)} ${lot.lotId} ${lot.acquiredAt} ${lot.remaining}/${lot.units} ${lot.costLeft}/${lot.cost} ${lot.basePrice} ${lot.origin?.id}`
    )
    .toSorted()

/** The changes of each movement, with the books before it. */
const changesIn = (steps: ReadonlyArray<LotRules.Step>) => {
  let before: LotRules.Books = new Map()
  return steps.map((step) => {
    const { movement, acquisition } = step
    const giver = movement.from === null ? "" : idOf({ ...movement, party: movement.from })
    const lots = before.get(giver) ?? []
    const changes = LotRules.changesOf(movement, { lots, acquisition })
    before = LotRules.fold(before, [step])
    return { ...step, lots, ...changes, after: before }
  })
}

// ---- the same again, as a person would do it with a list of papers for each lot

interface Paper {
  readonly owner: string
  readonly id: string
  readonly at: bigint
  readonly came: bigint
  left: bigint
  readonly paid: bigint | null
  unspent: bigint | null
  readonly base: bigint | null
  readonly from: string | undefined
}

const padded = (count: number) => String(count).padStart(16, "0")

const byHand = (steps: ReadonlyArray<LotRules.Step>): ReadonlyArray<string> => {
  const papers: Array<Paper> = []
  const put = (of: Omit<Paper, "left" | "unspent">) =>
    papers.push({ ...of, left: of.came, unspent: of.paid })
  for (const { movement, acquisition } of steps) {
    const { from, to, units, seq } = movement
    if (from === to) continue
    const owned = (owner: Party.Party) => idOf({ ...movement, party: owner })
    if (from === null && to !== null) {
      put({
        owner: owned(to),
        id: acquisition?.lotId ?? `${padded(seq)}/${padded(0)}`,
        at: movement.ledgerTime,
        came: units,
        paid: acquisition === null ? null : acquisition.cost / 10n ** 8n,
        base: acquisition?.basePrice ?? null,
        from: acquisition?.origin?.id
      })
    }
    if (from === null) continue
    let wanted: bigint = units
    for (let place = 0; wanted > 0n; place += 1) {
      const [oldest] = papers
        .filter(({ owner, left }) => owner === owned(from) && left > 0n)
        .sort((a, b) => (a.at !== b.at ? (a.at < b.at ? -1 : 1) : a.id < b.id ? -1 : 1))
      if (oldest === undefined) throw new Error("a party gave what it does not hold")
      const taken = oldest.left < wanted ? oldest.left : wanted
      // Half up is the floor of twice the quotient and one, halved.
      const cost =
        oldest.unspent === null
          ? null
          : (2n * oldest.unspent * taken + oldest.left) / (2n * oldest.left)
      oldest.left -= taken
      if (oldest.unspent !== null && cost !== null) oldest.unspent -= cost
      wanted -= taken
      if (to === null) continue
      const { at, base, from: origin } = oldest
      const id = `${padded(seq)}/${padded(place)}`
      put({ owner: owned(to), id, at, came: taken, paid: cost, base, from: origin })
    }
  }
  const cents = (count: bigint | null) => (count === null ? null : count * 10n ** 8n)
  return papers
    .filter(({ left }) => left > 0n)
    .map(
      ({ owner, id, at, came, left, paid, unspent, base, from }) =>
        `${owner} ${id} ${at} ${left}/${came} ${cents(unspent)}/${cents(paid)} ${base} ${from}`
    )
    .toSorted()
}

describe("lots", () => {
  it("are the same as those kept by hand", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        expect(shown(LotRules.fold(new Map(), steps))).toEqual(byHand(steps))
      }),
      { numRuns: 50 }
    )
  })

  it("of every party add up to its units after every movement", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const ids = funds.flatMap((asset) =>
          parties.map((owner) => idOf({ ...asset, party: owner }))
        )
        for (const [index, { after, missing }] of changesIn(steps).entries()) {
          const remaining = ids.map((id) => LotRules.remainingOf(after.get(id) ?? []))
          const held = ids.map((id) => heldBy(steps.slice(0, index + 1), id))
          expect([missing, ...remaining]).toEqual([Decimal.zero, ...held])
        }
      }),
      { numRuns: 50 }
    )
  })

  it("of a snapshot add up to the units too, after every movement that follows", () => {
    fc.assert(
      fc.property(histories, fc.nat(40), (steps, cut) => {
        const ids = funds.flatMap((asset) => parties.map((owner) => ({ ...asset, party: owner })))
        const entries = ids.map((entry) => ({
          ...entry,
          units: heldBy(steps.slice(0, cut), idOf(entry))
        }))
        const lots = LotRules.ofSnapshot(entries, Instant.fromNanos(begin - 1n))
        const opening = new Map(lots.map((lot) => [idOf(lot), [lot]]))
        const after = LotRules.fold(opening, steps.slice(cut))
        for (const entry of ids) {
          const remaining = LotRules.remainingOf(after.get(idOf(entry)) ?? [])
          expect(remaining).toBe(heldBy(steps, idOf(entry)))
        }
      }),
      { numRuns: 50 }
    )
  })

  it("conserve cost: what was relieved and what is left is what was paid, of all and of each lot", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const changes = changesIn(steps)
        const books = LotRules.fold(new Map(), steps)
        const sum = (costs: ReadonlyArray<Decimal.Decimal | null>) =>
          Decimal.sum(costs.map((cost) => cost ?? Decimal.zero))
        const paid = sum(steps.map(({ acquisition }) => acquisition?.cost ?? null))
        const relieved = changes.flatMap(({ movement, parts }) =>
          movement.to === null ? parts : []
        )
        const left = sum(everyLot(books).map(({ costLeft }) => costLeft))
        expect(Decimal.add(sum(relieved.map(({ cost }) => cost)), left)).toBe(paid)
        const parts = changes.flatMap((change) => change.parts)
        const last = new Map(parts.map((part) => [`${idOf(part.lot)} ${part.lot.lotId}`, part]))
        for (const [key, part] of last) {
          const given = parts.filter(({ lot }) => `${idOf(lot)} ${lot.lotId}` === key)
          const { costLeft, remaining } = LotRules.leftOf(part)
          expect(Decimal.add(sum(given.map(({ cost }) => cost)), costLeft ?? Decimal.zero)).toBe(
            part.lot.cost ?? Decimal.zero
          )
          if (Decimal.isZero(remaining)) expect(costLeft ?? Decimal.zero).toBe(Decimal.zero)
        }
      })
    )
  })

  it("never give a younger lot's units while an older one has some, or cost that they do not have", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        for (const { movement, parts, after } of changesIn(steps)) {
          const oldest =
            movement.from === null || movement.from === movement.to
              ? undefined
              : (after.get(idOf({ ...movement, party: movement.from })) ?? [])[0]
          const younger = parts.filter(
            ({ lot }) => oldest !== undefined && LotRules.compare(lot, oldest) > 0
          )
          expect([younger, everyLot(after).filter((lot) => !isWhole(lot))]).toEqual([[], []])
        }
      }),
      { numRuns: 50 }
    )
  })

  it("agree with the register by the check lots-holdings, and without one of them never do", () => {
    fc.assert(
      fc.property(histories, fc.nat(), (steps, nth) => {
        const books = LotRules.fold(new Map(), steps)
        const found = (lots: LotRules.Books) =>
          LotsHoldings.differences(
            funds.flatMap((asset) =>
              parties.map((owner) => {
                const id = idOf({ ...asset, party: owner })
                const { instrumentId } = asset
                const units = heldBy(steps, id)
                return {
                  instrumentId,
                  party: owner,
                  holderId: null,
                  units,
                  lots: lots.get(id) ?? []
                }
              })
            ),
            Decimal.zero
          )
        expect(found(books)).toEqual([])
        const lost = everyLot(books)[nth % Math.max(1, everyLot(books).length)]
        if (lost === undefined) return
        const rest = new Map(
          [...books].map(([id, lots]) => [id, lots.filter((kept) => kept !== lost)])
        )
        expect(found(rest)).toMatchObject([
          { subject: { id: lost.party }, difference: lost.remaining, severity: "blocking" }
        ])
      }),
      { numRuns: 50 }
    )
  })

  it("have ids that no two lots of an instrument share", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const ids = changesIn(steps).flatMap(({ opened }) =>
          opened.map(({ instrumentId, lotId }) => `${instrumentId} ${lotId}`)
        )
        expect(new Set(ids).size).toBe(ids.length)
      })
    )
  })

  it("depend neither on where the movements are cut into batches nor on other instruments", () => {
    fc.assert(
      fc.property(histories, fc.nat(40), (steps, cut) => {
        const whole = shown(LotRules.fold(new Map(), steps))
        const first = LotRules.fold(new Map(), steps.slice(0, cut))
        expect(shown(LotRules.fold(first, steps.slice(cut)))).toEqual(whole)
        const apart = funds.flatMap(({ instrumentId }) =>
          shown(
            LotRules.fold(
              new Map(),
              steps.filter(({ movement }) => movement.instrumentId === instrumentId)
            )
          )
        )
        expect(apart.toSorted()).toEqual(whole)
      })
    )
  })

  it("that are moved to a party without units and back have the same dates, units and cost in sum", () => {
    fc.assert(
      fc.property(histories, fc.bigInt({ min: 1n, max: 1000n }), (steps, part) => {
        const books = LotRules.fold(new Map(), steps)
        for (const [id, lots] of books) {
          const [owner] = lots
          if (owner === undefined) continue
          const held = LotRules.remainingOf(lots)
          const units = Decimal.fromAtoms((Decimal.atoms(held) * part + 999n) / 1000n)
          const step = (seq: number, from: Party.Party, to: Party.Party): LotRules.Step => ({
            movement: {
              ...owner,
              ...{ seq, from, to, units, reference: null },
              ledgerTime: Instant.fromNanos(begin + 10n ** 18n)
            },
            acquisition: null
          })
          const stranger = party("stranger")
          const back = LotRules.fold(books, [
            step(1001, owner.party, stranger),
            step(1002, stranger, owner.party)
          ])
          expect(totals(back.get(id) ?? [])).toEqual(totals(lots))
          expect(back.get(idOf({ ...owner, party: stranger }))).toBeUndefined()
          expect(LotRules.fold(books, [step(1001, owner.party, owner.party)])).toEqual(books)
        }
      }),
      { numRuns: 50 }
    )
  })

  it("split proceeds into parts that add up to them", () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 12n })
    const units = fc.array(fc.bigInt({ min: 1n, max: 10n ** 20n }), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(cents, units, (count, parts) => {
        const proceeds = hundredths(count)
        const shares = LotRules.proceedsOf(
          parts.map((atoms) => ({ units: Decimal.fromAtoms(atoms) })),
          { proceeds, currency: "USD" }
        )
        expect(Decimal.sum(shares)).toBe(proceeds)
        expect(shares.some(Decimal.isNegative)).toBe(false)
      })
    )
  })
})

/** Checks that an open lot has some of its units and no more cost than it came in with. */
const isWhole = ({ units, remaining, cost, costLeft, basePrice, currency }: Lot): boolean =>
  Decimal.isPositive(remaining) &&
  Decimal.atMost(remaining, units) &&
  (cost === null || costLeft === null || basePrice === null || currency === null
    ? [cost, costLeft, basePrice, currency].every((part) => part === null)
    : Decimal.fits(costLeft, 2) && !Decimal.isNegative(costLeft) && Decimal.atMost(costLeft, cost))

/** Units and cost by date of acquisition and base price. */
const totals = (lots: ReadonlyArray<Lot>) => {
  const sums = Map.groupBy(
    lots,
    ({ acquiredAt, basePrice, origin }) => `${acquiredAt} ${basePrice} ${origin?.id}`
  )
  return [...sums]
    .map(([key, group]) => `${key} ${LotRules.remainingOf(group)} ${LotRules.costOf(group)}`)
    .toSorted()
}
