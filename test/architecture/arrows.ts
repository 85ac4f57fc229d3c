/** The arrows between packages, rooms and ranks, as data, and what breaks them. */
import {
  adapterFolders,
  hostLayers,
  isAmong,
  packageOf
} from "../../packages/engine-core/scripts/packages.ts"
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
  [5, /^((Engine|catalogue|index)\.ts$|(venue|rooms)\/)/u],
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

/** A file of no layer, such as the settings, is one that every layer may know: it lies lowest. */
export const hostLayerOf = (inside: string): number =>
  Math.max(
    0,
    hostLayers.findIndex(({ paths }) => paths.some((path) => inside.startsWith(path)))
  )

const mayImport = (home: string, inside: string, specifier: string): boolean => {
  const rule = packageOf(home)
  if (rule === undefined) return false
  const [scope, name] = specifier.split("/")
  return (
    isAmong(specifier, rule.outside) ||
    (scope === "@bursar" && name !== undefined && rule.inside.includes(name)) ||
    rule.besides.some(
      ({ files, imports }) => inside.startsWith(files) && isAmong(specifier, imports)
    )
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
  return imports.flatMap(({ kind, specifier }) => {
    const target = fileOf(path, specifier)
    if (kind === "type" || target === null || placeOf(target).home !== home) return []
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
  return imports.flatMap(({ kind, specifier }) => {
    const target = fileOf(path, specifier)
    const isAllowedType = kind === "type" && !closedRooms.has(roomOf(inside))
    if (isAllowedType || target === null || placeOf(target).home !== home) return []
    const there = placeOf(target).inside
    return heightOf(there) > heightOf(inside) ? [`${roomOf(inside)} → ${there}`] : []
  })
}

const wallets = /^ledger\/wallets\//u
/** The venue in one process, which plays the outside parties too. */
const inOneProcess = /^venue\//u

const hostDemo = /^packages\/http-host\/src\/demo\//u

/**
 * Imports by which a package would know the outside parties' programs, which import the door alone: of
 * the packages only the venue in one process and the demo of the host play them, and no other file imports the former.
 */
export const walletBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  if (!path.startsWith("packages/")) return []
  const own = adapterOf(path)
  return imports.flatMap(({ specifier }) => {
    const target = fileOf(path, specifier)
    if (target === null) return []
    const there = adapterOf(target)
    const allowed = hostDemo.test(path)
      ? !inOneProcess.test(there)
      : wallets.test(own)
        ? wallets.test(there) || /^packages\/engine-core\/src\/(kernel|templates)\//u.test(target)
        : inOneProcess.test(own) || !(wallets.test(there) || inOneProcess.test(there))
    return allowed ? [] : [`${path} imports ${target}`]
  })
}

/** Path of a source of the adapters below their `src`; empty for any other file. */
const adapterOf = (path: string): string => {
  const { home, inside } = placeOf(path)
  return home === "storage-adapters" ? inside : ""
}

const isTestFolder = (inside: string): boolean =>
  adapterFolders.tests.some((folder) => inside.startsWith(`${folder}/`))

/** Imports of the adapters that a venue runs of those that it tests with. */
export const adapterBreaches = ({ imports, path }: Source): ReadonlyArray<string> => {
  const { home, inside } = placeOf(path)
  if (home !== "storage-adapters" || isTestFolder(inside)) return []
  return imports.flatMap(({ specifier }) => {
    const target = fileOf(path, specifier)
    if (target === null || placeOf(target).home !== home) return []
    return isTestFolder(placeOf(target).inside) ? [`${path} imports ${target}`] : []
  })
}
