/**
 * `npm run examples`: runs every example, one after another; an example ends by itself or has
 * failed.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const binaries = fileURLToPath(new URL("../node_modules/.bin", import.meta.url))

/** Commands of the examples: programs, and tests. */
const examples: ReadonlyArray<readonly [name: string, ...command: ReadonlyArray<string>]> = [
  ["01-embed-the-engine, the first write", "node", "01-embed-the-engine/first-write.ts"],
  ["01-embed-the-engine", "node", "01-embed-the-engine/main.ts"],
  ["02-run-the-host", "node", "02-run-the-host/main.ts"],
  ["03-your-own-ledger", "vitest", "run", "--root", here, "03-your-own-ledger"],
  ["04-property-test-a-machine", "vitest", "run", "--root", here, "04-property-test-a-machine"],
  ["05-precheck-an-act", "node", "05-precheck-an-act/main.ts"],
  ["06-outside-parties", "node", "06-outside-parties/main.ts"],
  ["07-call-with-the-client", "node", "07-call-with-the-client/main.ts"],
  ["07-call-with-the-client, the plain client", "node", "07-call-with-the-client/plain.ts"],
  ["08-distribute-monthly", "node", "08-distribute-monthly/main.ts"],
  ["09-reconcile-a-statement", "node", "09-reconcile-a-statement/main.ts"],
  ["10-a-room-of-its-own", "node", "10-a-room-of-its-own/main.ts"]
]

const minutes = 3
const failed = examples.filter(([name, program = "", ...args]) => {
  console.log(`\n# ${name}`)
  const { status, error } = spawnSync(`${binaries}/${program}`, args, {
    cwd: here,
    // The programs' shebang line needs `node` on the PATH: the one that npm installed.
    env: { ...process.env, PATH: `${binaries}:${process.env["PATH"] ?? ""}` },
    stdio: "inherit",
    timeout: minutes * 60_000
  })
  if (error !== undefined) console.error(error.message)
  return status !== 0
})

console.log(`\n${examples.length - failed.length} examples ran well, ${failed.length} did not`)
process.exitCode = failed.length === 0 ? 0 : 1
