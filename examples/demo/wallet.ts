/** Runs a single command of an outside party's wallet program and waits for its end. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import type { Said } from "./Child.ts"
import { NotAnswered } from "./VenueClient.ts"
import * as Parties from "./parties.ts"
import { actor, type Stack } from "./Stack.ts"

/**
 * Runs the command with the party's token, and the key of an external party; returns the acts that
 * it reports.
 */
export const act = async (
  { folder, ledgerDoor }: Pick<Stack, "folder" | "ledgerDoor">,
  party: "registrar" | "investor",
  command: string,
  parameters: Readonly<Record<string, string>>
): Promise<ReadonlyArray<Said>> => {
  const flags = {
    door: ledgerDoor,
    "token-file": join(folder, `${party}.token`),
    ...(Parties.isSigner(party) ? { "key-file": Parties.keyFile(folder, party) } : {}),
    wait: "30",
    ...parameters
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [actor, party, command, ...args], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  let said = ""
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8")
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", resolve)
  })
  if (code !== 0) throw new NotAnswered(`the ${party}'s wallet did not ${command}: ${said}`)
  return said
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Said)
}
