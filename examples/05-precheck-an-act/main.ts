/**
 * Prechecks: shows every condition that an act fails, and cures each in turn until the act runs.
 */
import { Ledger } from "@bursar/engine-core/ports"
import { Venue } from "@bursar/storage-adapters/venue"
import { Console, Effect } from "effect"
import { termsHash } from "../01-embed-the-engine/market.ts"
import { agreed } from "../01-embed-the-engine/people.ts"
import { people } from "../people.ts"
import * as story from "../story.ts"

const instrumentId = "elf-usd"
const holderId = "holder-1"
const order = { holderId, amount: "100000" }

/** A write of one person, done. */
const by = <K extends Venue.WriteKind>(person: Venue.Person, kind: K, body: Venue.WriteBody<K>) =>
  Effect.flatMap(person.write(kind, body), person.done)

/** A write that reduces a restriction: two people approve it besides the one who requests it. */
const agreedByTwo = <K extends Venue.WriteKind>(
  person: Venue.Person,
  kind: K,
  body: Venue.WriteBody<K>
) =>
  Effect.gen(function* () {
    const { abel, anna } = yield* people
    const action = yield* person.write(kind, body)
    yield* anna.approve(action)
    yield* abel.approve(action)
    return yield* person.done(action)
  })

/** Prechecks the claim, and prints the conditions that refuse it with their recoveries. */
const precheck = Effect.fnUntraced(function* (when: string) {
  const { olive } = yield* people
  const { allowed, gates } = yield* olive.precheck("subscription.claim", {
    instrumentId,
    ...order
  })
  const refusing = gates.filter(({ ok }) => !ok)
  yield* Console.log(
    `${when}: ${gates.length - refusing.length} of ${gates.length} conditions hold`
  )
  for (const { gate, check, recovery } of refusing) {
    yield* Console.log(`  ${gate} ${check}: ${recovery}`)
  }
  return allowed
})

/** Sets up an instrument, and a holder in good order that was never admitted to it. */
const scene = Effect.gen(function* () {
  const { venue } = yield* Ledger.Ledger
  const { wallets } = yield* Venue.make
  const { party: fund } = yield* wallets.fund("fund")
  const investor = yield* wallets.investor("investor")
  const registrar = yield* wallets.registrar("registrar", {
    instruments: [{ instrumentId, provider: venue, issuer: fund }]
  })
  yield* registrar.works()
  yield* agreed(
    "instrument.record",
    story.instrument({
      instrumentId,
      registrar: registrar.party,
      oracle: registrar.party,
      unitDecimals: 6,
      valuation: "accumulating"
    })
  )
  yield* agreed("admission-consent.propose", { instrumentId, ...story.consent({ fund }) })
  yield* registrar.works()
  const { olive } = yield* people
  yield* by(olive, "holder.register", { holderId, party: investor.party })
  yield* investor.acceptInvitation(holderId)
  yield* investor.signTerms({ documentHash: termsHash })
  yield* by(olive, "accepted-terms.accept", { holderId })
  return investor
})

const program = Effect.gen(function* () {
  const { carl, olive, rita } = yield* people
  const investor = yield* scene
  const pause = { holdId: "hold-1", reason: "A price is being looked at." }
  yield* by(rita, "instrument.pause", { instrumentId, ...pause })
  const freeze = { restrictionId: "freeze-1", mode: "freeze", reason: "lost-key" } as const
  yield* by(carl, "holder.restrict", { holderId, ...freeze })
  yield* precheck("paused, frozen and never admitted")
  const claim = { subscriptionId: "sub-1", instrumentId, ...order }
  const refused = yield* Effect.flip(olive.write("subscription.claim", claim))
  if (refused._tag !== "Refused") return yield* Effect.die(refused)
  const { gate, check } = refused.details
  yield* Console.log(`the act itself stops at the first of them: ${gate} ${check}`)

  yield* agreedByTwo(rita, "hold.release", { holdId: "hold-1" })
  yield* precheck("the hold is released")
  yield* agreedByTwo(carl, "restriction.lift", {
    restrictionId: "freeze-1",
    reason: "The owner proved who it is."
  })
  yield* precheck("the freeze is lifted")
  yield* by(olive, "admission.offer", { holderId, instrumentId })
  yield* investor.acceptOffer(instrumentId)
  const allowed = yield* precheck("the holder is admitted")

  const { kind, state } = yield* by(olive, "subscription.claim", claim)
  yield* Console.log(`${kind} is ${state}, and was allowed: ${allowed}`)
})

await Effect.runPromise(Effect.provide(program, Venue.memory()))
