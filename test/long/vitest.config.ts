/** What is slow by its nature: run by itself, with the numbers its files read from the environment. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/long/**/*.long.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 1_800_000,
    // The log of a town is judged, not printed.
    disableConsoleIntercept: true
  }
})
