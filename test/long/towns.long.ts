/** A town by chance of 1,500 acts, another one for each long run, and towns whose walks once ended in a fault. */
import { it } from "vitest"
import { walkSeed } from "../seeds.ts"
import { play } from "../simulation/town/run.ts"

const seed = walkSeed(0)

it(`lets through no act that its gates are closed to, and loses no unit: npm run sim -- --seed ${seed} --steps 1500`, () =>
  play({ seed, steps: 1_500 }))

/** Of 911150, a holder sent an atom of unrestricted units to a stranger at step 785. */
it("plays the town in which an atom of unrestricted units came to a stranger", () =>
  play({ seed: 911_150, steps: 800 }))
