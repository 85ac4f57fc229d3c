/**
 * `npm run sim -- --seed N --steps M --runs R`: walks by chance and prints what came of it; with
 * `--days D` instead of steps, dealing days with cycles, redemptions and policies.
 */
import { parseArgs } from "node:util"
import * as Calls from "../engine/calls.ts"
import { deal } from "./dealing.ts"
import { simulate } from "./venue.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string", default: "300" },
    days: { type: "string" },
    runs: { type: "string", default: "1" }
  }
})

const first = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
for (let run = 0; run < Number(values.runs); run++) {
  const seed = first + run
  const days = values.days === undefined ? null : Number(values.days)
  const steps = Number(values.steps)
  console.log(days === null ? `seed ${seed}, ${steps} steps` : `seed ${seed}, ${days} days`)
  const story =
    days === null ? Calls.runCase(simulate({ seed, steps })) : Calls.runCase(deal({ seed, days }))
  console.log(JSON.stringify(await story))
}
