/** Declarations of the room overviews: answers that draw on several rooms. */
import * as HolderStatementQueries from "./holder-statement/HolderStatementQueries.ts"
import * as InstrumentQueries from "./instrument/InstrumentQueries.ts"
import * as OpenOrderQueries from "./OpenOrderQueries.ts"
import * as PortfolioQueries from "./portfolio/PortfolioQueries.ts"
import * as PrecheckQueries from "./precheck/PrecheckQueries.ts"
import * as ProposalQueries from "./ProposalQueries.ts"
import * as MovementQueries from "./register/MovementQueries.ts"
import * as RegisterQueries from "./register/RegisterQueries.ts"
import * as StatementQueries from "./external-statement/StatementQueries.ts"
import * as SeriesQueries from "./series/SeriesQueries.ts"
import * as TaxQueries from "./tax-statement/TaxQueries.ts"

export { formulas } from "./tax-statement/TaxFormulas.ts"

export const queries = [
  ...InstrumentQueries.queries,
  ...SeriesQueries.queries,
  ...PrecheckQueries.queries,
  ...RegisterQueries.queries,
  ...MovementQueries.queries,
  ...PortfolioQueries.queries,
  ...HolderStatementQueries.queries,
  ...TaxQueries.queries,
  ...OpenOrderQueries.queries,
  ...ProposalQueries.queries,
  ...StatementQueries.queries
] as const
