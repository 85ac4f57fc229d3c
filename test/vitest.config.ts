/** How every test of the project is run: one config, the suffix of a file says its level. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.{test,spec,prop,model,suite}.ts"],
    exclude: ["**/node_modules/**", "test/package/consumer/**"],
    globalSetup: ["test/database.setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
