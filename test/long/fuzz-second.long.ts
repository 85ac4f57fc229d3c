/** Half of the long walk of requests by chance: FUZZ_SEED and FUZZ_REQUESTS say which and how many. */
import { everyOtherTown } from "./fuzz.ts"

everyOtherTown(1)
