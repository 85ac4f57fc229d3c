/**
 * Keeps breaches of published points. A breach is kept under the source and the asset of the point, since
 * any party may publish: only those whose prices come from that source are concerned
 * (docs/domain/reconciliation.md#policy-replay).
 */
import type { Node } from "../../projection/FromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import type { OraclePoint } from "../../templates/Price.ts"
import type { Payload } from "../../templates/Template.ts"
import { quoteIdOf } from "./AssetQuote.ts"
import { aheadMax } from "./QuoteOrder.ts"

type PointSource = Pick<Payload<typeof OraclePoint>, "oracle" | "registrar" | "instrumentId">

/** Kind under which the breaches of points are kept; their id is that of the source's asset quote. */
export const breachKind = "price-point"

/** Keeps a breach of a point: why it prices nothing, or does not count as the correction it claims to be. */
export const keep = (
  { oracle, registrar, instrumentId }: PointSource,
  node: Node,
  breach: { readonly on: "price" | "correct" | "ahead"; readonly detail: string }
) =>
  Unexpected.keep(node, {
    resourceKind: breachKind,
    resourceId: quoteIdOf({ source: oracle, asset: { admin: registrar, id: instrumentId } }),
    ...breach
  })

/** Keeps a breach of a point that is dated ahead beside as many others as a source may have. */
export const keepTooManyAhead = (point: PointSource, node: Node) =>
  keep(point, node, {
    on: "ahead",
    detail: `The source has ${aheadMax} points dated ahead of the present.`
  })
