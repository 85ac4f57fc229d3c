/** Runs a single command of an outside party's wallet program and waits for its end. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import type { ChildMessage } from "#demo/Child.ts"
import { NotAnswered } from "./Desk.ts"
import * as Parties from "#demo/Parties.ts"
import * as Programs from "#demo/Programs.ts"
import type { Stack } from "#demo/Stack.ts"

/**
 * Runs the command with the party's token, and the key of an external party; returns the acts that
 * it reports.
 */
export const act = async (
  { folder, ledgerDoor }: Pick<Stack, "folder" | "ledgerDoor">,
  party: "registrar" | "investor",
  command: string,
  parameters: Readonly<Record<string, string>>
): Promise<ReadonlyArray<ChildMessage>> => {
  const flags = {
    door: ledgerDoor,
    "token-file": join(folder, `${party}.token`),
    ...(Parties.isSigner(party) ? { "key-file": Parties.keyFile(folder, party) } : {}),
    wait: "30",
    ...parameters
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [Programs.wallet, party, command, ...args], {
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
    .map((line) => JSON.parse(line) as ChildMessage)
}
