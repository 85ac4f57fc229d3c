/** Scene of tests of covers: a reserve at par with cash and bills locked, and units that its registrar issued. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { type Fact, reserves } from "#core/reserves/reserve/Reserve.ts"
import * as Calls from "../engine/calls.ts"
import * as Backed from "./backed.ts"
import { forge } from "./forging.ts"
import * as Powers from "./powers.ts"

let submissions = 0

/** Submits commands of the venue itself, which the engine then reads. */
export const asVenue = (...commands: readonly [Ledger.Command, ...ReadonlyArray<Ledger.Command>]) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    yield* ledger.submit({
      commandId: `covered:${++submissions}`,
      commands,
      dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
    })
    yield* Calls.settle
  })

/** A reserve with 1,000 of cash, and 500 bills at 2.10 that count 997.50, or 40 % of the requirement. */
export const covered = (
  change: Readonly<Record<string, Calls.Json>> = {},
  terms: Parameters<typeof Backed.termsOf>[1] = {}
) =>
  Effect.gen(function* () {
    const scene = yield* Backed.opened(change)
    yield* Backed.reserved(scene, { terms: Backed.termsOf(scene, terms) })
    yield* Backed.prices(scene, "2.1")
    yield* Backed.locked(scene, { asset: scene.usd, amount: "1000" })
    yield* Backed.locked(scene, { asset: scene.bill, amount: "500" })
    return scene
  })

/** The registrar issues units to h1 by itself; the reserve's own count does not include them. */
export const issues = (scene: Backed.Scene, units: string) => Powers.mints(scene, scene.h1, units)

/** The issuer corrects the ledger's own count of the units outstanding. */
export const recounts = (scene: Backed.Scene, outstanding: string) =>
  Effect.flatMap(Backed.reserve(), ({ reserveCid }) =>
    scene.registrar.act(
      Templates.exercise(Templates.Reserve, reserveCid ?? "", "Recount", {
        outstanding: Decimal.of(outstanding)
      })
    )
  )

const stands = (reserveCid: string) =>
  forge(reserves, "res-1", { fact: renew(reserveCid), change: { reserveCid } })

const renew = (reserveCid: string): Fact => ({
  on: "renew",
  reserveCid,
  outstanding: Decimal.zero,
  locked: [],
  course: null
})

/** Makes the engine's record of the reserve name a contract that the ledger does not have. */
export const hides = stands("00")

/** Has the engine know the reserve's contract again. */
export const shows = Effect.gen(function* () {
  const { cid } = yield* Powers.saying(Templates.Reserve, { reserveId: "res-1" })
  yield* stands(cid)
})
