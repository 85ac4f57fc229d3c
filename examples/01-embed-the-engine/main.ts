/** The engine inside your own program: one subscription from claim to close, in memory, printed. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Venue } from "@bursar/storage-adapters/venue"
import { Console, Effect } from "effect"
import * as statements from "../statements.ts"
import * as story from "../story.ts"
import { instrumentId, opened, priced } from "./market.ts"
import { agreed, alone, people } from "./people.ts"

const subscriptionId = "sub-1"
const amount = "100000"

const program = Effect.gen(function* () {
  const parties = yield* opened
  yield* priced(parties, { subscriptionId, amount })

  // The bank says that the cash came: the delivery names the line of its statement.
  yield* agreed("external-account.map", statements.account(instrumentId))
  const at = Instant.format(yield* Instant.now)
  const entries = [statements.paidIn({ amount, reference: subscriptionId })]
  const { text } = statements.bank({ at, entries })
  // #region a statement
  const { receive } = yield* Venue.make
  const bank = statements.sourceId("bank", instrumentId)
  const { externalStatementId: statementId } = yield* receive(bank, text)
  // #endregion
  yield* Console.log(`the bank's statement of ${at.slice(0, 10)} is recorded`)
  yield* alone("subscription.deliver", { subscriptionId, ...story.paid({ statementId, amount }) })
  yield* alone("subscription.settle", { subscriptionId })

  const { olive } = yield* people
  const { head, lines } = yield* olive.read("instruments.register", { instrumentId })
  for (const { holderId, units } of lines) {
    yield* Console.log(`the register: ${holderId} holds ${Decimal.format(units)}`)
  }
  yield* Console.log(`of a supply of ${Decimal.format(head.supplyOnLedger)} on the ledger`)
})

const statementSources = statements.sources(instrumentId)
await Effect.runPromise(Effect.provide(program, Venue.memory({ statementSources })))
