/** Movements of an update: a unit lost between two acts would be missing from every statement. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  type MovementClaim,
  type Kinds,
  movementsOf,
  plain,
  type Touch
} from "#core/instruments/register/MovementRules.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Party from "#core/kernel/Party.ts"

const party = (hint: string) => Party.make({ hint, fingerprint: `1220${"ab".repeat(32)}` })
const parties = ["alice", "bob", "carol"].map(party)
const nameOf = (one: Party.Party | null) => one?.split("::")[0] ?? "–"

const touch = (
  nodeId: number,
  on: Touch["on"],
  owner: string,
  amount: string,
  lock: Touch["lock"] = "free",
  asset = "r/a",
  transfer: Touch["transfer"] = "free"
): Touch => ({ nodeId, on, asset, owner: party(owner), amount: Decimal.of(amount), lock, transfer })

const claim = (nodeId: number, until: number, kinds: Partial<Kinds> = {}): MovementClaim => ({
  nodeId,
  until,
  kinds: { ...plain, ...kinds },
  reference: null
})

const movementTexts = (touches: ReadonlyArray<Touch>, claims: ReadonlyArray<MovementClaim>) =>
  movementsOf({ touches, claims }).map(
    ({ kind, from, to, units }) =>
      `${kind} ${nameOf(from)} → ${nameOf(to)} ${Decimal.formatPlain(units)}`
  )

describe("the movements of an update", () => {
  it.each<[string, ReadonlyArray<Touch>, ReadonlyArray<MovementClaim>, ReadonlyArray<string>]>([
    ["what came is minted", [touch(1, "came", "alice", "5")], [], ["mint – → alice 5"]],
    [
      "what came for an order is named after it",
      [touch(3, "came", "alice", "5")],
      [claim(1, 3, { into: "subscription" })],
      ["subscription – → alice 5"]
    ],
    [
      "what is divided and merged has not moved",
      [
        touch(1, "went", "alice", "5"),
        touch(2, "came", "alice", "3"),
        touch(3, "came", "alice", "2")
      ],
      [claim(1, 3)],
      []
    ],
    [
      "what changes hands through a lock is unlocked first",
      [
        touch(2, "went", "alice", "5", "locked"),
        touch(3, "came", "alice", "5"),
        touch(4, "went", "alice", "5"),
        touch(5, "came", "bob", "5")
      ],
      [claim(1, 5), claim(2, 3), claim(4, 5)],
      ["unlock alice → alice 5", "transfer alice → bob 5"]
    ],
    [
      "a part that is burned out of a lock gives the rest back free",
      [
        touch(2, "went", "alice", "100", "locked"),
        touch(3, "came", "alice", "100"),
        touch(4, "went", "alice", "100"),
        touch(5, "came", "alice", "60", "locked"),
        touch(6, "came", "alice", "40"),
        touch(7, "went", "alice", "60", "locked")
      ],
      [claim(1, 7, { outOf: "redemption" })],
      ["unlock alice → alice 100", "redemption alice → – 60"]
    ],
    [
      "two acts of one update are two movements, though together they come to nothing",
      [touch(2, "came", "alice", "5"), touch(4, "went", "alice", "5")],
      [claim(1, 2, { into: "subscription" }), claim(3, 4, { outOf: "redemption" })],
      ["subscription – → alice 5", "redemption alice → – 5"]
    ],
    [
      "an act inside another is part of it, and one after it is not",
      [touch(3, "came", "alice", "5"), touch(5, "came", "bob", "1")],
      [claim(1, 3, { into: "distribution" }), claim(2, 3, { into: "subscription" })],
      ["distribution – → alice 5", "mint – → bob 1"]
    ],
    [
      "one giver and two takers, and what nobody takes is gone",
      [
        touch(1, "went", "alice", "9"),
        touch(2, "came", "bob", "4"),
        touch(3, "came", "carol", "3")
      ],
      [claim(1, 3)],
      ["transfer alice → bob 4", "transfer alice → carol 3", "burn alice → – 2"]
    ],
    [
      "two assets of one act are not exchanged for each other",
      [touch(2, "went", "alice", "5"), touch(3, "came", "alice", "7", "free", "r/b")],
      [claim(1, 3)],
      ["burn alice → – 5", "mint – → alice 7"]
    ],
    [
      "what comes locked is locked once it has come",
      [touch(1, "came", "alice", "5", "locked")],
      [],
      ["mint – → alice 5", "lock alice → alice 5"]
    ]
  ])("%s", (_, touches, claims, expected) => {
    expect(movementTexts(touches, claims)).toEqual(expected)
  })

  it("are restricted where restricted units came to their receiver, whatever left others", () => {
    const bought = (transfer: Touch["transfer"]) => [
      touch(1, "went", "alice", "5", "free", "r/a", "restricted"),
      touch(2, "came", "bob", "3", "free", "r/a", transfer),
      touch(3, "came", "carol", "1", "free", "r/a", "free")
    ]
    const claims = [claim(1, 3)]
    const flags = (transfer: Touch["transfer"]) =>
      movementsOf({ touches: bought(transfer), claims }).map(
        ({ to, restricted }) => `${nameOf(to)} ${restricted}`
      )
    expect(flags("restricted")).toEqual(["bob true", "carol false", "– false"])
    expect(flags("free")).toEqual(["bob false", "carol false", "– false"])
  })

  it("add up to what came and went, locks to locks, for any touches under any acts", () => {
    const anyTouch = fc.record({
      on: fc.constantFrom("came" as const, "went" as const),
      owner: fc.constantFrom(...parties),
      asset: fc.constantFrom("r/a", "r/b"),
      amount: fc.bigInt({ min: 1n, max: 50n }).map(Decimal.fromAtoms),
      lock: fc.constantFrom("locked" as const, "free" as const),
      transfer: fc.constantFrom("restricted" as const, "free" as const)
    })
    const anyClaim = fc.tuple(fc.nat(12), fc.nat(6))
    fc.assert(
      fc.property(fc.array(anyTouch, { maxLength: 12 }), fc.array(anyClaim), (all, spans) => {
        const touches = all.map((one, nodeId) => ({ ...one, nodeId }))
        const claims = spans.map(([nodeId, more]) => claim(nodeId, nodeId + more))
        const books = new Map<string, bigint>()
        const count = (key: string, by: bigint) => {
          const sum = (books.get(key) ?? 0n) + by
          if (sum === 0n) books.delete(key)
          else books.set(key, sum)
        }
        for (const { on, owner, asset, amount, lock } of touches) {
          const sign = on === "came" ? 1n : -1n
          count(`${asset} ${owner}`, sign * amount)
          if (lock === "locked") count(`${asset} ${owner} locked`, sign * amount)
        }
        for (const { asset, kind, from, to, units } of movementsOf({ touches, claims })) {
          expect(Decimal.isPositive(units)).toBe(true)
          expect(from !== null || to !== null).toBe(true)
          expect(from === to).toBe(kind === "lock" || kind === "unlock")
          if (kind === "lock") count(`${asset} ${to} locked`, -units)
          else if (kind === "unlock") count(`${asset} ${to} locked`, units)
          else {
            if (to !== null) count(`${asset} ${to}`, -units)
            if (from !== null) count(`${asset} ${from}`, units)
          }
        }
        expect([...books]).toEqual([])
      }),
      { numRuns: 500 }
    )
  })
})
