/**
 * Table of the checks of reconciliation: names, severities, and what counts where a policy names
 * neither a tolerance nor a grace time. Each check is declared by its name on a page of
 * `reconciliation/checks`.
 */
import { Struct } from "effect"

interface Row {
  /** Severities of its findings, besides `info` where the whole difference is explained. */
  readonly severities: ReadonlyArray<"blocking" | "warning">
  /**
   * Tolerance where the policy names none (docs/domain/instruments.md#tolerances). `derived`: it
   * depends on more than the policy, such as the register, a statement's places or the feed.
   */
  readonly tolerance: string
  /**
   * Grace time where the policy names none (docs/domain/instruments.md#grace-times). `endless`: a
   * price point of any age may price an order (`nav-usable`); `source`: each source of statements has its own; null: the check has
   * no grace time.
   */
  readonly grace: string | null
  /**
   * True: it reads restrictions, cited orders or lines that wait for them, so that investors and apps
   * read neither how often it found something nor of what (docs/domain/holders.md#concealment).
   */
  readonly isConcealed?: true
}

// biome-ignore format: a table, one row a line, in the order in which the checks run
/** Checks of reconciliation, each with its severity and the sentence that documents it. */
export const reconciliationChecks = {
  "register-supply": { severities: ["blocking"], tolerance: "0", grace: null },
  "movements-balance": { severities: ["blocking"], tolerance: "0", grace: null },
  "register-line": { severities: ["blocking", "warning"], tolerance: "derived", grace: null },
  "statement-total": { severities: ["blocking"], tolerance: "0", grace: null },
  "lots-holdings": { severities: ["blocking"], tolerance: "0", grace: null },
  "supply-outstanding": { severities: ["blocking"], tolerance: "derived", grace: null },
  "nav-price": { severities: ["blocking", "warning"], tolerance: "0.0020", grace: null },
  "nav-movement": { severities: ["warning"], tolerance: "derived", grace: null },
  "nav-usable": { severities: ["warning"], tolerance: "0", grace: "endless" },
  "statement-overdue": { severities: ["blocking", "warning"], tolerance: "0", grace: "source" },
  "statement-gap": { severities: ["warning"], tolerance: "0", grace: null },
  "cash-settlement": { severities: ["blocking", "warning"], tolerance: "0", grace: "P2D" },
  "cash-unmatched": { severities: ["blocking", "warning"], tolerance: "0", grace: null },
  "cash-balance": { severities: ["blocking", "warning"], tolerance: "0", grace: null },
  "burned-unpaid": { severities: ["blocking"], tolerance: "0", grace: "P3D" },
  "claim-aging": { severities: ["warning"], tolerance: "0", grace: "P2D" },
  "custody-reserve": { severities: ["blocking", "warning"], tolerance: "0", grace: null },
  "reserve-cover": { severities: ["blocking"], tolerance: "0", grace: null },
  "reserve-report": { severities: ["blocking"], tolerance: "derived", grace: null },
  "reserve-price-fresh": { severities: ["warning"], tolerance: "0", grace: null },
  "distribution-recompute": { severities: ["blocking"], tolerance: "0", grace: null },
  "distribution-identity": { severities: ["blocking"], tolerance: "0", grace: null },
  "distribution-unpaid": { severities: ["warning"], tolerance: "0", grace: "P2D", isConcealed: true },
  "suspended-lines": { severities: ["warning"], tolerance: "0", grace: null, isConcealed: true },
  "restriction-effect": { severities: ["blocking"], tolerance: "0", grace: null, isConcealed: true },
  "admission-effect": { severities: ["blocking", "warning"], tolerance: "0", grace: null },
  "holder-cap": { severities: ["warning"], tolerance: "0", grace: null },
  "projection-drift": { severities: ["blocking", "warning"], tolerance: "0", grace: null },
  "orphan-locks": { severities: ["warning"], tolerance: "0", grace: null },
  "policy-replay": { severities: ["blocking", "warning"], tolerance: "0", grace: null, isConcealed: true }
} as const satisfies Readonly<Record<string, Row>>

/** Name of a check of reconciliation. */
export type CheckName = keyof typeof reconciliationChecks

/** Names of the checks of this release, in the order they run. */
export const checkNames: ReadonlyArray<CheckName> = Struct.keys(reconciliationChecks)

const rows: Readonly<Record<string, Row>> = reconciliationChecks

/**
 * Checks whether what a check finds is concealed from investors and apps. A check of a room is: what it
 * reads is known to the room alone.
 */
export const isConcealedCheck = (name: string): boolean => {
  const row = rows[name]
  return row === undefined || row.isConcealed === true
}

/**
 * Checks whether investors and apps read how often a check found something: where it is not concealed and
 * blocks nothing. Were the findings of one that blocks counted, an instrument that is blocked without such
 * a finding would show that a concealed check blocks it.
 */
export const isCountedForAll = (name: string): boolean =>
  !isConcealedCheck(name) && rows[name]?.severities.includes("blocking") !== true
