/**
 * Seeds of all tests that go by chance, in one place: fixed, so that a run of CI plays what the run
 * before it played, and drawn anew for each long run (`npm run soak`), which prints its seed.
 */
import * as fc from "fast-check"

/** Seed of every run of CI; another number here makes all walks others. */
export const fixed = 20_261_129

/** Seed of this run: `SOAK_SEED`, which the long run draws or is given, else the fixed one. */
export const seed = Number(process.env["SOAK_SEED"] ?? fixed)

/** Seed of one of several walks of a run: consecutive numbers are even and odd in turn. */
export const walkSeed = (nth: number): number => 2 * seed + nth

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
