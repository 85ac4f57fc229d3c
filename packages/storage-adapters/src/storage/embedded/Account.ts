/**
 * Account that the embedded database runs under: the host's, or an unprivileged one where the host
 * runs as root.
 */
import { readFile, stat } from "node:fs/promises"
import { failed } from "./EmbeddedFailed.ts"

export interface Account {
  /** Null: the host's own account. */
  readonly switchTo: { readonly uid: number; readonly gid: number; readonly name: string } | null
}

const PREFERRED = ["postgres", "nobody"]

/**
 * Chooses the account. PostgreSQL refuses to run as root. A folder with a database keeps its owner,
 * so a user's database runs under that user also when root starts it.
 */
export const choose = async (cluster: string): Promise<Account> => {
  if (process.getuid?.() !== 0) return { switchTo: null }
  const accounts = await systemAccounts()
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

/** initdb resolves its own account by name, so a uid without a name would not do. */
const systemAccounts = async (): Promise<
  ReadonlyArray<{ uid: number; gid: number; name: string }>
> => {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "")
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":")
    return name === undefined || uid === undefined || gid === undefined
      ? []
      : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}
