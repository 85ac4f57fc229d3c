/**
 * `npm run sim -- --seed N`: a town by chance, replayed exactly; the first line that differs between
 * two machines is a bug. `--steps M` of each run, `--runs R` seeds from N on, `--jobs J` processes
 * beside one another, `--until S` stops a run after step S, `--trace` prints each step. With
 * `--days D` dealing days with cycles, swings and gates; with `--venue` an engine at work in the background.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Calls from "../engine/calls.ts"
import { deal } from "./dealing.ts"
import { play } from "./town/run.ts"
import { simulate } from "./venue.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string" },
    until: { type: "string" },
    runs: { type: "string", default: "1" },
    jobs: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    days: { type: "string" },
    venue: { type: "boolean", default: false }
  }
})

const first = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
const [runs, jobs, every] = [Number(values.runs), Number(values.jobs), Number(values.every)]
const steps = Number(values.steps ?? (values.venue ? 300 : 2_000))

/** One run; returns its counts, or its findings. */
const one = async (seed: number): Promise<Readonly<Record<string, number>>> => {
  if (values.days !== undefined) {
    console.log(JSON.stringify(await Calls.runCase(deal({ seed, days: Number(values.days) }))))
    return {}
  }
  if (values.venue) {
    console.log(JSON.stringify(await Calls.runCase(simulate({ seed, steps }))))
    return {}
  }
  const until = values.until === undefined ? steps : Number(values.until)
  const summary = await play({ seed, steps: until, trace: values.trace })
  const { answers, holders, kills, seen, transactions, transcript } = summary
  console.log(
    `seed ${seed}, ${until} steps: ${holders} holders, ${transactions} transactions, ${kills} deaths, transcript ${transcript}, answers ${answers}`
  )
  return seen
}

const add = (to: Map<string, number>, seen: Readonly<Record<string, number>>) => {
  for (const [what, times] of Object.entries(seen)) to.set(what, (to.get(what) ?? 0) + times)
}

/** Each job takes every so many-th seed; the seeds together are the same, however many jobs. */
const spread = () =>
  Promise.all(
    Array.from(
      { length: jobs },
      (_, nth) =>
        new Promise<number>((ends) => {
          const share = Math.ceil((runs - nth) / jobs)
          // A large nursery spares the collector: most objects live for one step.
          const more = [
            ...["--max-semi-space-size=64", fileURLToPath(import.meta.url)],
            ...["--seed", String(first + nth * every), "--every", String(jobs * every)],
            ...["--runs", String(share), "--steps", String(steps)]
          ]
          spawn(process.execPath, more, {
            stdio: "inherit"
          }).on("exit", (code) => ends(code ?? 1))
        })
    )
  )

if (jobs > 1) {
  process.exitCode = Math.max(...(await spread()))
} else {
  const total = new Map<string, number>()
  const found: Array<number> = []
  const began = performance.now()
  for (let run = 0; run < runs; run++) {
    const seed = first + run * every
    try {
      add(total, await one(seed))
    } catch (error) {
      found.push(seed)
      console.log(error instanceof Error ? error.message : String(error))
    }
  }
  const seconds = (performance.now() - began) / 1_000
  const seen = Object.fromEntries([...total].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(
    JSON.stringify({ runs, steps: runs * steps, seconds: Math.round(seconds), found, seen })
  )
  if (found.length > 0) process.exitCode = 1
}
