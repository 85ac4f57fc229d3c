/** The smallest program around the engine: a write that one person asks for and another agrees to. */
// #region readme
import { Venue } from "@bursar/engine-core"
import { Effect } from "effect"
import { instrument } from "../story.ts"
import { layer } from "./engine.ts"
import { wallet } from "./parties.ts"

const program = Effect.gen(function* () {
  const venue = yield* Venue.make
  const olive = venue.as({ sub: "olive", roles: ["operator"] })
  const anna = venue.as({ sub: "anna", roles: ["approver"] })
  const [registrar, oracle] = [(yield* wallet("registrar")).party, (yield* wallet("oracle")).party]
  const terms = { registrar, oracle, unitDecimals: 6, valuation: "accumulating" } as const
  const body = instrument({ instrumentId: "elf-usd", ...terms })
  const action = yield* olive.write("instrument.record", body)
  console.log(action.state, action.recovery) // awaiting One approver other than the maker …
  yield* anna.approve(action)
  const { result, signedBy } = yield* olive.done(action)
  console.log(result.instrumentId, signedBy) // elf-usd [ "anna" ]
})
await Effect.runPromise(Effect.provide(program, layer))
// #endregion
