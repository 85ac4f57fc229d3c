/**
 * The tests that read through caches, with every cache off, or of one entry: BURSAR_TEST_CACHES says
 * which, `off` or `one`. What other programs of a test load is not switched.
 */
import { defineConfig } from "vitest/config"
import tests from "../vitest.config.ts"
import { switching } from "./switches.ts"

export default defineConfig({
  plugins: [switching(process.env["BURSAR_TEST_CACHES"] === "one" ? "one entry" : "off")],
  test: {
    ...tests.test,
    // Vite's runner edits the sources as it loads them; Node does not.
    experimental: { viteModuleRunner: true },
    include: [
      "feeds",
      "four-eyes",
      "http",
      "operations",
      "postgres",
      "projection",
      "reads",
      "records",
      "simulation",
      "writes"
    ]
      .map((folder) => `test/${folder}/**/*.{test,spec,prop,model,slow}.ts`)
      .concat("test/caches/towns.ts"),
    exclude: [
      // Tests of a cache itself, and of how many statements and flushes its misses cost.
      "test/http/security/05-tokens.test.ts",
      "test/operations/dealing-cycle-figures.spec.ts",
      "test/postgres/settled-head.test.ts",
      "test/postgres/reading-scope.test.ts",
      "test/reads/kept-answers.spec.ts",
      "test/reads/empty-collections.spec.ts",
      "test/reads/statements.spec.ts",
      "test/records/versions.spec.ts"
    ]
  }
})
