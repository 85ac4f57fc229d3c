/** Payees of a recovered holder's lines: every state of recovery and holder. */
import { describe, expect, it } from "vitest"
import {
  isNamed,
  type Succession,
  successorOf
} from "#core/distributions/distribution/PayeeRules.ts"
import { HolderMachine } from "#core/holders/holder/Holder.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Party from "#core/kernel/Party.ts"

const at = Instant.of("2026-07-01T00:00:00Z")
const party = Party.of("h3::1220aa")
const named = { party, registeredAt: at, usableFrom: at }

const recovery = (moved: string, announced: string): NonNullable<Succession["recovery"]> => ({
  toHolderId: "h2",
  moved: Decimal.of(moved),
  told: Decimal.of(announced)
})

const states = Object.keys(HolderMachine.states) as ReadonlyArray<keyof typeof HolderMachine.states>

describe("income of a holder's units of an instrument is", () => {
  it.each(states)(
    "the receiver's of their recovery once that has ended, in the state %s",
    (state) => {
      const holder = { state, successor: named }
      const ofSuccessor = { by: "holder", holderId: "h2" }
      expect(successorOf({ holder, recovery: recovery("5", "5") })).toEqual(ofSuccessor)
      // A recovery of units that came afterwards is under way.
      expect(successorOf({ holder, recovery: recovery("7", "5") })).toEqual(ofSuccessor)
    }
  )

  it.each(states.filter((state) => state !== "succeeded"))(
    "its own in the state %s without a recovery, and while the first is under way",
    (state) => {
      for (const successor of [null, named]) {
        expect(successorOf({ holder: { state, successor }, recovery: null })).toBeNull()
        expect(
          successorOf({ holder: { state, successor }, recovery: recovery("5", "0") })
        ).toBeNull()
      }
    }
  )

  it("its successor's, of whatever instrument, once it is succeeded altogether", () => {
    const holder = { state: "succeeded", successor: named } as const
    for (const carried of [null, recovery("5", "0")]) {
      expect(successorOf({ holder, recovery: carried })).toEqual({ by: "party", party })
    }
  })
})

it("names a successor by holder or by party, and nobody else", () => {
  const [h2, h3] = [
    { holderId: "h2", party: Party.of("h2::1220aa") },
    { holderId: "h3", party }
  ] as unknown as ReadonlyArray<Parameters<typeof isNamed>[0]>
  const successors = [
    { by: "holder", holderId: "h2" } as const,
    { by: "party", party } as const,
    null
  ]
  expect(successors.map((successor) => isNamed(h2!, successor))).toEqual([true, false, false])
  expect(successors.map((successor) => isNamed(h3!, successor))).toEqual([false, true, false])
})
