/** Nouns of the room instruments: instruments, their policies, prices, registers and lots. */
import * as Noun from "../nouns/Noun.ts"
import { configurations } from "./instrument/Configuration.ts"
import { instruments } from "./instrument/Instrument.ts"
import * as InstrumentFromLedger from "./instrument/InstrumentFromLedger.ts"
import * as InstrumentOperations from "./instrument/InstrumentOperations.ts"
import { lots } from "./lot/Lot.ts"
import * as LotFormulas from "./lot/LotFormulas.ts"
import { lotReplays } from "./lot/LotReplay.ts"
import * as LotReplaySteps from "./lot/LotReplaySteps.ts"
import * as LotSteps from "./lot/LotSteps.ts"
import * as PolicyOperations from "./policy/PolicyOperations.ts"
import * as PolicyQueries from "./policy/PolicyQueries.ts"
import { policyVersions, PolicyVersionMachine } from "./policy/PolicyVersion.ts"
import { assetQuotes } from "./price/AssetQuote.ts"
import * as AssetQuoteFromLedger from "./price/AssetQuoteFromLedger.ts"
import { NavFeed } from "./price/NavFeed.ts"
import * as PriceFromLedger from "./price/PriceFromLedger.ts"
import { pricePoints, quotes } from "./price/PricePoint.ts"
import * as PriceQueries from "./price/PriceQueries.ts"
import * as WaitingIncomeSteps from "./price/WaitingIncomeSteps.ts"
import { holdings } from "./register/Holding.ts"
import { movements, partyMovements } from "./register/Movement.ts"
import * as MovementFromLedger from "./register/MovementFromLedger.ts"
import { registerEntries } from "./register/RegisterEntry.ts"
import * as RegisterFromLedger from "./register/RegisterFromLedger.ts"
import { supplies } from "./register/Supply.ts"

const instrument = Noun.declare({
  collections: [instruments],
  writes: [InstrumentOperations.record]
})

const policy = Noun.declare({
  collections: [policyVersions],
  machine: PolicyVersionMachine,
  writes: [PolicyOperations.set],
  queries: PolicyQueries.queries
})

const configuration = Noun.declare({
  collections: [configurations],
  fromLedger: InstrumentFromLedger.fromLedger
})

const price = Noun.declare({
  collections: [pricePoints, quotes, assetQuotes],
  judged: [NavFeed],
  queries: PriceQueries.queries,
  fromLedger: [...PriceFromLedger.fromLedger, ...AssetQuoteFromLedger.fromLedger],
  consequences: WaitingIncomeSteps.consequences,
  events: PriceFromLedger.priceEvents
})

const register = Noun.declare({
  collections: [holdings, registerEntries, supplies, movements, partyMovements],
  fromLedger: RegisterFromLedger.fromLedger
})

const lot = Noun.declare({ collections: [lots, lotReplays], formulas: LotFormulas.formulas })

export const nouns = [instrument, policy, configuration, price, register, lot] as const

/** Facts from the ledger about movements, which fold them into lots; rooms above provide the cost of minted units. */
export const movementReadings = (acquisitions: LotSteps.Acquisitions) => {
  const fold = LotSteps.folding(acquisitions)
  const start = LotReplaySteps.replay({ fold, pageMax: 1_000 })
  return MovementFromLedger.fromLedger({ batch: fold, start, keeps: [lots] })
}
