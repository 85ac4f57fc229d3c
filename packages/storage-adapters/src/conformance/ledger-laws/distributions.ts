/** Laws of distributions: what is left of a month at each step, and who sees a line of it when. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import type { Law } from "../LedgerUnderTest.ts"

const cash = Decimal.of("7")

const totals: Templates.DistributionTotals = {
  entitlement: cash,
  carryIn: Decimal.zero,
  gross: cash,
  equalisation: Decimal.zero,
  withheld: Decimal.zero,
  net: cash,
  carryOut: Decimal.zero,
  payoutUnits: Decimal.zero
}

/** A month with one line, executed step by step until the venue rolls it. */
const month = Effect.gen(function* () {
  const scene = yield* Scene.open
  const holder = yield* scene.party("holder")
  const { venue } = scene.venue
  const instrument = { admin: scene.registrar.party, id: "instrument" }
  const say = (command: ReturnType<typeof Templates.exercise>) =>
    scene.venue.submit(Scene.submission(scene, command))
  const left = (receipt: Parameters<typeof Scene.createdIn>[0], entity: string) =>
    Scene.createdIn(receipt).findLast(({ template }) => template.entity === entity)?.contractId ??
    ""
  const executed = yield* scene.venue.submit(
    Scene.submission(
      scene,
      Templates.createAndExercise(
        Templates.DistributionSlot,
        { venue, instrument, lastMonth: null },
        "Execute",
        {
          distributionId: "month",
          fund: null,
          month: "1969-12",
          recordDate: Date.of("1969-12-31"),
          payableFrom: Instant.fromNanos(0n),
          pointCids: ["00aa"],
          rate: Decimal.zero,
          payout: "cash",
          payoutPrice: null,
          linesHash: "00".repeat(32)
        }
      )
    )
  )
  const added = yield* say(
    Templates.exercise(Templates.Distribution, left(executed, "Distribution"), "AddLines", {
      expectedCount: 0,
      lines: [
        {
          ...totals,
          number: 1,
          holder: holder.party,
          custodian: null,
          units: cash,
          carriedFrom: null,
          rate: Decimal.zero,
          rateSource: "default",
          payoutUnits: null,
          carried: null,
          waits: true
        }
      ]
    })
  )
  const sealed = yield* say(
    Templates.exercise(Templates.Distribution, left(added, "Distribution"), "Seal", {
      lineCount: 1,
      totals
    })
  )
  const opened = yield* say(
    Templates.exercise(Templates.Distribution, left(sealed, "Distribution"), "Open", {})
  )
  const directed = yield* say(
    Templates.exercise(Templates.DistributionLine, left(added, "DistributionLine"), "Direct", {
      holder: holder.party,
      custodian: null,
      waits: false
    })
  )
  const deliver = Templates.exercise(
    Templates.DistributionLine,
    left(directed, "DistributionLine"),
    "Deliver",
    {
      distributionCid: left(opened, "Distribution"),
      credentialCid: null,
      configurationCid: null,
      evidence: { reference: "payment", paidOn: Date.of("1970-01-01") }
    }
  )
  const delivered = yield* scene.registrar.submit(Scene.submission(scene, deliver))
  const rolled = yield* say(
    Templates.exercise(Templates.DeliveredLine, left(delivered, "DeliveredLine"), "Roll", {})
  )
  return {
    scene,
    holder,
    deliver,
    offsets: { before: scene.since, directed: directed.offset, delivered: delivered.offset },
    receipts: [executed, added, sealed, opened, directed, delivered, rolled]
  }
})

export const laws: ReadonlyArray<Law> = [
  {
    id: "L5",
    name: "the active contracts of a distribution are the fold of its updates at each step",
    check: Effect.gen(function* () {
      const { scene, receipts } = yield* month
      const seen: Array<number> = []
      for (const { offset } of receipts) {
        for (const reader of [scene.venue, scene.registrar]) {
          const updates = yield* Scene.transactions(reader, {
            after: scene.since,
            through: offset
          })
          const active = yield* Scene.active(reader, offset)
          expect(active, "the active contracts after a step").toEqual(Scene.fold(updates))
          if (reader === scene.venue) seen.push(active.length)
        }
      }
      expect(seen, "how many contracts each step leaves").toEqual([2, 3, 3, 3, 3, 3, 2])
    })
  },
  {
    id: "L15",
    name: "a holder sees nothing of its line until it is delivered",
    check: Effect.gen(function* () {
      const { holder, offsets } = yield* month
      const earlier = { after: offsets.before, through: offsets.directed }
      expect(
        yield* Scene.transactions(holder, earlier),
        "what the holder sees before the delivery"
      ).toEqual([])
      const [delivery] = yield* Scene.transactions(holder, {
        after: offsets.directed,
        through: offsets.delivered
      })
      expect(
        delivery?.events.map(({ _tag, template }) => `${_tag} ${template.entity}`),
        "what the holder sees of the delivery"
      ).toEqual(["Created DeliveredLine"])
    })
  },
  {
    id: "L10",
    name: "a line is delivered once",
    check: Effect.gen(function* () {
      const { scene, deliver } = yield* month
      expect(
        yield* Scene.failure(scene.registrar.submit(Scene.submission(scene, deliver))),
        "how a second delivery ends"
      ).toMatchObject({ _tag: "Refused" })
    })
  }
]
