/**
 * Config of the tests that start and kill programs (`npm run test:processes`): several hosts on one
 * database, and hosts that die or sleep in the middle of a write.
 */
import { defineConfig } from "vitest/config"
import { hangs } from "../waiting.ts"
import tests from "../vitest.config.ts"

export default defineConfig({
  test: {
    ...tests.test,
    include: ["test/**/*.process.ts"],
    // Each file signs tokens by keys of its own, which a worker would keep for the next file.
    isolate: true,
    // Most of the work is that of the programs which a test starts, or it is waiting for them.
    maxWorkers: 3,
    testTimeout: 3 * hangs,
    // The log of a program is judged, not printed.
    disableConsoleIntercept: true
  }
})
