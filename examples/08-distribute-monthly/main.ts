/**
 * Monthly distributions without a person: two months of a par fund under a standing approval, on a
 * clock that the program moves, and a third month by people. The wallets of registrar and holders act
 * by themselves as the clock moves; one holder is frozen in July and cured in August.
 */
import { verify } from "@bursar/engine-core"
import { type Basis, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Venue } from "@bursar/storage-adapters/venue"
import { Console, Effect, Result } from "effect"
import { people } from "../people.ts"
import * as story from "../story.ts"
import * as Parties from "./parties.ts"
import { executed, rolled } from "./people.ts"

const instrumentId = "elf-usd"

/** Faults of a basis: each input, and the places and the rounding of each step, changed alone. */
const faultsOf = (basis: Basis.Basis): ReadonlyArray<Basis.Basis> => [
  ...basis.inputs.map((input, at) => ({
    ...basis,
    inputs: basis.inputs.with(at, { ...input, value: `${input.value}1` })
  })),
  ...basis.steps.flatMap((step, at) =>
    [
      { ...step, places: step.places + 1 },
      { ...step, rounding: step.rounding === "floor" ? "ceiling" : "floor" } as const
    ].map((other) => ({ ...basis, steps: basis.steps.with(at, other) }))
  )
]

/** A write that a second person approves, once it is done. */
const agreed = <K extends Venue.WriteKind>(kind: K, body: Venue.WriteBody<K>) =>
  Effect.gen(function* () {
    const { anna, olive } = yield* people
    const action = yield* olive.write(kind, body)
    yield* anna.approve(action)
    return yield* olive.done(action)
  })

const program = Effect.gen(function* () {
  const { clock } = yield* Venue.make
  const { audience, fund, holders, oracle, registrar } = yield* Parties.opened(instrumentId)
  const { abel, anna, carl, olive } = yield* people

  yield* agreed("instrument.record", {
    ...story.instrument({
      instrumentId,
      registrar: registrar.party,
      oracle: oracle.party,
      unitDecimals: 6,
      valuation: "par"
    }),
    distribution: {
      schedule: "monthly",
      withholding: "0.15",
      payoutDecimals: 2,
      payout: "cash",
      calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
    }
  })
  yield* agreed("admission-consent.propose", {
    instrumentId,
    ...story.consent({ fund: fund.party })
  })
  yield* clock.runDue
  for (const { holderId, party } of holders) {
    const onboarding = story.holder({ holderId, party, instrumentId })
    yield* olive.done(yield* olive.write("holder.onboard", onboarding))
    yield* clock.runDue
    yield* olive.done(yield* olive.write("accepted-terms.accept", { holderId }))
  }
  yield* registrar.works(Parties.openingUnits("1000000"))

  // From here on no person executes, clears, opens, delivers or rolls.
  const standingApprovalId = "monthly"
  yield* agreed("standing-approval.grant", {
    standingApprovalId,
    instrumentId,
    until: "2027-01-01T00:00:00Z"
  })
  const freeze = { holderId: "bela", mode: "freeze", reason: "pledge" } as const
  const { result } = yield* carl.done(yield* carl.write("holder.restrict", freeze))
  /** Recomputes a line's figures offline; fails unless any change of what they rest on is noticed. */
  const recomputed = Effect.fnUntraced(function* (distributionId: string, holderId: string) {
    const number = holders.findIndex((holder) => holder.holderId === holderId) + 1
    const params = { distributionId, lineId: `${distributionId}.${number}` }
    const { basis } = yield* olive.read("distributions.line", params)
    const figures = basis.map((entry) => `${entry.field} ${Result.getOrThrow(verify(entry))}`)
    yield* Console.log(`  ${holderId}: ${figures.join(", ")}`)
    const isNoticed = basis.flatMap(faultsOf).every((fault) => Result.isFailure(verify(fault)))
    if (basis.length === 0 || !isNoticed) {
      return yield* Effect.die(new Error(`the figures of ${params.lineId} cannot be verified`))
    }
  })
  /** Reads a distribution and prints it; fails where it is not paid, or has lines left to pay. */
  const paid = Effect.fnUntraced(function* (month: string, suspended: number) {
    const distributionId = `${instrumentId}.${month}`
    const { state, counts } = yield* olive.read("distributions.get", { distributionId })
    yield* Console.log(`  ${distributionId} is ${state}: ${JSON.stringify(counts)}`)
    if (state !== "paid" || counts?.suspended !== suspended || counts.due !== 0) {
      return yield* Effect.die(new Error(`${distributionId} is not paid as it should be`))
    }
    for (const { holderId } of holders) yield* recomputed(distributionId, holderId)
  })
  const incomeOf = Effect.fnUntraced(function* (month: string, day: string) {
    yield* Console.log(month)
    yield* clock.to(`${day}T21:00:00Z`)
    const value = Decimal.of("0.000095759")
    const valuationTime = Instant.of(`${day}T20:00:00Z`)
    yield* oracle.publish({ instrumentId, metric: "income", value, valuationTime }, audience)
  })
  const passes = Effect.fnUntraced(function* (options: {
    readonly month: string
    readonly day: string
    readonly ends: string
    readonly pays: string
  }) {
    const { day, ends, month, pays } = options
    yield* incomeOf(month, day)
    // Midnight in New York ends the record date; the scheduler looks once a minute.
    yield* clock.to(`${ends}T05:04:00Z`)
    // The registrar may deliver from the payment date on; the engine rolls an hour later.
    for (const time of ["05:00:00", "06:05:00"]) yield* clock.to(`${pays}T${time}Z`)
  })

  yield* passes({ month: "2026-07", day: "2026-07-28", ends: "2026-08-01", pays: "2026-08-03" })
  yield* paid("2026-07", 1)

  yield* Console.log("the freeze is lifted: the line that July still owes is paid")
  const { restrictionId } = result
  const lifting = { restrictionId, reason: "the pledge has ended" }
  const lift = yield* olive.write("restriction.lift", lifting)
  yield* anna.approve(lift)
  yield* abel.approve(lift)
  yield* olive.done(lift)
  for (const time of ["12:05:00", "13:10:00"]) yield* clock.to(`2026-08-10T${time}Z`)
  yield* paid("2026-07", 0)

  yield* passes({ month: "2026-08", day: "2026-08-28", ends: "2026-09-01", pays: "2026-09-03" })
  yield* paid("2026-08", 0)

  yield* Console.log("the approval is revoked: people execute and roll the next month")
  yield* olive.done(yield* olive.write("standing-approval.revoke", { standingApprovalId }))
  yield* incomeOf("2026-09", "2026-09-28")
  yield* clock.to("2026-10-01T05:02:00Z")
  yield* executed(instrumentId, "2026-09")
  yield* clock.to("2026-10-01T05:04:00Z")
  yield* clock.to("2026-10-05T05:00:00Z")
  yield* rolled(`${instrumentId}.2026-09`)
  yield* paid("2026-09", 0)
})

await Effect.runPromise(Effect.provide(program, Venue.memory({ clock: "2026-06-30T12:00:00Z" })))
