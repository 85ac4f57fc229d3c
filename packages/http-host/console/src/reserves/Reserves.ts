/** What the pages of reserves show, computed: assets in rows, terms with their pending ones, cover as a sentence. */
import * as Decimals from "../words/Decimals.ts"

type Row = Readonly<Record<string, unknown>>

/** Name of an asset: its id and whose it is. */
export const assetKey = (asset: unknown): string => {
  const { admin, id } = asset as Row
  return `${String(admin)}/${String(id)}`
}

export interface AssetRow {
  readonly asset: Row
  /** Null: the reserve's terms name it, and nothing of it is locked. */
  readonly locked: Row | null
  /** Null: it is locked, and the terms in force do not count it. */
  readonly term: Row | null
}

/** Assets by the terms in force and by what is locked, those of the terms first. */
export const assetRows = ({ assets, termsInForce }: Row): ReadonlyArray<AssetRow> => {
  const locked = (assets ?? []) as ReadonlyArray<Row>
  const terms = (((termsInForce ?? {}) as Row)["assets"] ?? []) as ReadonlyArray<Row>
  const named = terms.map((term) => ({
    asset: term["asset"] as Row,
    term,
    locked: locked.find(({ asset }) => assetKey(asset) === assetKey(term["asset"])) ?? null
  }))
  const others = locked
    .filter(({ asset }) => !terms.some((term) => assetKey(term["asset"]) === assetKey(asset)))
    .map((one) => ({ asset: one["asset"] as Row, locked: one, term: null }))
  return [...named, ...others]
}

export interface CountedSum {
  readonly counted: string
  readonly isSame: boolean
}

/** Sum of what is counted of each asset against the reserve's; null: a figure is missing. */
export const countedOf = ({ assets, counted }: Row): CountedSum | null => {
  const whole = Decimals.figureOf(counted)
  const parts = ((assets ?? []) as ReadonlyArray<Row>).map((asset) =>
    Decimals.figureOf(asset["counted"])
  )
  if (whole === null || parts.some((part) => part === null)) return null
  const sum = Decimals.sum(["0", ...parts.filter((part) => part !== null)])
  return { counted: sum, isSame: Decimals.same(sum, whole) }
}

/** Cover as a sentence: what its state means for mints and holds. */
export const coverSentence = (state: unknown): string =>
  state === "covered"
    ? "The locked assets are worth what the minimum cover asks for."
    : state === "low"
      ? "The locked assets are worth less than the minimum cover asks for: nothing is minted, and a run holds the instrument."
      : state === "unknown"
        ? "It would be low, and a locked asset has never had a price: everything refuses it as if it were low."
        : `The cover is “${String(state)}”.`

export interface PendingTerms {
  readonly effectiveAt: string | null
  readonly terms: Row
}

/** Terms that hold later, with the instant from which they do; null: there are none. */
export const pendingOf = ({ pending }: Row): PendingTerms | null => {
  if (typeof pending !== "object" || pending === null) return null
  const { effectiveAt, terms } = pending as Row
  return {
    effectiveAt: typeof effectiveAt === "string" ? effectiveAt : null,
    terms: (terms ?? pending) as Row
  }
}

/** Why a ready order of a reserve waits, as a sentence; null: it is not ready. */
export const waitsBecause = (
  order: Row,
  { cover, kind }: { readonly kind: "mint" | "reserve-redemption"; readonly cover: unknown }
): string | null =>
  order["state"] !== "ready"
    ? null
    : kind === "mint" && cover !== "covered"
      ? "It waits: a mint needs the cover."
      : "The venue settles it by itself, once no gate refuses it."

/** What goes back to whom where an order is cancelled. */
export const cancelSentence = (kind: "mint" | "reserve-redemption"): string =>
  kind === "mint"
    ? "Cancelling gives the deposit's allocation back to the depositor; no unit is minted."
    : "Cancelling gives the locked units back to their owner; no asset leaves the reserve."

/** A pair of figures by their place in a report and in the reserve as it is read. */
export interface ReportRow {
  readonly name: string
  readonly reported: unknown
  readonly now: unknown
}

const reportMembers = ["outstanding", "sharePrice", "required", "counted"] as const

/** The ledger's figures of a report beside those that the engine computes now. */
export const reportRows = (report: Row, reserve: Row | null): ReadonlyArray<ReportRow> => {
  const view = (report["view"] ?? {}) as Row
  return [
    ...reportMembers.map((name) => ({
      name,
      reported: view[name],
      now: reserve === null ? null : reserve[name]
    })),
    {
      name: "cover",
      reported: ((view["cover"] ?? {}) as Row)["ratio"],
      now: reserve === null ? null : ((reserve["cover"] ?? {}) as Row)["ratio"]
    }
  ]
}
