/** The smallest program around the engine: a write that one person asks for and another agrees to. */
// #region readme
import { Effect } from "effect"
import { instrument } from "../story.ts"
import { layer } from "./engine.ts"
import { wallet } from "./parties.ts"
import { anna, approve, done, olive, write } from "./people.ts"

const program = Effect.gen(function* () {
  const registrar = yield* wallet("registrar")
  const oracle = yield* wallet("oracle")
  const terms = { registrar: registrar.party, oracle: oracle.party, unitDecimals: 6 }
  const body = instrument({ instrumentId: "elf-usd", valuation: "accumulating", ...terms })

  const action = yield* write(olive, "instrument.record", { body })
  console.log(action.state, action.recovery) // awaiting: one approver other than the maker …
  const operation = yield* done(yield* approve(anna, action))
  console.log(operation.state, operation.signedBy) // succeeded [ "anna" ]
})

await Effect.runPromise(Effect.provide(program, layer))
// #endregion
