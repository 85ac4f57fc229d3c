/** Wallets of the outside parties, which act by themselves as the clock moves. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Venue } from "@bursar/storage-adapters/venue"
import { World } from "@bursar/storage-adapters/wallets"
import { Effect } from "effect"
import { termsHash } from "../01-embed-the-engine/market.ts"

/**
 * Opens the wallets of a fund with two holders: registrar and holders keep their duties, the registrar
 * with evidence of each payment that it delivers.
 */
export const opened = Effect.fnUntraced(function* (instrumentId: string) {
  const { venue } = yield* Ledger.Ledger
  const { wallets } = yield* Venue.make
  const fund = yield* wallets.fund("fund")
  const oracle = yield* wallets.oracle("oracle")
  const registrar = yield* wallets.registrar("registrar", {
    instruments: [{ instrumentId, provider: venue, issuer: fund.party }],
    payments: "as-delivered"
  })
  const holders = yield* Effect.forEach(["alma", "bela"], (holderId) =>
    Effect.map(wallets.investor(holderId, { terms: termsHash }), ({ party }) => ({
      holderId,
      party
    }))
  )
  const audience = { venue, fund: fund.party, registrar: registrar.party, attestors: [] }
  return { audience, fund, holders, oracle, registrar }
})

/** Mints opening units to each admitted holder that has none. */
export const openingUnits =
  (units: string): World.Plan =>
  (world) =>
    World.find(world, Templates.Credential).flatMap(({ contractId, payload: { holder } }) => {
      const holdings = World.find(world, Templates.Holding)
      if (holdings.some(({ payload }) => payload.owner === holder)) return []
      return [
        World.answer(
          "mint-opening-units",
          { template: Templates.Credential, contractId, choice: "Receive" },
          {
            amount: Decimal.of(units),
            reference: { kind: "opening", id: holder },
            configurationCid: null
          },
          {}
        )
      ]
    })
