/** Queries of findings: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Read from "../reads/Read.ts"
import { Records, type Stored } from "../records/Records.ts"
import * as sets from "../vocabulary/sets.ts"
import { type Finding, FindingId, findings } from "./Finding.ts"
import * as FindingView from "./FindingView.ts"

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all"
} as const satisfies Read.Audience

const several = <A, E>(schema: Schema.Codec<A, E>) => Schema.optionalKey(Schema.Array(schema))
const { optionalKey, String: Text } = Schema

const Params = Schema.Struct({
  check: several(sets.ReconciliationCheck.schema),
  state: several(sets.FindingState.schema),
  severity: several(sets.FindingSeverity.schema),
  instrumentId: optionalKey(Text),
  holderId: optionalKey(Text),
  holdId: optionalKey(Text),
  runId: optionalKey(Text)
})
type Params = typeof Params.Type

const filterOf = (column: keyof Params, value: string | undefined) =>
  value === undefined ? {} : { [column]: [value] }

const whereOf = ({ check, state, severity, ...only }: Params): Read.Scope => ({
  ...(check === undefined ? {} : { check }),
  ...(state === undefined ? {} : { state }),
  ...(severity === undefined ? {} : { severity }),
  ...filterOf("instrumentId", only.instrumentId),
  ...filterOf("holderId", only.holderId),
  ...filterOf("holdId", only.holdId),
  ...filterOf("runId", only.runId)
})

/** Severities in the order of the list, the gravest first. */
const gravestFirst = ["blocking", "warning", "info"] as const

/**
 * Keyset page of findings, the gravest first. The severity is no part of the stored sort key, since
 * each run may change it: the page is put together from one list for each severity.
 */
const rowsOf = Effect.fnUntraced(function* (
  query: { readonly after: string | undefined; readonly limit: number },
  { pin }: Pick<Read.ReadContext, "pin">,
  params: Params
) {
  const records = yield* Records
  const [rank, after] = placeOf(query.after)
  const rows: Array<Read.ComputedRow<Stored<Finding>>> = []
  for (const [at, severity] of gravestFirst.entries()) {
    const isAsked = params.severity?.includes(severity) ?? true
    if (at < rank || !isAsked || rows.length === query.limit) continue
    const found = yield* records.list(findings, {
      pin,
      where: { ...whereOf(params), severity: [severity] },
      limit: query.limit - rows.length,
      ...(at === rank && after !== undefined ? { after } : {})
    })
    rows.push(...found.map(({ record, sortKey }) => ({ sortKey: `${at} ${sortKey}`, row: record })))
  }
  return rows
})

/** Decodes a sort key of the list: the place of its severity, and the stored sort key. */
const placeOf = (after: string | undefined): readonly [number, string | undefined] =>
  after === undefined ? [0, undefined] : [Number(after.slice(0, 1)), after.slice(2)]

const list = Read.list({
  name: "findings.list",
  doc: "Lists findings; those of a run as it left them where `asOf` is the end of the run.",
  route: "GET /v1/findings",
  audience,
  pinned: true,
  collection: findings,
  params: Params,
  item: FindingView.FindingView,
  direction: "asc",
  order: "by severity, the gravest first, then by the instant they were first seen, then by id",
  changes: false,
  acted: "never",
  where: whereOf,
  rows: rowsOf,
  view: (found) => Effect.succeed(found.map(FindingView.of))
})

const get = Read.one({
  name: "findings.get",
  doc: "A finding.",
  route: "GET /v1/findings/{findingId}",
  audience,
  pinned: true,
  params: Schema.Struct({ findingId: FindingId }),
  value: FindingView.FindingView,
  refuses: ["not-found"],
  run: Effect.fn("findings.get")(function* ({ findingId }, { pin }) {
    const records = yield* Records
    return FindingView.of(yield* records.get(findings, findingId, pin))
  })
})

export const queries = [list, get] as const
