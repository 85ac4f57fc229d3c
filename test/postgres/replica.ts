/** Streaming replica of a test: a server, and a copy of its folder that follows it. */
import { execFile } from "node:child_process"
import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, type Scope } from "effect"
import * as Embedded from "#adapters/embedded/Embedded.ts"

/** Test data is discarded, so nothing needs to reach the disk. */
const settings = { fsync: "off", full_page_writes: "off", shared_buffers: "32MB" }

const folderOf = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "bursar-replica-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Starts both servers until the scope ends, and returns their addresses. */
export const start: Effect.Effect<
  { readonly primary: string; readonly replica: string },
  Embedded.EmbeddedFailed,
  Scope.Scope
> = Effect.gen(function* () {
  const [primary, replica] = [yield* folderOf, yield* folderOf]
  // The copy is taken from a stopped server: the embedded package has no pg_basebackup.
  yield* Effect.scoped(Embedded.startWith({ dataFolder: primary, settings }))
  const cluster = join(replica, "cluster")
  yield* Effect.promise(async () => {
    await promisify(execFile)("cp", ["-a", join(primary, "cluster"), cluster])
    const signal = join(cluster, "standby.signal")
    await writeFile(signal, "")
    const owner = await stat(cluster)
    await chown(signal, owner.uid, owner.gid)
  })
  const first = yield* Embedded.startWith({ dataFolder: primary, settings })
  const { hostname, port, username, password } = new URL(first.url)
  const second = yield* Embedded.startWith({
    dataFolder: replica,
    settings: {
      ...settings,
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`
    }
  })
  return { primary: first.url, replica: second.url }
})
