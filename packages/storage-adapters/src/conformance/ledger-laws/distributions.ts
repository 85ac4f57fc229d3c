/** Laws of distributions: what is left of a month at each step, who sees a line when, and what is refused. */
import { Date, Decimal, Instant, Month, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Scene from "../LedgerScene.ts"
import { grouped, type Law } from "../LedgerUnderTest.ts"

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

const line = (payee: { readonly holder: Party.Party; readonly number: number }) => ({
  ...totals,
  ...payee,
  custodian: null,
  units: cash,
  carriedFrom: null,
  rate: Decimal.zero,
  rateSource: "default" as const,
  payoutUnits: null,
  carried: null,
  waits: true
})

/** The commands of a month with one line, for the contracts that the step before has left. */
const commandsOf = (holder: Party.Party) => ({
  execute: (slotCid: string, month: string) =>
    Templates.exercise(Templates.DistributionSlot, slotCid, "Execute", execution(month)),
  addLines: (distributionCid: string, expectedCount: number, number = expectedCount + 1) =>
    Templates.exercise(Templates.Distribution, distributionCid, "AddLines", {
      expectedCount,
      lines: [line({ holder, number })]
    }),
  seal: (distributionCid: string, sealed: { readonly lineCount: number; readonly net: string }) =>
    Templates.exercise(Templates.Distribution, distributionCid, "Seal", {
      lineCount: sealed.lineCount,
      totals: { ...totals, net: Decimal.of(sealed.net) }
    }),
  open: (distributionCid: string) =>
    Templates.exercise(Templates.Distribution, distributionCid, "Open", {}),
  direct: (lineCid: string) =>
    Templates.exercise(Templates.DistributionLine, lineCid, "Direct", {
      holder,
      custodian: null,
      waits: false
    }),
  deliver: (
    lineCid: string,
    distributionCid: string,
    evidence: { readonly reference: string; readonly paidOn: Date.Date } | null = {
      reference: "payment",
      paidOn: Date.of("1970-01-01")
    }
  ) =>
    Templates.exercise(Templates.DistributionLine, lineCid, "Deliver", {
      distributionCid,
      credentialCid: null,
      configurationCid: null,
      evidence
    }),
  roll: (deliveredCid: string) =>
    Templates.exercise(Templates.DeliveredLine, deliveredCid, "Roll", {})
})

const execution = (month: string) => ({
  distributionId: month,
  fund: null,
  month: Month.of(month),
  recordDate: Date.of(`${month}-28`),
  payableFrom: Instant.fromNanos(0n),
  pointCids: ["00aa"],
  rate: Decimal.zero,
  payout: "cash" as const,
  payoutPrice: null,
  linesHash: "00".repeat(32)
})

/** A scene with a holder, and the submissions of the venue and the registrar in it. */
const begun = Effect.gen(function* () {
  const scene = yield* Scene.open
  const holder = yield* scene.party("holder")
  const commands = commandsOf(holder.party)
  const { venue } = scene.venue
  const instrument = { admin: scene.registrar.party, id: "instrument" }
  const by =
    (reader: Pick<typeof scene.venue, "submit">) =>
    (command: ReturnType<typeof Templates.exercise>) =>
      reader.submit(Scene.submission(scene, command))
  const begin = scene.venue.submit(
    Scene.submission(
      scene,
      Templates.createAndExercise(
        Templates.DistributionSlot,
        { venue, instrument, lastMonth: null },
        "Execute",
        execution("1969-12")
      )
    )
  )
  return { scene, holder, commands, begin, say: by(scene.venue), pay: by(scene.registrar) }
})

/** The contract of an entity that a transaction has left. */
const left = (receipt: Parameters<typeof Scene.createdIn>[0], entity: string) =>
  Scene.createdIn(receipt).findLast(({ template }) => template.entity === entity)?.contractId ?? ""

/** A month with one line, executed step by step until the venue rolls it. */
const month = Effect.gen(function* () {
  const { scene, holder, commands, begin, say, pay } = yield* begun
  const executed = yield* begin
  const added = yield* say(commands.addLines(left(executed, "Distribution"), 0))
  const sealed = yield* say(commands.seal(left(added, "Distribution"), { lineCount: 1, net: "7" }))
  const opened = yield* say(commands.open(left(sealed, "Distribution")))
  const directed = yield* say(commands.direct(left(added, "DistributionLine")))
  const deliver = commands.deliver(left(directed, "DistributionLine"), left(opened, "Distribution"))
  const delivered = yield* pay(deliver)
  const rolled = yield* say(commands.roll(left(delivered, "DeliveredLine")))
  return {
    scene,
    holder,
    deliver,
    offsets: { before: scene.since, directed: directed.offset, delivered: delivered.offset },
    receipts: [executed, added, sealed, opened, directed, delivered, rolled]
  }
})

export const laws: ReadonlyArray<Law> = grouped("distributions", [
  {
    id: "L5",
    name: "the active contracts of a distribution are the fold of its updates at each step",
    proves: "A distribution of many lines is projected step by step.",
    mistake: "Pages of created contracts that end at a limit of the node.",
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
    proves: "No holder reads its payout before it is directed.",
    mistake: "Lines with the holder as observer.",
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
    proves: "Nobody is paid twice.",
    mistake: "A line's template whose delivery does not consume it.",
    check: Effect.gen(function* () {
      const { scene, deliver } = yield* month
      expect(
        yield* Scene.failure(scene.registrar.submit(Scene.submission(scene, deliver))),
        "how a second delivery ends"
      ).toMatchObject({ _tag: "Refused" })
    })
  },
  {
    id: "L30",
    name: "a distribution takes no step out of its order, and no line is paid but as the venue directs",
    proves: "Seal, open and close are the ledger's word, and not the host's.",
    mistake: "Guards of the templates left out in a mapping.",
    check: Effect.gen(function* () {
      const { commands, begin, say, pay } = yield* begun
      type RefusalWords = ReturnType<typeof say>
      const refuses = (what: string, expectation: RefusalWords) =>
        Effect.gen(function* () {
          const how = yield* Scene.failure(expectation)
          expect(how, what).toMatchObject({ _tag: "Refused" })
        })
      const executed = yield* begin
      const first = left(executed, "Distribution")
      const slot = left(executed, "DistributionSlot")
      yield* refuses("a month again", say(commands.execute(slot, "1969-12")))
      yield* refuses("a month before the last", say(commands.execute(slot, "1969-11")))
      yield* refuses("lines at a wrong count", say(commands.addLines(first, 1)))
      yield* refuses("open before the seal", say(commands.open(first)))
      yield* refuses(
        "a seal with a line missing",
        say(commands.seal(first, { lineCount: 1, net: "7" }))
      )
      const added = yield* say(commands.addLines(first, 0))
      const withLine = left(added, "Distribution")
      const waiting = left(added, "DistributionLine")
      yield* refuses("lines at the count before", say(commands.addLines(withLine, 0)))
      yield* refuses(
        "a seal with a wrong count",
        say(commands.seal(withLine, { lineCount: 2, net: "7" }))
      )
      yield* refuses(
        "a seal with other totals",
        say(commands.seal(withLine, { lineCount: 1, net: "8" }))
      )
      const sealed = yield* say(commands.seal(withLine, { lineCount: 1, net: "7" }))
      const closed = left(sealed, "Distribution")
      yield* refuses("lines after the seal", say(commands.addLines(closed, 1)))
      yield* refuses("a second seal", say(commands.seal(closed, { lineCount: 1, net: "7" })))
      const directed = yield* say(commands.direct(waiting))
      const payable = left(directed, "DistributionLine")
      yield* refuses("a delivery while closed", pay(commands.deliver(payable, closed)))
      const opened = left(yield* say(commands.open(closed)), "Distribution")
      yield* refuses("a line as it was before", pay(commands.deliver(waiting, opened)))
      yield* refuses("cash without evidence", pay(commands.deliver(payable, opened, null)))
      yield* refuses("a delivery by the venue", say(commands.deliver(payable, opened)))
      yield* refuses("a word of the registrar about a line", pay(commands.direct(payable)))
      const delivered = yield* pay(commands.deliver(payable, opened))
      yield* refuses(
        "a roll by the registrar",
        pay(commands.roll(left(delivered, "DeliveredLine")))
      )
      expect(left(delivered, "DeliveredLine"), "the line that is paid").not.toBe("")
    })
  },
  {
    id: "L30",
    name: "a line that waits is not delivered",
    proves: "A line whose cause is open stays unpaid.",
    mistake: "The flag `waits` dropped in a mapping.",
    check: Effect.gen(function* () {
      const { commands, begin, say, pay } = yield* begun
      const executed = yield* begin
      const added = yield* say(commands.addLines(left(executed, "Distribution"), 0))
      const sealed = yield* say(
        commands.seal(left(added, "Distribution"), { lineCount: 1, net: "7" })
      )
      const opened = yield* say(commands.open(left(sealed, "Distribution")))
      const deliver = commands.deliver(
        left(added, "DistributionLine"),
        left(opened, "Distribution")
      )
      expect(yield* Scene.failure(pay(deliver)), "how its delivery ends").toMatchObject({
        _tag: "Refused"
      })
    })
  }
])
