/**
 * Prechecks: shows every condition that an act fails, and cures each in turn until the act runs.
 */
import { createHash } from "node:crypto"
import { Engine } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Console, Effect, Schema } from "effect"
import { layer } from "../01-embed-the-engine/engine.ts"
import { configuration, wallet } from "../01-embed-the-engine/parties.ts"
import * as people from "../01-embed-the-engine/people.ts"
import * as story from "../story.ts"

const { abel, anna, approve, carl, done, olive, read, rita, write } = people
const instrumentId = "elf-usd"
const holderId = "holder-1"
const order = { holderId, amount: "100000" }
const ofInstrument = { params: { instrumentId } }
const ofHolder = { params: { holderId } }

const alone = (...asked: Parameters<typeof write>) => Effect.flatMap(write(...asked), done)
const agreed = (...asked: Parameters<typeof write>) =>
  Effect.gen(function* () {
    yield* done(yield* approve(anna, yield* write(...asked)))
  })
/** A write that reduces a restriction: two people approve it besides the one who requests it. */
const agreedByTwo = (...asked: Parameters<typeof write>) =>
  Effect.gen(function* () {
    const action = yield* write(...asked)
    yield* approve(anna, action)
    yield* done(yield* approve(abel, action))
  })

const Row = Schema.Struct({
  gate: Schema.String,
  check: Schema.String,
  ok: Schema.Boolean,
  recovery: Schema.NullOr(Schema.String)
})
const Precheck = Schema.Struct({ allowed: Schema.Boolean, gates: Schema.Array(Row) })

/** Prechecks the claim, and prints the conditions that refuse it with their recoveries. */
const precheck = Effect.fnUntraced(function* (when: string) {
  const params = { instrumentId, act: "subscription.claim", ...order }
  const answer = yield* read(olive, "instruments/{instrumentId}/precheck", params)
  const { allowed, gates } = Schema.decodeUnknownSync(Precheck)(answer)
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
  const { settle } = yield* Engine.Engine
  const [registrar, investor] = [yield* wallet("registrar"), yield* wallet("investor")]
  const fund = (yield* wallet("fund")).party
  yield* registrar.create(
    Templates.InstrumentConfiguration,
    configuration({ instrumentId, registrar: registrar.party, venue, fund })
  )
  yield* agreed(olive, "instrument.record", {
    body: story.instrument({
      instrumentId,
      registrar: registrar.party,
      oracle: registrar.party,
      unitDecimals: 6,
      valuation: "accumulating"
    })
  })
  yield* agreed(olive, "admission-consent.propose", {
    ...ofInstrument,
    body: story.consent({ fund })
  })
  yield* registrar.answer(Templates.AdmissionConsentProposal, "Accept", {})
  yield* alone(olive, "holder.register", { body: { holderId, party: investor.party } })
  yield* investor.answer(Templates.HolderInvitation, "Accept", {})
  yield* investor.create(Templates.SignedTerms, {
    venue,
    holder: investor.party,
    holderId,
    documentHash: createHash("sha256").update("the terms").digest("hex"),
    signedAt: yield* Instant.now
  })
  yield* settle
  yield* alone(olive, "accepted-terms.accept", { ...ofHolder, body: {} })
  return investor
})

const program = Effect.gen(function* () {
  const investor = yield* scene
  yield* alone(rita, "instrument.pause", {
    ...ofInstrument,
    body: { holdId: "hold-1", reason: "A price is being looked at." }
  })
  yield* alone(carl, "holder.restrict", {
    ...ofHolder,
    body: { restrictionId: "freeze-1", mode: "freeze", reason: "lost-key" }
  })
  yield* precheck("paused, frozen and never admitted")
  const claim = story.claim({ subscriptionId: "sub-1", instrumentId, ...order })
  const refused = yield* Effect.flip(write(olive, "subscription.claim", { body: claim }))
  if (refused._tag !== "Refused") return yield* Effect.die(refused)
  const { gate, check } = refused.details
  yield* Console.log(`the act itself stops at the first of them: ${gate} ${check}`)

  yield* agreedByTwo(rita, "hold.release", { params: { holdId: "hold-1" }, body: {} })
  yield* precheck("the hold is released")
  yield* agreedByTwo(carl, "restriction.lift", {
    params: { restrictionId: "freeze-1" },
    body: { reason: "The owner proved who it is." }
  })
  yield* precheck("the freeze is lifted")
  yield* alone(olive, "admission.offer", { ...ofHolder, body: { instrumentId } })
  yield* investor.answer(Templates.AdmissionOffer, "Accept", {})
  yield* (yield* Engine.Engine).settle
  const allowed = yield* precheck("the holder is admitted")

  const operation = yield* alone(olive, "subscription.claim", { body: claim })
  yield* Console.log(`${operation.kind} is ${operation.state}, and was allowed: ${allowed}`)
})

await Effect.runPromise(Effect.provide(program, layer))
