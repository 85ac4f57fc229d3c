/** Faults of bulk rows. */
import { Bulk, type BulkRow, type BulkSide } from "@bursar/engine-core/ports"
import { Effect, Stream } from "effect"
import { type Fault, replace } from "./Fault.ts"

const unnamed = ({ names: _, ...side }: BulkSide): BulkSide => side as BulkSide

export const faults = {
  "unsealed-rows": {
    does: "shows the rows of an owner before it is sealed",
    noticedBy: ["shows nothing of an owner before it is sealed"],
    spoil: replace(Bulk, ({ append }) => {
      const rows: Array<BulkRow> = []
      return {
        append: (owner, more) => {
          rows.push(...more)
          return append(owner, more)
        },
        read: ({ limit }) => Effect.sync(() => rows.slice(0, limit))
      }
    })
  },
  "sealed-owner-not-spared": {
    does: "discards a sealed owner that it is to spare",
    noticedBy: ["spares a sealed owner"],
    spoil: replace(Bulk, ({ discard }) => ({
      discard: ({ owner, limit }) => discard({ owner, limit })
    }))
  },
  "rows-of-no-key": {
    does: "finds the first rows of an owner, whichever keys are asked for",
    noticedBy: ["finds the rows of keys"],
    spoil: replace(Bulk, ({ read }) => ({
      find: ({ owner, keys }) => read({ owner, limit: keys.length })
    }))
  },
  "entries-of-any-amount": {
    does: "finds the entries of a reference, whatever amount they have",
    noticedBy: ["finds entries over all sealed owners"],
    spoil: replace(Bulk, ({ entries }) => ({
      entries: (wanted) =>
        entries(wanted.map((each) => ("match" in each ? { match: each.match } : each)))
    }))
  },
  "any-count-sealed": {
    does: "seals an owner of any number of rows",
    noticedBy: ["seals no owner of another number of rows"],
    spoil: replace(Bulk, () => ({ seal: () => Effect.void }))
  },
  "one-side-compared": {
    does: "compares only what both sides have",
    noticedBy: ["finds what differs by more than the tolerance"],
    spoil: replace(Bulk, ({ differences }) => ({
      differences: (comparison) =>
        Stream.filter(differences(comparison), ({ left, right }) => left !== null && right !== null)
    }))
  },
  "names-left-out": {
    does: "compares by what rows are matched by, and leaves out its names",
    noticedBy: ["compares records at a pin with rows"],
    spoil: replace(Bulk, ({ differences }) => ({
      differences: ({ left, right, ...comparison }) => {
        const [unnamedLeft, unnamedRight] = [unnamed(left), unnamed(right)]
        return differences({ ...comparison, left: unnamedLeft, right: unnamedRight })
      }
    }))
  },
  "sums-of-floats": {
    does: "sums decimals as floating point numbers",
    noticedBy: ["sums each group exactly"],
    spoil: replace(Bulk, ({ sum }) => ({
      sum: (owner) =>
        Effect.map(sum(owner), (sums) =>
          sums.map((each) => ({
            ...each,
            amounts: each.amounts.map((text) => String(Number(text)))
          }))
        )
    }))
  },
  "differences-collected": {
    does: "reads all differences into memory before it answers",
    noticedBy: ["compares in memory that does not grow"],
    spoil: replace(Bulk, ({ differences }) => ({
      differences: (comparison) =>
        Stream.unwrap(
          Effect.map(Stream.runCollect(differences(comparison)), (rows) =>
            Stream.fromIterable(
              rows.map((row) => ({ ...row, match: Buffer.from(row.match).toString() }))
            )
          )
        )
    }))
  }
} satisfies Record<string, Fault>
