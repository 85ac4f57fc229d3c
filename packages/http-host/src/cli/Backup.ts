/** `bursar backup` and `bursar restore`: a venue as one set of files, and the way back from it. */
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { resolve } from "node:path"
import * as HostConfig from "../HostConfig.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

export const backup = (deploying: VenueDeployment) =>
  Command.make(
    "backup",
    {
      to: Flag.String("to").pipe(
        Flag.withDescription("Folder of the backup, which must not be there yet")
      )
    },
    Effect.fnUntraced(function* ({ to }) {
      const config = yield* HostConfig.loadForKeeper
      const { backedUp } = yield* deploying
      const { auditSeq, eventSeq, files } = yield* backedUp(config, resolve(to))
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      yield* Outcome.print(
        `backed up: ${files.length} files of ${bytes} bytes, with event ${eventSeq} and audit record ${auditSeq} at least; keep the folder like a password: it has the venue's keys`
      )
    })
  ).pipe(
    Command.withShortDescription("Back the venue up while it runs"),
    Command.withDescription(
      "Writes one folder with the database, the secrets of the data folder and a manifest with the hash of every file, as of one moment, while the venue's hosts go on. The embedded database is copied with its log by PostgreSQL's own means, on the machine and under the account of its host; one that database.url names is dumped by pg_dump, which must be installed and not older than the server. A backup that fails or is killed leaves no folder of that name."
    ),
    Command.withExamples([
      {
        command: "bursar backup --to /backups/2026-11-29",
        description: "Back up into a new folder"
      }
    ])
  )

export const restore = (deploying: VenueDeployment) =>
  Command.make(
    "restore",
    {
      from: Flag.String("from").pipe(Flag.withDescription("Folder of the backup"))
    },
    Effect.fnUntraced(function* ({ from }) {
      const config = yield* HostConfig.loadForKeeper
      const { restored } = yield* deploying
      const { auditSeq, eventSeq, takenAt, tenantId } = yield* restored(config, resolve(from))
      yield* Outcome.print(
        `restored and proven: ${tenantId} as of ${Instant.format(takenAt)} or shortly after, with event ${eventSeq} and audit record ${auditSeq}; bursar start serves it`
      )
    })
  ).pipe(
    Command.withShortDescription("Restore the venue from a backup"),
    Command.withDescription(
      "Restores a backup into an empty data folder, and into the embedded database or the empty one that database.url names (by pg_restore). Every file is compared with its hash before anything is written. The venue is proven before a start may take it: every secret that its latest start used is there, the audit log is in order against the anchors of the backup, and no event or audit record is missing that was there when the backup began. No start accepts the folder until then, so a restore that was killed is run again."
    ),
    Command.withExamples([
      {
        command: "BURSAR_DATA=/srv/bursar bursar restore --from /backups/2026-11-29",
        description: "Restore into a new data folder"
      }
    ])
  )
