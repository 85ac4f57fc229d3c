/** Programs for browsers, bundled into one file by the bundler that comes with vitest. */
import { relative } from "node:path"
import { rolldown } from "rolldown"
import { expect } from "vitest"
import { root } from "../../architecture/sources.ts"

interface Bundle {
  readonly code: string
  /** Files that are in it, from the root of the project. */
  readonly files: ReadonlyArray<string>
}

/** A program in one file, as small as it gets, under the global name `program`; what it cannot resolve is a fault. */
export const bundle = async (program: string): Promise<Bundle> => {
  const faults: Array<string> = []
  const entry = "\0program"
  const made = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "program",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program : undefined)
      }
    ],
    onLog: (_, { message }) => void faults.push(message)
  })
  const { output } = await made.generate({ format: "iife", name: "program", minify: true })
  await made.close()
  expect(faults).toEqual([])
  expect(output).toHaveLength(1)
  const { code, modules } = output[0]
  const files = Object.entries(modules)
    // A name that begins with NUL is of no file: the program's, and that of the bundler's own parts.
    .filter(([id, { renderedLength }]) => !id.startsWith("\0") && renderedLength > 0)
    .map(([id]) => relative(root, id))
  return { code, files: files.toSorted() }
}
