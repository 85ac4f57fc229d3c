/** Ten towns by chance, walked with the caches of this run and by a program with all of them: the same acts and the same bytes of every answer. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { play } from "../simulation/town/run.ts"

const steps = 200
const seeds = Array.from({ length: 10 }, (_, nth) => 41 + nth)
const program = new URL("../simulation/sim.ts", import.meta.url).pathname

/** The line of the simulation's program, which loads the sources of the caches as they are. */
const withCaches = async (seed: number): Promise<string> => {
  const args = [program, "--seed", String(seed), "--steps", String(steps)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return /transcript .*$/mu.exec(stdout)?.[0] ?? stdout
}

describe("a town with caches off or of one entry", () => {
  it.each(seeds)(
    `answers as with all of them: npm run sim -- --seed %i --steps ${steps}`,
    async (seed) => {
      const { answers, transcript } = await play({ seed, steps })
      expect(`transcript ${transcript}, answers ${answers}`).toBe(await withCaches(seed))
    }
  )
})
