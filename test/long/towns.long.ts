/** A town by chance of 1,500 acts, another one each day. */
import { it } from "vitest"
import { play } from "../simulation/town/run.ts"

const seed = Math.floor(Date.now() / 86_400_000)

it(`lets through no act that its gates are closed to, and loses no unit: npm run sim -- --seed ${seed} --steps 1500`, () =>
  play({ seed, steps: 1_500 }))
