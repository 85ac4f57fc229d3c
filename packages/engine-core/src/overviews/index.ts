/** Nouns of the room overviews: answers that draw on several rooms. */
import * as Noun from "../nouns/Noun.ts"
import * as OpenOrderQueries from "./OpenOrderQueries.ts"
import * as CashMatchQueries from "./cash-match/CashMatchQueries.ts"
import * as ProposalQueries from "./ProposalQueries.ts"
import * as StatementQueries from "./external-statement/StatementQueries.ts"
import * as HolderStatementQueries from "./holder-statement/HolderStatementQueries.ts"
import * as InstrumentQueries from "./instrument/InstrumentQueries.ts"
import * as PortfolioQueries from "./portfolio/PortfolioQueries.ts"
import * as PrecheckQueries from "./precheck/PrecheckQueries.ts"
import * as MovementQueries from "./register/MovementQueries.ts"
import * as RegisterQueries from "./register/RegisterQueries.ts"
import * as SearchQueries from "./search/SearchQueries.ts"
import * as SeriesQueries from "./series/SeriesQueries.ts"
import * as WorkQueries from "./WorkQueries.ts"
import { formulas } from "./tax-statement/TaxFormulas.ts"
import * as TaxQueries from "./tax-statement/TaxQueries.ts"

const instrument = Noun.declare({
  queries: [
    ...InstrumentQueries.queries,
    ...SeriesQueries.queries,
    ...PrecheckQueries.queries,
    ...RegisterQueries.queries,
    ...MovementQueries.queries
  ]
})

const holder = Noun.declare({
  queries: [...PortfolioQueries.queries, ...HolderStatementQueries.queries, ...TaxQueries.queries],
  formulas
})

const worklist = Noun.declare({
  queries: [
    ...OpenOrderQueries.queries,
    ...ProposalQueries.queries,
    ...CashMatchQueries.queries,
    ...WorkQueries.queries
  ]
})

const search = Noun.declare({ queries: SearchQueries.queries })

const externalStatement = Noun.declare({ queries: StatementQueries.queries })

export const nouns = [instrument, holder, worklist, search, externalStatement] as const
