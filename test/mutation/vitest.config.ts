/** Tests that write down which places of the sources they run, for `mutate --coverage`. */
import { mergeConfig } from "vitest/config"
import base from "./asked.config.ts"

export default mergeConfig(base, {
  test: { runner: new URL("coverageRunner.ts", import.meta.url).pathname }
})
