/** The checks of a reconciliation run, gathered from their pages in the order of the table. */
import { Context, Effect } from "effect"
import { compare } from "../../findings/FindingRules.ts"
import { checkNames } from "../../vocabulary/ReconciliationChecks.ts"
import * as Admissions from "./AdmissionChecks.ts"
import * as Cash from "./CashChecks.ts"
import type { Check } from "./Check.ts"
import * as Custody from "./CustodyChecks.ts"
import * as Distributions from "./DistributionChecks.ts"
import * as Drift from "./DriftChecks.ts"
import * as Lots from "./LotChecks.ts"
import * as Navs from "./NavChecks.ts"
import * as Orders from "./OrderChecks.ts"
import * as Policies from "./PolicyChecks.ts"
import * as Registers from "./RegisterChecks.ts"
import * as Reserves from "./ReserveChecks.ts"
import * as Restraints from "./RestraintChecks.ts"
import type { RoomCheck } from "./RoomCheck.ts"
import * as Statements from "./StatementChecks.ts"

const pages = [
  Registers,
  Statements,
  Lots,
  Navs,
  Cash,
  Orders,
  Custody,
  Reserves,
  Distributions,
  Restraints,
  Admissions,
  Drift,
  Policies
]

/** Exports of the pages that are checks; a page may export a part of one too. */
const declaredChecks = pages.flatMap((page) =>
  Object.values<unknown>(page).filter(
    (exported): exported is Check =>
      typeof exported === "object" && exported !== null && "differences" in exported
  )
)

/** The checks in the order they run. A name of the table that no page declares is a defect. */
export const checks: ReadonlyArray<Check> = checkNames.map((checkName) => {
  const [check, ...others] = declaredChecks.filter(({ name }) => name === checkName)
  if (check === undefined || others.length > 0) {
    throw new Error(
      `${checkName} is declared by ${others.length + (check ? 1 : 0)} checks, not by one`
    )
  }
  return check
})

/** Checks of the rooms that a venue adds, in the order of the rooms. */
export const Declared = Context.Reference<ReadonlyArray<RoomCheck>>(
  "@bursar/engine-core/reconciliation/RoomChecks",
  { defaultValue: () => [] }
)

/** A check of a room as runs make it. */
const checkOf = ({ comparisons, doc, facts, grace, name, needs, tolerance }: RoomCheck): Check => ({
  name,
  doc,
  rule: name,
  needs,
  cannot: {},
  facts: (instrument, { pin }) => facts(instrument, pin),
  differences: (fact, _ofPolicy, { now }) =>
    comparisons(fact, { now, grace }).flatMap((comparison) =>
      compare({ ...comparison, tolerance }).map((difference) => ({ ...difference, check: name }))
    )
})

/** Every check of this engine in the order they run: its own, then those of the rooms. */
export const all: Effect.Effect<ReadonlyArray<Check>> = Effect.map(Declared, (ofRooms) => [
  ...checks,
  ...ofRooms.map(checkOf)
])

/** Names of every check of this engine, in the order they run. */
export const allNames: Effect.Effect<ReadonlyArray<string>> = Effect.map(all, (each) =>
  each.map(({ name }) => name)
)

/** Names of the checks on which all others rest. */
export const groundNames: ReadonlyArray<string> = checks.flatMap(({ isGround, name }) =>
  isGround === true ? [name] : []
)

/** Names of the checks that compare facts of the venue, once a run. */
export const venueNames: ReadonlyArray<string> = checks.flatMap(({ name, venueFacts }) =>
  venueFacts === undefined ? [] : [name]
)
