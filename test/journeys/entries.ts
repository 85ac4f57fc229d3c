/**
 * Tracer of engine-core: a hook of the module loader that adds a call to each function of its
 * sources, so that files are recorded in the order in which their functions are entered.
 */
import { registerHooks } from "node:module"
import { parseAst } from "vitest/node"

const sources = new URL("../../packages/engine-core/src/", import.meta.url).href

/** Rooms whose functions are the words of every other room: a reader does not follow a call there. */
const words = /^(?:kernel|vocabulary)\//u

const callee = "recordEntry"

interface Node extends Readonly<Record<string, unknown>> {
  readonly type: string
  readonly start: number
  readonly end: number
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

/** Nodes that have a body which runs when they are called. */
const functions = new Set(["ArrowFunctionExpression", "FunctionDeclaration", "FunctionExpression"])

/** Adds a call to a TypeScript source, as the first thing that each of its functions does. */
export const withCalls = (source: string, call: string): string => {
  const insertions: Array<{ readonly at: number; readonly text: string }> = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!isNode(value)) return
    const { body, type } = value
    if (functions.has(type) && isNode(body)) {
      if (body.type === "BlockStatement") {
        insertions.push({ at: body.start + 1, text: `${call};` })
      } else {
        insertions.push({ at: body.start, text: `(${call},` }, { at: body.end, text: ")" })
      }
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(source, { lang: "ts" }))
  let rest = 0
  const parts = insertions
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => {
      const part = source.slice(rest, at) + text
      rest = at
      return part
    })
  return parts.join("") + source.slice(rest)
}

let entered: Array<string> | undefined

/** Instruments engine-core in this process; called before its first import. */
export const instrument = (): void => {
  Object.assign(globalThis, { [callee]: (file: string) => entered?.push(file) })
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const file = url.startsWith(sources) ? url.slice(sources.length) : undefined
      if (file === undefined || words.test(file)) return loaded
      const source = new TextDecoder().decode(loaded.source as Uint8Array)
      return { ...loaded, source: withCalls(source, `${callee}(${JSON.stringify(file)})`) }
    }
  })
}

/** Begins a recording. */
export const start = (): void => {
  entered = []
}

/** Ends the recording; returns the files in the order in which their functions were entered. */
export const end = (): ReadonlyArray<string> => {
  const files = entered ?? []
  entered = undefined
  return files
}
