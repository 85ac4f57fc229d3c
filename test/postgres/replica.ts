/** Streaming replica of a test: a server, and a copy of its folder that follows it. */
import { execFile } from "node:child_process"
import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Exit, Scope } from "effect"
import * as DatabaseProxy from "../database-proxy.ts"
import * as Embedded from "#adapters/storage/embedded/Embedded.ts"

/** Test data is discarded, so nothing needs to reach the disk. */
const settings = { fsync: "off", full_page_writes: "off", shared_buffers: "32MB" }

const folderOf = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "bursar-replica-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Makes a stopped server a standby, which replays and takes no writes. */
const standBy = async (cluster: string): Promise<void> => {
  const signal = join(cluster, "standby.signal")
  await writeFile(signal, "")
  const owner = await stat(cluster)
  await chown(signal, owner.uid, owner.gid)
}

export interface Servers {
  readonly primary: string
  readonly replica: string
  /** Cuts the replica off from its primary. */
  readonly cut: () => void
  /** Stops the primary, starts it again as a standby that follows nobody, and returns its address. */
  readonly demote: Effect.Effect<string, Embedded.EmbeddedFailed, Scope.Scope>
}

/** Starts both servers until the scope ends. */
export const start: Effect.Effect<Servers, Embedded.EmbeddedFailed, Scope.Scope> = Effect.gen(
  function* () {
    const [primary, replica] = [yield* folderOf, yield* folderOf]
    // The copy is taken from a stopped server: the embedded package has no pg_basebackup.
    yield* Effect.scoped(Embedded.startWith({ dataFolder: primary, settings }))
    const cluster = join(replica, "cluster")
    yield* Effect.promise(async () => {
      await promisify(execFile)("cp", ["-a", join(primary, "cluster"), cluster])
      await standBy(cluster)
    })
    const running = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
    const first = yield* Scope.provide(
      Embedded.startWith({ dataFolder: primary, settings }),
      running
    )
    const way = yield* Effect.acquireRelease(
      Effect.promise(() => DatabaseProxy.start(first.url)),
      ({ end }) => Effect.promise(end)
    )
    const { hostname, port, username, password } = new URL(way.url)
    const second = yield* Embedded.startWith({
      dataFolder: replica,
      settings: {
        ...settings,
        primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`
      }
    })
    return {
      primary: first.url,
      replica: second.url,
      cut: way.close,
      demote: Effect.gen(function* () {
        yield* Scope.close(running, Exit.void)
        yield* Effect.promise(() => standBy(join(primary, "cluster")))
        return (yield* Embedded.startWith({ dataFolder: primary, settings })).url
      })
    }
  }
)
