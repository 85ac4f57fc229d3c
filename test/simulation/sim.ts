/** `npm run sim -- --seed N --steps M --runs R`: walks by chance and prints what came of it. */
import { parseArgs } from "node:util"
import * as Calls from "../engine/calls.ts"
import { simulate } from "./venue.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string", default: "300" },
    runs: { type: "string", default: "1" }
  }
})

const first = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
for (let run = 0; run < Number(values.runs); run++) {
  const seed = first + run
  console.log(`seed ${seed}, ${values.steps} steps`)
  console.log(JSON.stringify(await Calls.runCase(simulate({ seed, steps: Number(values.steps) }))))
}
