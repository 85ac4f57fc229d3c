/** The people of the examples: those of example 01, and those who sign, restrict and pause besides. */
import { Venue } from "@bursar/engine-core"
import { Effect } from "effect"
import * as two from "./01-embed-the-engine/people.ts"

export const people = Effect.gen(function* () {
  const venue = yield* Venue.make
  return {
    ...(yield* two.people),
    abel: venue.as({ sub: "abel", roles: ["approver"] }),
    carl: venue.as({ sub: "carl", roles: ["compliance"] }),
    rita: venue.as({ sub: "rita", roles: ["risk"] })
  }
})
