/**
 * Half of the long walk of requests by chance: FUZZ_SEED and FUZZ_REQUESTS set the seed and the
 * number.
 */
import { everyOtherTown } from "./fuzz.ts"

everyOtherTown(0)
