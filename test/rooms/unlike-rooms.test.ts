/** Starts whose rooms do not fit together, or whose settings name what no room has: each is one sentence. */
import { Catalogue, Engine } from "@bursar/engine-core"
import * as Host from "@bursar/http-host"
import * as Deployment from "@bursar/http-host/deployment"
import * as Simulated from "@bursar/storage-adapters/simulated-ledger"
import { Cause, Effect, Exit, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { room } from "../../examples/10-a-room-of-its-own/loans.ts"
import { loanRules } from "../../examples/10-a-room-of-its-own/rules.ts"
import { tenant } from "../http/venue.ts"
import * as Served from "./served.ts"

const catalogue = Catalogue.withRooms([room])

/** Fault of a host over an engine, both with their rooms, which has not listened yet. */
const faultOf = async (host: Catalogue.Catalogue, engine: Catalogue.Catalogue) => {
  const layer = Host.layer({
    tables: host,
    tenant,
    basePath: "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "" },
    rateLimit: { limit: 1, window: 60_000, perRole: {} },
    origins: []
  }).pipe(Layer.provide(Layer.succeed(Engine.DeclaredCatalogue, engine)))
  // Cast: the rooms are compared before the host needs a service.
  const exit = await Effect.runPromiseExit(
    Effect.scoped(Layer.build(layer as unknown as Layer.Layer<never, Error>))
  )
  return Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : undefined
}

describe("a host whose rooms are not those of its engine", () => {
  it("is served", async () => {
    expect(await faultOf(catalogue, Catalogue.builtIn)).toContain(
      "The host serves the rooms x-loans, and its engine has no room: give both one catalogue"
    )
    expect(await faultOf(Catalogue.builtIn, catalogue)).toContain(
      "The host serves no room, and its engine has the rooms x-loans"
    )
    const twin = Catalogue.withRooms([{ ...room }])
    expect(await faultOf(catalogue, twin)).toContain("whose rooms are the same values")
    expect(await faultOf(catalogue, Catalogue.withRooms([room]))).not.toContain("The host serves")
  })
})

describe("a deployment", () => {
  it("posts an event that no room announces to a webhook of its settings", async () => {
    await expect(Served.serve({ ...Served.inMemory(), rooms: [] })).rejects.toThrow(
      /^webhooks\.configured: There is no event "x-loan\.overdue"/u
    )
  })

  it("runs two templates of one name, or one of the engine's", () => {
    expect(Simulated.twiceIn([loanRules])).toBeNull()
    expect(Simulated.twiceIn([loanRules, loanRules])).toBe("example-loans-v1:Example.Loans:Loan")
  })

  it("prints its document without its rooms", async () => {
    const { catalogue: declared } = await Effect.runPromise(Deployment.make({ rooms: [room] }))
    expect(declared.rooms).toEqual([room])
  })
})
