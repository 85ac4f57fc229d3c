/** Programs of the outside parties, each with its own session at the ledger's door. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import {
  Bot,
  OracleBot,
  PartySession,
  RegistrarBot,
  Wallet,
  World
} from "@bursar/storage-adapters/wallets"
import * as Door from "@bursar/storage-adapters/simulated-ledger/door"
import { Console, Duration, Effect, Option } from "effect"

const policy = { accept: "all" } as const

/** Opens a session of a new party, whose token acts for that party only. */
export const outsider = Effect.fnUntraced(function* (hint: string) {
  const { admin } = yield* SimulatedLedger.Participant
  const { url } = yield* Door.Door
  const { party, token } = yield* admin.addParty({ hint, kind: "local" })
  const session = yield* PartySession.open({ url, token: Effect.succeed(token) })
  return {
    party,
    /** Performs the acts of plans one after another, until none is found; returns their number. */
    works: Effect.fnUntraced(function* (...plans: ReadonlyArray<World.Plan>) {
      const plan: World.Plan = (world) => plans.flatMap((each) => each(world))
      for (let acts = 0; ; acts++) {
        const done = yield* Bot.runOnce({ session, plan, within: Duration.zero })
        if (Option.isNone(done)) return acts
        yield* Console.log(`  the ${hint}'s program: ${done.value.act.name}`)
      }
    })
  }
})

/** The registrar's program: agreements, and the lines of distributions, with evidence of payment. */
export const registrar = (fund: {
  readonly instrumentId: string
  readonly venue: Party.Party
  readonly fund: Party.Party
}): World.Plan =>
  RegistrarBot.plan({
    policy,
    instruments: [{ instrumentId: fund.instrumentId, provider: fund.venue, issuer: fund.fund }],
    payments: "as-delivered"
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

/** A holder's wallet, which accepts what it is offered and signs the terms. */
export const wallet = (termsHash: string): World.Plan => Wallet.plan({ policy, terms: termsHash })

/** The oracle's program: publishes the daily income of a unit for a day. */
export const income = (point: {
  readonly instrumentId: string
  readonly value: string
  readonly day: string
  readonly audience: OracleBot.Audience
}): World.Plan =>
  OracleBot.plan({
    audience: point.audience,
    quotes: () => [
      {
        instrumentId: point.instrumentId,
        metric: "income",
        value: Decimal.of(point.value),
        valuationTime: Instant.of(`${point.day}T20:00:00Z`)
      }
    ]
  })
