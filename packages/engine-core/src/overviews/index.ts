/** Declarations of the room overviews: answers that draw on several rooms. */
import * as HolderStatementReads from "./holder-statement/HolderStatementReads.ts"
import * as InstrumentReads from "./instrument/InstrumentReads.ts"
import * as OpenOrderReads from "./OpenOrderReads.ts"
import * as PortfolioReads from "./portfolio/PortfolioReads.ts"
import * as PrecheckReads from "./precheck/PrecheckReads.ts"
import * as ProposalReads from "./ProposalReads.ts"
import * as MovementReads from "./register/MovementReads.ts"
import * as RegisterReads from "./register/RegisterReads.ts"
import * as StatementReads from "./external-statement/StatementReads.ts"
import * as SeriesReads from "./series/SeriesReads.ts"
import * as TaxReads from "./tax-statement/TaxReads.ts"

export { formulas } from "./tax-statement/TaxFormulas.ts"

export const reads = [
  ...InstrumentReads.reads,
  ...SeriesReads.reads,
  ...PrecheckReads.reads,
  ...RegisterReads.reads,
  ...MovementReads.reads,
  ...PortfolioReads.reads,
  ...HolderStatementReads.reads,
  ...TaxReads.reads,
  ...OpenOrderReads.reads,
  ...ProposalReads.reads,
  ...StatementReads.reads
] as const
