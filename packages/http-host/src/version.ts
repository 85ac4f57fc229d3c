/** Version of this package, as health and the command line print it. */
import { readFileSync } from "node:fs"

const read = (): string => {
  const json: unknown = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8")
  )
  const hasVersion = typeof json === "object" && json !== null && "version" in json
  if (!hasVersion || typeof json.version !== "string") throw new Error("the package has no version")
  return json.version
}

export const version = read()
