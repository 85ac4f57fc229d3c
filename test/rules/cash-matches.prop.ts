/** Which bank line may pay which order: each pair once, by the strongest rule, and no more than either has. */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Rules from "#core/overviews/cash-match/CashMatchRules.ts"
import { CashMatchRule } from "#core/vocabulary/sets.ts"

const ids = ["a", "a1", "a.1", "a1.", "A1", "b-2", "b", "sub-1", "sub-10"]
const day = (n: number) => Date.addDays(Date.of("2026-07-01"), n)
const amounts = ["0.01", "1", "100", "100.5"].map(Decimal.of)

const order: fc.Arbitrary<Rules.WaitingCash> = fc
  .record({
    kind: fc.constantFrom("subscription" as const, "redemption" as const),
    orderId: fc.constantFrom(...ids),
    holderId: fc.constantFrom("h1", "h2"),
    pays: fc.constantFrom("cash" as const, "refund" as const),
    direction: fc.constantFrom("credit" as const, "debit" as const),
    currency: fc.constantFrom("USD", "EUR"),
    due: fc.constantFrom(...amounts),
    claimedOn: fc.constantFrom(0, 1, 2, 400).map(day)
  })
  .map((members) => ({ ...members, instrumentId: "fund-a" }))

const orders = fc.uniqueArray(order, { selector: Rules.orderKeyOf, maxLength: 12 })

/** Ids between signs, words and letters of other scripts. */
const reference = fc
  .array(
    fc.oneof(
      fc.constantFrom(...ids),
      fc.constantFrom(" ", "/", ".", "-", "~", "x", "é", "é", "1", ", ", "RE:", "...")
    ),
    { maxLength: 6 }
  )
  .map((pieces) => pieces.join(""))

const line: fc.Arbitrary<Rules.LineLeft> = fc.record({
  direction: fc.constantFrom("credit" as const, "debit" as const),
  currency: fc.constantFrom("USD", "EUR"),
  bookingDate: fc.constantFrom(-1, 0, 1, 2, 3).map(day),
  left: fc.constantFrom(Decimal.zero, ...amounts),
  reference: fc.option(reference, { nil: null }),
  holderIds: fc.subarray(["h1", "h2"])
})

const isSign = (character: string): boolean => "._~-".includes(character)
const isInWord = (character: string): boolean => /^[\p{L}\p{N}\p{M}]$/u.test(character)

/** Checks by each place whether an id stands in a text with nothing but signs between it and a word's end. */
const stands = (text: string, id: string): boolean => {
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1)) {
    let before = at - 1
    while (before >= 0 && isSign(text.charAt(before))) before -= 1
    let after = at + id.length
    while (after < text.length && isSign(text.charAt(after))) after += 1
    if (!isInWord(text.charAt(before)) && !isInWord(text.charAt(after))) return true
  }
  return false
}

/** The strongest rule of a pair, by the definition; null: the line may not pay the order. */
const ruleOf = (self: Rules.LineLeft, order: Rules.WaitingCash): CashMatchRule | null => {
  const first = Date.addDays(order.claimedOn, -366)
  const isOfSide = self.direction === order.direction && self.currency === order.currency
  if (!isOfSide || self.left <= 0n || self.bookingDate < first) return null
  if (self.reference !== null && stands(self.reference, order.orderId)) return "reference"
  if (self.left !== order.due) return null
  if (self.holderIds.includes(order.holderId)) return "account-amount"
  return self.bookingDate >= order.claimedOn ? "amount" : null
}

describe("the orders that a bank line may pay", () => {
  it("are those of the definition, each once by its strongest rule, the strongest first", () => {
    fc.assert(
      fc.property(orders, line, (all, self) => {
        const index = Rules.indexOf(all)
        const found = [...Rules.matchesOf(index, self)]
        const named = found.map(({ order, rule }) => [Rules.orderKeyOf(order), rule])
        const expected = all.flatMap((order) => {
          const rule = ruleOf(self, order)
          return rule === null ? [] : [[Rules.orderKeyOf(order), rule]]
        })
        expect(named.toSorted()).toEqual(expected.toSorted())
        const ranks = found.map(({ rule }) => CashMatchRule.members.indexOf(rule))
        expect(ranks).toEqual(ranks.toSorted())
        expect(found.map(Rules.rankTextOf)).toEqual(found.map(Rules.rankTextOf).toSorted())
        if (found.length > 0) expect(Rules.mayMatch(index, self)).toBe(true)
      }),
      { numRuns: 2_000 }
    )
  })

  it("are never paid more than is due, nor more than the line has left, nor nothing", () => {
    fc.assert(
      fc.property(orders, line, (all, self) => {
        for (const { amount, order } of Rules.matchesOf(Rules.indexOf(all), self)) {
          expect(amount > 0n && amount <= self.left && amount <= order.due).toBe(true)
          expect(amount === self.left || amount === order.due).toBe(true)
        }
      }),
      { numRuns: 1_000 }
    )
  })

  it("do not depend on the other orders that wait", () => {
    fc.assert(
      fc.property(orders, line, (all, self) => {
        const alone = all.flatMap((order) => [...Rules.matchesOf(Rules.indexOf([order]), self)])
        const together = [...Rules.matchesOf(Rules.indexOf(all), self)]
        const texts = (found: ReadonlyArray<Rules.Match>) => found.map(Rules.rankTextOf).toSorted()
        expect(texts(together)).toEqual(texts(alone))
      })
    )
  })
})

describe("the rivals of a proposal", () => {
  it("are counted as the matches of its line, and as the lines that match its order", () => {
    fc.assert(
      fc.property(orders, fc.array(line, { maxLength: 8 }), (all, lines) => {
        const index = Rules.indexOf(all)
        const tally = Rules.tallyOf(index)
        for (const self of lines) {
          tally.add(self)
          expect(Rules.countOf(index, self)).toBe([...Rules.matchesOf(index, self)].length)
        }
        for (const order of all) {
          const paying = lines.filter((self) => ruleOf(self, order) !== null)
          expect(tally.countOf(order)).toBe(paying.length)
        }
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("the matches of a line that a page takes", () => {
  it("are those after its place and of its filters, and no other", () => {
    const rule = fc.option(fc.subarray([...CashMatchRule.members]), { nil: undefined })
    const orderId = fc.option(fc.constantFrom(...ids), { nil: undefined })
    fc.assert(
      fc.property(orders, line, rule, orderId, fc.nat(12), (all, self, rule, orderId, at) => {
        const index = Rules.indexOf(all)
        const whole = [...Rules.matchesOf(index, self)]
        const place = whole[at]
        const after = place === undefined ? undefined : Rules.rankTextOf(place)
        const expected = whole
          .slice(place === undefined ? 0 : at + 1)
          .filter((match) => rule === undefined || rule.includes(match.rule))
          .filter(({ order }) => orderId === undefined || order.orderId === orderId)
        expect([...Rules.matchesOf(index, self, { after, orderId, rule })]).toEqual(expected)
      }),
      { numRuns: 2_000 }
    )
  })

  it("cost looks at orders by the page, not by all pairs of lines and orders", () => {
    let looks = 0
    const all = Array.from({ length: 2_000 }, (_, n) => {
      const order: Rules.WaitingCash = {
        ...{
          kind: "subscription",
          orderId: `s-${n}`,
          instrumentId: "fund-a",
          holderId: `h${n % 7}`
        },
        ...{ pays: "cash", direction: "credit", currency: "USD" },
        ...{ due: Decimal.of("100"), claimedOn: day(0) }
      }
      return new Proxy(order, {
        get: (target, name) => {
          looks += 1
          return Reflect.get(target, name)
        }
      })
    })
    const index = Rules.indexOf(all)
    const tally = Rules.tallyOf(index)
    let left = 100
    let pairs = 0
    for (let n = 0; n < 1_000; n += 1) {
      const self: Rules.LineLeft = {
        ...{ direction: "credit", currency: "USD", bookingDate: day(1), left: Decimal.of("100") },
        ...{ reference: `for s-${n}`, holderIds: ["h1"] }
      }
      tally.add(self)
      pairs += Rules.countOf(index, self)
      if (left === 0) continue
      for (const match of Rules.matchesOf(index, self, { after: "2 subscription/cash/s-5" })) {
        expect(tally.countOf(match.order)).toBe(n + 1)
        left -= 1
        if (left === 0) break
      }
    }
    expect(left).toBe(0)
    expect(pairs).toBe(2_000_000)
    expect(looks).toBeLessThan(100_000)
  })
})

describe("the ids in a reference", () => {
  it.each([
    ["sub-1", "sub-1", true],
    ["INV sub-1.", "sub-1", true],
    ["/ROC/sub-1/URI/x", "sub-1", true],
    ["sub-10", "sub-1", false],
    ["xsub-1", "sub-1", false],
    ["ésub-1", "sub-1", false],
    ["sub-1-2", "sub-1", false],
    ["sub-1", "SUB-1", false]
  ])("of %j have %j: %s", (text, id, expected) => {
    expect(Rules.idsIn(text).has(id)).toBe(expected)
  })

  it("are found in a time that grows with the text, however many signs it has", () => {
    expect(Rules.idsIn(`${".".repeat(60_000)}a${".".repeat(60_000)}`)).toContain("a")
    expect(Rules.idsIn("a".repeat(200)).size).toBe(0)
  })
})
