/** The engine inside your own program: one subscription from claim to close, in memory, printed. */
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Console, Effect } from "effect"
import * as statements from "../statements.ts"
import * as story from "../story.ts"
import { layer } from "./engine.ts"
import { agreed, alone, instrumentId, opened, priced } from "./market.ts"
import { olive, readWhole } from "./people.ts"
import { handedIn } from "./statements.ts"

const subscriptionId = "sub-1"
const amount = "100000"
const ofSubscription = { params: { subscriptionId } }

const program = Effect.gen(function* () {
  const parties = yield* opened
  yield* priced(parties, { subscriptionId, amount })

  // The bank says that the cash came: the delivery names the line of its statement.
  yield* agreed(olive, "external-account.map", { body: statements.account(instrumentId) })
  const at = Instant.format(yield* Instant.now)
  const entries = [statements.paidIn({ amount, reference: subscriptionId })]
  const statementId = yield* handedIn(instrumentId, statements.bank({ at, entries }))
  yield* Console.log(`the bank's statement of ${at.slice(0, 10)} is recorded`)
  yield* alone(olive, "subscription.deliver", {
    ...ofSubscription,
    body: story.paid({ statementId, amount })
  })
  yield* alone(olive, "subscription.settle", { ...ofSubscription, body: {} })

  const register = yield* readWhole(olive, "instruments/{instrumentId}/register", { instrumentId })
  yield* Console.log(`the register: ${PlainJson.stringify(register)}`)
})

await Effect.runPromise(Effect.provide(program, layer))
