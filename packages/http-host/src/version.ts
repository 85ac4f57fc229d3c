/** The version of this package, as health and the command line tell it. */
import packageJson from "../package.json" with { type: "json" }

export const { version } = packageJson
