/**
 * A temporary venue, in a folder that is deleted and on free ports: for a demo, an example or a
 * test.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChildFailed } from "#demo/Child.ts"
import * as Stack from "#demo/Stack.ts"

/** Ignores the environment, which may configure a venue that is permanent. */
const settings = (data: string): Stack.Options["settings"] => ({
  data,
  databaseUrl: undefined,
  ports: { api: 0, management: 0, ledger: 0, identity: 0 }
})

/** Starts a venue, uses it and stops it; keeps the folder of a failed run for inspection. */
export const withTemporaryVenue = async <A>(
  options: Omit<Stack.Options, "settings">,
  use: (stack: Stack.Stack) => Promise<A>
): Promise<A> => {
  const data = await mkdtemp(join(tmpdir(), "bursar-demo-"))
  // The database may run under an account of its own, which must be able to enter the folder.
  await chmod(data, 0o755)
  let stack: Stack.Stack | undefined
  let failed = true
  try {
    stack = await Stack.start({ ...options, settings: settings(data) })
    const broken = stack.broken.then((how) => {
      throw new ChildFailed(how)
    })
    const result = await Promise.race([use(stack), broken])
    failed = false
    return result
  } finally {
    await stack?.stop()
    if (failed) console.error(`the folder of this run is kept: ${data}`)
    else await rm(data, { recursive: true, force: true })
  }
}
