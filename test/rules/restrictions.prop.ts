/** Restrictions: the strictest answer wins, and one more never permits more. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { judge } from "#core/kernel/Gates.ts"
import {
  type ActDirection,
  against,
  type RestrictedAct,
  isRestricted,
  permits,
  type MovementDirection,
  type RestrictionInForce
} from "#core/restraints/restriction/RestrictionRules.ts"
import * as sets from "#core/vocabulary/sets.ts"
import { party } from "../machines/subscriptions.ts"

const ofActs: ReadonlyArray<ActDirection> = ["order-in", "units-in", "units-back", "cash-in"]
const passings: ReadonlyArray<MovementDirection> = [...ofActs, "units-out"]
const holderIds = ["h1", "h2"]
const instrumentIds = ["fund-a", "fund-b"]

const restricting = fc.record<RestrictionInForce>({
  restrictionId: fc.uuid(),
  holderId: fc.constantFrom(...holderIds),
  instrumentId: fc.constantFrom(null, ...instrumentIds),
  mode: fc.constantFrom(...sets.RestrictionMode.members)
})
const randomAct = fc.record<RestrictedAct>({
  holderId: fc.constantFrom(...holderIds),
  instrumentId: fc.constantFrom(...instrumentIds),
  passing: fc.constantFrom(...passings)
})
const several = fc.array(restricting, { maxLength: 6 })

describe("restrictions", () => {
  // docs/domain/restraints.md#restriction-modes, read by a person.
  it.each<[mode: RestrictionInForce["mode"], lets: ReadonlyArray<MovementDirection>]>([
    ["freeze", []],
    ["receive-only", ["units-in", "cash-in"]],
    ["redeem-only", ["units-back", "cash-in"]]
  ])("of mode %s let pass other than %o", (mode, through) => {
    const one = { restrictionId: "r1", holderId: "h1", instrumentId: null, mode }
    const passed = passings.filter((passing) =>
      permits([one], { holderId: "h1", instrumentId: "fund-a", passing })
    )
    expect(passed).toEqual(through)
  })

  it("never let pass what one of them stops, or stop what each lets pass", () => {
    fc.assert(
      fc.property(several, randomAct, (all, question) => {
        expect(permits(all, question)).toBe(all.every((one) => permits([one], question)))
      })
    )
  })

  it("never let more pass once there is one more", () => {
    fc.assert(
      fc.property(several, restricting, randomAct, (all, more, question) => {
        if (permits([...all, more], question)) expect(permits(all, question)).toBe(true)
      })
    )
  })

  it("never depend on the order they were set in", () => {
    fc.assert(
      fc.property(several, randomAct, (all, question) => {
        expect(permits(all.toReversed(), question)).toBe(permits(all, question))
      })
    )
  })

  it("never reach another holder, or another instrument than the one they name", () => {
    fc.assert(
      fc.property(several, randomAct, (all, question) => {
        const near = all.filter(
          ({ holderId, instrumentId }) =>
            holderId === question.holderId &&
            (instrumentId === null || instrumentId === question.instrumentId)
        )
        expect(permits(all, question)).toBe(permits(near, question))
        expect(isRestricted(all, question)).toBe(near.length > 0)
      })
    )
  })

  it("refuse each thing that passes by a check of its own", () => {
    const restriction = {
      restrictionId: "r1",
      holderId: "h1",
      instrumentId: null,
      mode: "freeze"
    } as const
    const checked = ofActs.map((passing) => {
      const act = { holderId: "h1", instrumentId: "fund-a", passing }
      const judged = judge([against([restriction], act, party("h1"))])
      return Result.isFailure(judged) ? `${passing}: ${judged.failure.details.check}` : passing
    })
    expect(checked).toEqual([
      "order-in: may-subscribe",
      "units-in: may-receive",
      "units-back: may-redeem",
      "cash-in: may-be-paid"
    ])
  })

  it("never refuse at another gate than they say, or when they let it pass", () => {
    fc.assert(
      fc.property(
        several,
        randomAct,
        fc.constantFrom(...ofActs),
        (all, { holderId, instrumentId }, passing) => {
          const question = { holderId, instrumentId, passing }
          const { refuses, refusal } = against(all, question, party("h1"))
          expect([refuses, refusal.gate]).toEqual([!permits(all, question), "restriction"])
          // The restriction and its reason are shown only to readers with the right to see
          // restrictions.
          const said = JSON.stringify(refusal)
          for (const { restrictionId, mode } of all) {
            expect(said.includes(restrictionId) || said.includes(mode)).toBe(false)
          }
        }
      )
    )
  })
})
