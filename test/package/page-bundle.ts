/** Bundle of example 01 for a browser: one file, as small as it gets; what it cannot resolve is a fault. */
import { join } from "node:path"
import { rolldown } from "rolldown"
import { root } from "../architecture/sources.ts"

/** Bytes of the bundle, gzipped: engine, ledger, readers of statements and Effect; some above what it is. */
export const gzipMax = 680_000

export interface PageBundle {
  readonly code: string
  /** Messages of the bundler, each a fault: an import that is not there, a module of Node's. */
  readonly faults: ReadonlyArray<string>
  /** Modules that the one file would load. */
  readonly imports: ReadonlyArray<string>
}

export const bundleExample = async (): Promise<PageBundle> => {
  const faults: Array<string> = []
  const bundle = await rolldown({
    input: join(root, "test/package/browser/example.ts"),
    platform: "browser",
    onLog: (_, { message }) => void faults.push(message)
  })
  const { output } = await bundle.generate({ format: "es", minify: true, codeSplitting: false })
  await bundle.close()
  const [{ code, dynamicImports, imports }, ...more] = output
  if (more.length > 0) faults.push(`the bundle has ${output.length} files`)
  return { code, faults, imports: [...imports, ...dynamicImports] }
}

/** Lines of the example without what differs from run to run: days, ids, and offsets, by who was first. */
export const comparable = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) =>
    line
      .replace(/\d{4}-\d\d-\d\d/u, "today")
      .replace(/at offset \d+/u, "at an offset")
      .replace(/approvals\/\w+/u, "approvals/…")
  )
