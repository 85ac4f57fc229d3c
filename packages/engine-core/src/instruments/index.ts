/** Declarations of the room instruments: instruments, their policies, prices and registers. */
import { configurations } from "./instrument/Configuration.ts"
import { instruments } from "./instrument/Instrument.ts"
import * as InstrumentOperations from "./instrument/InstrumentOperations.ts"
import * as InstrumentFromLedger from "./instrument/InstrumentFromLedger.ts"
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
import { pricePoints, quotes } from "./price/PricePoint.ts"
import * as PriceFromLedger from "./price/PriceFromLedger.ts"
import { priceEvents } from "./price/PriceFromLedger.ts"
import * as PriceQueries from "./price/PriceQueries.ts"
import { holdings } from "./register/Holding.ts"
import { registerEntries } from "./register/RegisterEntry.ts"
import { movements, partyMovements } from "./register/Movement.ts"
import * as MovementFromLedger from "./register/MovementFromLedger.ts"
import * as RegisterFromLedger from "./register/RegisterFromLedger.ts"
import { supplies } from "./register/Supply.ts"
import * as WaitingIncomeSteps from "./price/WaitingIncomeSteps.ts"

export const machines = [PolicyVersionMachine] as const
export const judged = [NavFeed] as const
export const collections = [
  instruments,
  policyVersions,
  configurations,
  pricePoints,
  quotes,
  assetQuotes,
  holdings,
  registerEntries,
  supplies,
  movements,
  partyMovements,
  lots,
  lotReplays
] as const
export const formulas = LotFormulas.formulas
export const operations = [InstrumentOperations.record, PolicyOperations.set] as const
export const queries = [...PolicyQueries.queries, ...PriceQueries.queries] as const
export const fromLedger = [
  ...InstrumentFromLedger.fromLedger,
  ...PriceFromLedger.fromLedger,
  ...AssetQuoteFromLedger.fromLedger,
  ...RegisterFromLedger.fromLedger
] as const
export const consequences = WaitingIncomeSteps.consequences
/** Facts from the ledger about movements, which fold them into lots; rooms above provide the cost of minted units. */
export const movementReadings = (acquisitions: LotSteps.Acquisitions) => {
  const fold = LotSteps.folding(acquisitions)
  const start = LotReplaySteps.replay({ fold, pageMax: 1_000 })
  return MovementFromLedger.fromLedger({ batch: fold, start, keeps: [lots] })
}
/** Events that the room announces. */
export const events = { ...priceEvents } as const
