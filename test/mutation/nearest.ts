/** Order in which tests are run against a fault of a source, the nearest first. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileOf, importsOf, root } from "../architecture/sources.ts"

const tests = globSync("test/**/*.{test,spec,prop,model,suite,process,slow}.ts", {
  cwd: root,
  exclude: ["**/node_modules/**", "test/package/consumer/**"]
}).toSorted()
const isTest = new Set(tests)

/** Tests of whole processes, machines and towns: slow, and asked last. */
const farFolders = /^test\/(architecture|demo|embedded|judged|kill|processes|simulation)\//u

/** A test that names a source starts it as a program of its own. */
const named = /["'`](?<path>[^"'`\s]+\.ts)["'`]/gu

/** A source starts the program beside it by its name, since the extension is another once it is built. */
const besideIt = /\bbeside\("(?<name>[\w./]+)"\)/gu

const textOf = (path: string): string => readFileSync(join(root, path), "utf8")

/** The files of the project whose code runs when this one is run. */
const runBy = (path: string): ReadonlyArray<string> => {
  const text = textOf(path)
  const imported = importsOf(text)
    .filter((one) => one.kind === "value")
    .map(({ specifier }) => fileOf(path, specifier))
  const started = text
    .matchAll(named)
    .flatMap(({ groups }) => [
      normalize(join(dirname(path), groups?.["path"] ?? "")),
      normalize(groups?.["path"] ?? "")
    ])
  const startedBeside = text
    .matchAll(besideIt)
    .map(({ groups }) => join(dirname(path), `${groups?.["name"]}.ts`))
  return [...imported.filter((file) => file !== null), ...started, ...startedBeside]
}

/** For every file, who runs it directly. */
const runnersOf = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const runners = new Map<string, Array<string>>()
  for (const path of globSync(["packages/*/src/**/*.ts", "test/**/*.ts"], {
    cwd: root,
    exclude: ["**/node_modules/**"]
  })) {
    for (const file of new Set(runBy(path))) {
      const paths = runners.get(file)
      if (paths === undefined) runners.set(file, [path])
      else paths.push(path)
    }
  }
  return runners
}

export const wordsOf = (path: string): ReadonlySet<string> =>
  new Set(
    path
      .replace(/^(test|packages\/[^/]+\/src)\//u, "")
      .replace(/\.(test|spec|prop|model|suite|process|slow)?\.?ts$/u, "")
      .split(/[/.-]|(?<=[a-z])(?=[A-Z])/u)
      .map((word) => word.toLowerCase().replace(/s$/u, ""))
  )

/**
 * Sources that give a test its database: such a test is slower, and runs after the others of its
 * distance.
 */
const databases = /^packages\/storage-adapters\/src\/(embedded|postgres)\//u
const database = "packages/storage-adapters/src/storage/embedded/Embedded.ts"

/** Every file that runs this one, by how many imports lie between. */
const runFrom = (
  path: string,
  runners: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyMap<string, number> => {
  const steps = new Map([[path, 0]])
  // A map visits what is added while it is walked, so this ends once nothing new is found.
  for (const [file, far] of steps) {
    if (isTest.has(file)) continue
    for (const runner of runners.get(file) ?? []) {
      if (!steps.has(runner)) steps.set(runner, far + 1)
    }
  }
  return steps
}

/**
 * Tests that are chosen by nearness alone; the rest are taken from their folders in turns, so that
 * none is left out.
 */
const nearestAlone = 8

const inTurns = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folders = [...Map.groupBy(paths, dirname).values()]
  const longest = Math.max(0, ...folders.map(({ length }) => length))
  return Array.from({ length: longest }, (_, nth) =>
    folders.flatMap((folder) => folder.slice(nth, nth + 1))
  ).flat()
}

/**
 * The tests that run a source, nearest first: by how many imports lie between, by how many words
 * their paths share, and with tests of whole processes last. Empty where no test runs it.
 */
export const nearestBy = (): ((path: string) => ReadonlyArray<string>) => {
  const runners = runnersOf()
  const stored = runFrom(database, runners)
  const words = new Map(tests.map((test) => [test, wordsOf(test)]))
  return (path) => {
    const own = wordsOf(path)
    const farness = (test: string, steps: number): number =>
      steps -
      2 * Math.min(3, own.intersection(words.get(test) ?? new Set()).size) +
      (stored.has(test) && !databases.test(path) ? 3 : 0)
    const all = [...runFrom(path, runners)]
      .filter(([file]) => isTest.has(file))
      .map(([test, steps]) => ({ test, far: farness(test, steps) }))
      .toSorted((a, b) => a.far - b.far || (a.test < b.test ? -1 : 1))
      .map(({ test }) => test)
    const [near = [], far = []] = [false, true].map((isFar) =>
      all.filter((test) => farFolders.test(test) === isFar)
    )
    return [...near.slice(0, nearestAlone), ...inTurns(near.slice(nearestAlone)), ...far]
  }
}
