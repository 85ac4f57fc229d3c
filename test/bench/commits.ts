/** Compares two commits: their benches take turns, each in a work tree of its own. */
import { execFileSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Figure, figureOf, type Row } from "./measure.ts"

const root = new URL("../..", import.meta.url).pathname
/** Rounds of a row in each turn. */
const roundsOfTurn = 2

/**
 * Shares the installed packages with another work tree. The workspaces' own packages are links
 * relative to their tree, so that each tree runs its own sources.
 */
export const shareModules = (from: string, to: string): void => {
  mkdirSync(join(to, "node_modules"))
  for (const entry of readdirSync(join(from, "node_modules"))) {
    if (entry === ".cache") continue
    const source = join(from, "node_modules", entry)
    const target = join(to, "node_modules", entry)
    if (entry !== "@bursar") {
      symlinkSync(source, target)
      continue
    }
    mkdirSync(target)
    for (const name of readdirSync(source)) {
      symlinkSync(readlinkSync(join(source, name)), join(target, name))
    }
  }
}

/** Speeds of ours, by row, of one turn in one tree. */
const turn = (tree: string, args: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const json = join(tree, "bench-rows.json")
  execFileSync(
    process.execPath,
    [...["test/bench/bench.ts", ...args, "--rounds", String(roundsOfTurn)], "--json", json],
    { cwd: tree, stdio: ["ignore", "ignore", "inherit"] }
  )
  const rows = JSON.parse(readFileSync(json, "utf8")) as ReadonlyArray<Row>
  rmSync(json)
  return new Map(rows.map((row) => [row.bench, row.ours.speed.median]))
}

/** Ratios of the same turn, by row; rows that only one of the commits has are left out. */
export const ratiosOf = (
  turns: ReadonlyArray<{
    readonly here: ReadonlyMap<string, number>
    readonly there: ReadonlyMap<string, number>
  }>
): ReadonlyMap<string, Figure> => {
  const ratios = new Map<string, Array<number>>()
  for (const { here, there } of turns) {
    for (const [bench, speed] of here) {
      const before = there.get(bench)
      if (before !== undefined) ratios.set(bench, [...(ratios.get(bench) ?? []), speed / before])
    }
  }
  return new Map([...ratios].map(([bench, values]) => [bench, figureOf(values)]))
}

/**
 * Runs benches in this tree and in a work tree of the commit, in turns, and returns the speed here
 * divided by the speed there. The commit is measured by the benches of this tree and the test modules
 * that they import, so that both are measured in the same way; a commit whose sources those cannot
 * import fails.
 */
export const compare = (options: {
  readonly commit: string
  readonly args: ReadonlyArray<string>
  readonly turns: number
}): ReadonlyMap<string, Figure> => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-compare-"))
  const tree = join(folder, "tree")
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
  git("worktree", "add", "--quiet", "--detach", tree, options.commit)
  try {
    shareModules(root, tree)
    rmSync(join(tree, "test"), { recursive: true, force: true })
    cpSync(join(root, "test"), join(tree, "test"), { recursive: true })
    return ratiosOf(
      Array.from({ length: options.turns }, () => ({
        there: turn(tree, options.args),
        here: turn(root, options.args)
      }))
    )
  } finally {
    git("worktree", "remove", "--force", tree)
    rmSync(folder, { recursive: true, force: true })
  }
}
