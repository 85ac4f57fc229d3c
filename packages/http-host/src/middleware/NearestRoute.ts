/** Nearest route of a path that has none, for the detail of its refusal. */
import { Nearest } from "@bursar/engine-core/kernel"
import type { Method } from "../api/Verb.ts"

/** A path as it is written, in its segments and its verb. */
interface Steps {
  readonly segments: ReadonlyArray<string>
  readonly verb: string
}

interface NamedPath extends Steps {
  readonly method: Method
  readonly template: string
}

const first = "v1"

/** Makes the look-up over all routes; returns `METHOD /template`, undefined where none is near. */
export const make = (
  paths: ReadonlyArray<NamedPath>
): ((method: string, sent: Steps) => string | undefined) => {
  const byLength = Map.groupBy(paths, ({ segments }) => segments.length)
  return (method, sent) => {
    // A path without the interface's version is near the one with it.
    const segments = sent.segments[0] === first ? sent.segments : [first, ...sent.segments]
    let nearest: { readonly name: string; readonly far: number } | undefined
    for (const path of byLength.get(segments.length) ?? []) {
      const { far, literals } = difference(path, { segments, verb: sent.verb })
      if (far > Nearest.mayDiffer(literals)) continue
      // Of two that are as near, the one of the method that was called.
      const order =
        far + (path.method === method || (method === "HEAD" && path.method === "GET") ? 0 : 0.5)
      if (nearest === undefined || order < nearest.far) {
        nearest = { name: `${path.method} ${path.template}`, far: order }
      }
    }
    return nearest?.name
  }
}

/** Characters in which a path differs from a route's literals, and how many those have. */
const difference = (
  { segments, verb }: Steps,
  sent: Steps
): { readonly far: number; readonly literals: number } => {
  let far = verb === sent.verb ? 0 : Nearest.distance(sent.verb, verb)
  let literals = verb.length
  for (const [at, segment] of segments.entries()) {
    if (segment.startsWith("{")) continue
    literals += segment.length
    if (segment !== sent.segments[at]) far += Nearest.distance(sent.segments[at] ?? "", segment)
  }
  return { far, literals }
}
