/**
 * Account that the embedded database runs under: the host's, or an unprivileged one where the host
 * runs as root.
 */
import { readFile, stat } from "node:fs/promises"
import { failed } from "./EmbeddedFailed.ts"

export interface Account {
  /** Null: the same as the host. */
  readonly switchTo: { readonly uid: number; readonly gid: number; readonly name: string } | null
}

const PREFERRED = ["postgres", "nobody"]

/**
 * PostgreSQL refuses to run as root. A folder that holds a database already keeps its owner, so a
 * database made by a user goes on under that user when root starts it.
 */
export const choose = async (cluster: string): Promise<Account> => {
  if (process.getuid?.() !== 0) return { switchTo: null }
  const accounts = await known()
  const owner = await stat(cluster).catch(() => undefined)
  const asOwner = accounts.find((account) => account.uid === owner?.uid && account.uid !== 0)
  if (asOwner !== undefined) return { switchTo: asOwner }
  for (const name of PREFERRED) {
    const account = accounts.find((candidate) => candidate.name === name)
    if (account !== undefined) return { switchTo: account }
  }
  throw failed(
    "PostgreSQL does not run as root, and there is no account named postgres or nobody to run it as."
  )
}

/** initdb looks its own account up by name, so a bare number would not do. */
const known = async (): Promise<ReadonlyArray<{ uid: number; gid: number; name: string }>> => {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "")
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":")
    return name === undefined || uid === undefined || gid === undefined
      ? []
      : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}
