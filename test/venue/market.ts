/** A venue in memory with an instrument's terms, for tests of its calls. */
import { type Engine, Venue } from "@bursar/engine-core"
import { Effect, type Layer } from "effect"
import { world } from "../engine/world.ts"
import { oracle, registrar } from "../operations/instrumentBody.ts"

/** Terms of an instrument that two people record. */
export const terms = {
  instrumentId: "elf",
  registrar,
  oracle,
  valuation: "accumulating",
  currency: "USD",
  unitDecimals: 6,
  holderCap: 100,
  distribution: { schedule: "none", withholding: "0.15", payoutDecimals: 2, payout: "units" },
  cutOff: { time: "16:00", days: ["monday", "tuesday"], zone: "America/New_York" },
  pricing: "historic",
  fees: { subscription: "0", redemption: "0" },
  residual: "refund"
} as const satisfies Venue.WriteBody<"instrument.record">

/** People of a venue, each with one role, and one with none. */
export const people = Effect.map(Venue.make, (venue) => ({
  venue,
  olive: venue.as({ sub: "olive", roles: ["operator"] }),
  oscar: venue.as({ sub: "oscar", roles: ["operator"] }),
  anna: venue.as({ sub: "anna", roles: ["approver"] }),
  nobody: venue.as({ sub: "nobody", roles: [] })
}))

export const layer: Layer.Layer<Engine.Services> = world()

/** Runs a program over a venue of its own. */
export const run = <A, E>(program: Effect.Effect<A, E, Engine.Services>): Promise<A> =>
  Effect.runPromise(Effect.provide(program, layer))
