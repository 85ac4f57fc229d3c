/** Faults of idempotency keys and nonces. */
import { Keys } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "bound-twice": {
    does: "tells two calls that they have bound one key",
    noticedBy: ["lets one of 50 parallel calls bind a key"],
    spoil: replace(Keys, ({ bind }) => {
      let lost = 0
      return {
        bind: (row) =>
          Effect.map(bind(row), (answer) =>
            answer.isBound || ++lost !== 1 ? answer : ({ isBound: true } as const)
          )
      }
    })
  },
  "impatient-binding": {
    does: "answers from a binding that has not committed",
    noticedBy: ["makes a call wait for a binding that has not committed"],
    spoil: replace(Keys, ({ bind }) => {
      const seen = new Set<string>()
      return {
        bind: (row) =>
          Effect.suspend(() => {
            const name = `${row.scope} ${row.key}`
            if (seen.has(name)) return Effect.succeed({ isBound: false, earlier: row } as const)
            seen.add(name)
            return bind(row)
          })
      }
    })
  },
  "key-for-ever": {
    does: "never lets a key be bound anew",
    noticedBy: ["lets a key bind until its instant"],
    spoil: replace(Keys, ({ bind, find }) => ({
      bind: (row) => bind({ ...row, now: "" }),
      find: (key) => find({ ...key, now: "" })
    }))
  },
  "nonce-twice": {
    does: "admits a nonce again",
    noticedBy: ["admits a nonce once"],
    spoil: replace(Keys, () => ({ useNonce: () => Effect.succeed(true) }))
  },
  "forgets-too-much": {
    does: "forgets more than the limit",
    noticedBy: ["forgets what has lapsed, up to the limit"],
    spoil: replace(Keys, ({ forget }) => ({
      forget: ({ before }) => forget({ before, limit: 1_000_000 })
    }))
  },
  "one-key-freed": {
    does: "frees the keys of the first target alone",
    noticedBy: ["frees every key of some targets"],
    spoil: replace(Keys, ({ free }) => ({ free: (targets) => free(targets.slice(0, 1)) }))
  },
  "every-key-freed": {
    does: "frees a key whose target only begins alike",
    noticedBy: ["frees every key of some targets"],
    spoil: replace(Keys, ({ bind, free }) => {
      const targets = new Set<string>()
      return {
        bind: (row) =>
          Effect.suspend(() => {
            targets.add(row.target)
            return bind(row)
          }),
        free: (named) =>
          free([...targets].filter((target) => named.some((name) => target.startsWith(name))))
      }
    })
  }
} satisfies Record<string, Fault>
