/** Faults of idempotency keys and nonces. */
import { Keys } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "two-winners": {
    does: "tells two claims of one key that they won",
    noticedBy: ["lets one of 50 parallel claims win"],
    spoil: replace(Keys, ({ claim }) => {
      let lost = 0
      return {
        claim: (row) =>
          Effect.map(claim(row), (answer) =>
            answer.claimed || ++lost !== 1 ? answer : ({ claimed: true } as const)
          )
      }
    })
  },
  "impatient-claim": {
    does: "answers a claim from a transaction that has not committed",
    noticedBy: ["makes a claim wait for one that has not committed"],
    spoil: replace(Keys, ({ claim }) => {
      const seen = new Set<string>()
      return {
        claim: (row) =>
          Effect.suspend(() => {
            const name = `${row.scope} ${row.key}`
            if (seen.has(name)) return Effect.succeed({ claimed: false, winner: row } as const)
            seen.add(name)
            return claim(row)
          })
      }
    })
  },
  "key-for-ever": {
    does: "never lets a key be claimed anew",
    noticedBy: ["lets a key bind until its instant"],
    spoil: replace(Keys, ({ claim, find }) => ({
      claim: (row) => claim({ ...row, now: "" }),
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
    spoil: replace(Keys, ({ claim, free }) => {
      const targets = new Set<string>()
      return {
        claim: (row) =>
          Effect.suspend(() => {
            targets.add(row.target)
            return claim(row)
          }),
        free: (named) =>
          free([...targets].filter((target) => named.some((name) => target.startsWith(name))))
      }
    })
  }
} satisfies Record<string, Fault>
