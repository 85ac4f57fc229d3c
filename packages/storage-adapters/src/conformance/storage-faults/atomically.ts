/** Faults of transactions. */
import { Atomically, FactLog, Keys } from "@bursar/engine-core/ports"
import { Context, Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "lost-rollback": {
    does: "keeps what a failed transaction wrote",
    noticedBy: [
      "leaves nothing behind when it fails after any step",
      "leaves nothing behind when it dies after any step",
      "shows others nothing of an open transaction"
    ],
    spoil: replace(Atomically, ({ run }) => ({
      run: (effect) => Effect.flatten(run(Effect.exit(effect)))
    }))
  },
  "lost-rollback-on-interruption": {
    does: "keeps what an interrupted transaction wrote",
    noticedBy: ["leaves nothing behind when it is interrupted after any step"],
    spoil: replace(Atomically, ({ run }) => ({
      run: (effect) =>
        Effect.flatMap(
          run(
            Effect.flatMap(Effect.exit(effect), (exit) =>
              exit._tag === "Failure" && exit.cause.reasons.some((r) => r._tag !== "Interrupt")
                ? Effect.failCause(exit.cause)
                : Effect.succeed(exit)
            )
          ),
          (exit) => exit
        )
    }))
  },
  "inner-run-alone": {
    does: "commits a run inside another by itself",
    noticedBy: ["joins a run inside another"],
    spoil: (all) => {
      // Appends the facts of the inner transaction again after the outer one has ended.
      const sound = Context.get(all, Atomically)
      const facts = Context.get(all, FactLog)
      let depth = 0
      const appends: Array<Parameters<typeof facts.append>[0]> = []
      return all.pipe(
        Context.add(Atomically, {
          ...sound,
          run: (effect) =>
            Effect.suspend(() => {
              depth += 1
              const inner = depth > 1
              return Effect.onExit(sound.run(effect), () =>
                Effect.suspend(() => {
                  depth -= 1
                  if (inner) return Effect.void
                  return Effect.forEach(appends.splice(0), (rows) =>
                    Effect.ignore(facts.append(rows))
                  )
                })
              )
            })
        }),
        Context.add(FactLog, {
          ...facts,
          append: (rows) =>
            Effect.suspend(() => {
              if (depth > 1) appends.push(rows)
              return facts.append(rows)
            })
        })
      )
    }
  },
  "lock-for-everybody": {
    does: "gives a lock to whoever asks, also outside a transaction",
    noticedBy: ["refuses a lock outside of a transaction"],
    spoil: replace(Atomically, () => ({ lock: () => Effect.void }))
  },
  "of-another-store": {
    does: "has a port of another store among its own",
    noticedBy: ["says in each port that it is of the same opening"],
    spoil: replace(Keys, () => ({ store: { name: "another" } }))
  }
} satisfies Record<string, Fault>
