/**
 * Laws of lots over random histories of every kind of movement: units and cost are conserved to the
 * last place, and a second, plain computation gives the same lots.
 */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { lotsHoldings } from "#core/reconciliation/checks/LotChecks.ts"
import type { Lot } from "#core/instruments/lot/Lot.ts"
import * as LotRules from "#core/instruments/lot/LotRules.ts"
import { idOf } from "#core/instruments/register/RegisterEntry.ts"
import {
  begin,
  byHand,
  funds,
  heldBy,
  histories,
  hundredths,
  parties,
  party,
  plainKind,
  shownLot
} from "./lot-histories.ts"

const everyLot = (books: LotRules.Books): ReadonlyArray<Lot> => [...books.values()].flat()
const shown = (books: LotRules.Books) => everyLot(books).map(shownLot).toSorted()

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
          const partsOfLot = parts.filter(({ lot }) => `${idOf(lot)} ${lot.lotId}` === key)
          const { costLeft, remaining } = LotRules.leftOf(part)
          expect(
            Decimal.add(sum(partsOfLot.map(({ cost }) => cost)), costLeft ?? Decimal.zero)
          ).toBe(part.lot.cost ?? Decimal.zero)
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
          funds.flatMap((asset) =>
            parties.flatMap((owner) => {
              const id = idOf({ ...asset, party: owner })
              const { instrumentId } = asset
              const units = heldBy(steps, id)
              const remaining = LotRules.remainingOf(lots.get(id) ?? [])
              const position = { instrumentId, party: owner, holderId: null, units, remaining }
              return lotsHoldings.differences(position, Decimal.zero)
            })
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
              ...{ seq, kind: plainKind({ from, to }), from, to, units, reference: null },
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
