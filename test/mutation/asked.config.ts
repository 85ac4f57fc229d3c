/** Config of the tests that are asked of a fault: of every command, but for the long run's own. */
import { defineConfig } from "vitest/config"
import tests from "../vitest.config.ts"

export default defineConfig({
  test: { ...tests.test, include: ["test/**/*.{test,spec,prop,model,suite,process,slow}.ts"] }
})
