/** Lock files: every package from a registry is installed by the hash of what was reviewed. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"

/** Entry of a package in a lock file of npm, by the folder that it is installed in. */
interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  /** True for a workspace's entry in node_modules, which is a link to its folder. */
  readonly link?: boolean
}

const files = globSync("{package-lock.json,*/**/package-lock.json}", {
  cwd: root,
  exclude: (path) => path.includes("node_modules")
}).toSorted()

it("looks at each lock file of the project", () => {
  expect(files).toEqual(["package-lock.json", "test/tools/package-lock.json"])
})

describe.each(files)("%s", (file) => {
  const { packages } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && link !== true
  )

  it("has a hash of SHA-512 for every package, so that npm ci verifies each", () => {
    expect(installed.length).toBeGreaterThan(100)
    const without = installed
      .filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/u.test(integrity ?? ""))
      .map(([path]) => path)
    expect(without).toEqual([])
  })

  it("names no address of a registry: whoever installs chooses it, and the hash verifies it", () => {
    const addressed = installed.filter(([, { resolved }]) => resolved !== undefined)
    expect(addressed).toEqual([])
  })
})
