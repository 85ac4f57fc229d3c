/**
 * Config of the slow tests (`npm run test:slow`): long histories by chance, instances that die or sleep
 * at every call, and lists over thousands of rows.
 */
import { defineConfig } from "vitest/config"
import tests from "../vitest.config.ts"

export default defineConfig({
  test: { ...tests.test, include: ["test/**/*.slow.ts"] }
})
