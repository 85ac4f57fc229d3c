/**
 * Reconciliation of an administrator's register: a difference that an order in flight explains, the
 * same difference a day after the order has settled, and its release by four eyes. The engine runs in
 * this program, on a clock that the program sets.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Venue } from "@bursar/storage-adapters/venue"
import { Console, Effect } from "effect"
import * as market from "../01-embed-the-engine/market.ts"
import { agreed, alone } from "../01-embed-the-engine/people.ts"
import { people } from "../people.ts"
import * as statements from "../statements.ts"
import * as story from "../story.ts"
import { demand, difference } from "./finding.ts"

const { holderId, instrumentId } = market
const subscriptionId = "sub-1"
const amount = "100000"

const program = Effect.gen(function* () {
  const { clock, receive } = yield* Venue.make
  const parties = yield* market.opened
  yield* agreed("external-account.map", statements.account(instrumentId))
  yield* clock.to("2026-06-30T15:00:00Z")
  const units = yield* market.priced(parties, { subscriptionId, amount })
  const now = Effect.map(Instant.now, Instant.format)
  /** The administrator's register, as it states it now; answers what the run makes of it. */
  const states = Effect.fnUntraced(function* (quantity: Decimal.Decimal) {
    const held = { [holderId]: Decimal.formatPlain(quantity) }
    const { text } = statements.register({ at: yield* now, units: held })
    yield* receive(statements.sourceId("register", instrumentId), text)
    return yield* difference(instrumentId)
  })

  yield* Console.log("the administrator counts the order already, the register does not yet")
  const first = yield* states(units)
  yield* demand(first, { severity: "info", state: "open", by: subscriptionId, verdict: "clear" })

  yield* Console.log("the bank states the cash, and the order is delivered and settled")
  const entries = [statements.paidIn({ amount, reference: subscriptionId })]
  const { text } = statements.bank({ at: yield* now, entries })
  const bank = statements.sourceId("bank", instrumentId)
  const { externalStatementId: statementId } = yield* receive(bank, text)
  yield* alone("subscription.deliver", { subscriptionId, ...story.paid({ statementId, amount }) })
  yield* alone("subscription.settle", { subscriptionId })

  yield* clock.to("2026-07-01T16:00:00Z")
  yield* Console.log("a day later the administrator states as much too much again")
  const second = yield* states(Decimal.add(units, units))
  yield* demand(second, { severity: "blocking", state: "open", by: null, verdict: "blocked" })
  if (second.findingId !== first.findingId || second.ageDays !== 1) {
    return yield* Effect.die(new Error("the difference is not as old as its first day"))
  }

  yield* Console.log("two people release the hold, and accept the finding with a reason")
  const { abel, anna, rita } = yield* people
  const release = yield* rita.write("hold.release", {
    holdId: second.holdId ?? "",
    accept: [second.findingId],
    reason: "The administrator booked the order twice, and corrects it tomorrow."
  })
  yield* anna.approve(release)
  yield* abel.approve(release)
  yield* rita.done(release)
  const accepted = yield* difference(instrumentId)
  const state = {
    severity: "blocking",
    state: "accepted",
    by: null,
    verdict: "findings"
  } as const
  yield* demand(accepted, state)
})

const statementSources = statements.sources(instrumentId)
const venue = Venue.memory({ clock: "2026-06-30T12:00:00Z", statementSources })
await Effect.runPromise(Effect.provide(program, venue))
