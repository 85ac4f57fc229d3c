/** Config of all tests but the long run: the suffix of a file says its kind. */
import { defineConfig } from "vitest/config"
import { hangs, pollLimit } from "./waiting.ts"

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.{test,spec,prop,model,suite}.ts"],
    exclude: ["**/node_modules/**", "test/package/consumer/**"],
    globalSetup: ["test/database.setup.ts"],
    setupFiles: ["test/seeds.ts"],
    // Programs that tests start load their code compiled, from one run to the next.
    env: {
      NODE_COMPILE_CACHE: new URL("../node_modules/.cache/compiled", import.meta.url).pathname
    },
    pool: "forks",
    // One a core of the machine it is meant for: each further worker loads and compiles everything once
    // more, which costs more than the waiting it fills.
    maxWorkers: 2,
    // A worker loads a source once for all its files; state that a helper keeps outlives a file.
    isolate: false,
    // Node itself loads the sources, as it does for every program here: a quarter less work than
    // Vite's runner, which reaches each import through an object.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: hangs,
    hookTimeout: hangs,
    expect: { poll: { timeout: pollLimit } }
  }
})
