/** The example's room behind a host in memory, called over HTTP. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { hangs } from "../waiting.ts"
import { play, playClock } from "./loan-story.ts"
import * as Served from "./served.ts"

let served: Served.Served
beforeAll(async () => {
  served = await Served.serve(Served.inMemory())
})
afterAll(() => served?.close())

describe("a host with a room of loans", () => {
  it("lacks what the room's declarations promise", { timeout: hangs }, () => play(served))
  it("tells nobody of a loan that the clock alone finds overdue", { timeout: hangs }, () =>
    playClock(served)
  )
})
