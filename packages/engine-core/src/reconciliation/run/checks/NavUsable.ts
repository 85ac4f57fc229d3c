/**
 * Check `nav-usable`, pure: warns of a feed that lets no point price while an order waits for one
 * (docs/domain/reconciliation.md#feed-that-cannot-price).
 */
import { type Difference, withoutAmounts } from "../../../findings/FindingRules.ts"
import type { NavFeed } from "../../../instruments/price/NavFeed.ts"

const check = "nav-usable"

/** State of a mapped feed, and whether an order of the instrument waits for a price. */
export interface FeedState {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly state: typeof NavFeed.schema.Type
  readonly hasUnpriced: boolean
}

const unusable: ReadonlyArray<string> = ["ripcord", "missing", "stale"]

/** Returns a warning that names the state of the feed as its unit. */
export const differences = ({
  externalSourceId,
  hasUnpriced,
  instrumentId,
  state
}: FeedState): ReadonlyArray<Difference> =>
  hasUnpriced && unusable.includes(state)
    ? [
        withoutAmounts({
          check,
          instrumentId,
          subject: { resourceKind: "external-source", id: externalSourceId },
          holderId: null,
          severity: "warning",
          unit: state
        })
      ]
    : []
