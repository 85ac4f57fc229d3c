/** The page of a room: what its declarations say, and current beside the example. */
import { RoomPage } from "@bursar/engine-core/rooms"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { room } from "../../examples/10-a-room-of-its-own/loans.ts"

const text = RoomPage.text(room)

describe("the page of a room", () => {
  it("lacks a word that the room declares, or an arrow of its machine", () => {
    const words = [
      "running --> overdue: lapse",
      'state "written-off" as written_off',
      "x-loan.grant",
      "POST /v1/x-loans/{loanId}:write-off",
      "x-loans.precheck",
      "### x-loan.overdue",
      "x-loan-not-overdue",
      "x-loan-due-later",
      "x-loan.repay",
      "example-loans-v1:Example.Loans:Loan"
    ]
    expect(words.filter((word) => !text.includes(word))).toEqual([])
  })

  it("has no heading without a row, and links to its own headings alone", () => {
    expect(text).not.toContain("## Checks of reconciliation")
    const links = [...text.matchAll(/\]\(#(?<at>[^)]+)\)/gu)].map(({ groups }) => groups?.["at"])
    const headings = [...text.matchAll(/^#+ (?<title>.+)$/gmu)].map(({ groups }) =>
      (groups?.["title"] ?? "").replaceAll(/[^a-z0-9 _-]/giu, "").toLowerCase()
    )
    expect(links.filter((link) => !headings.includes(link ?? ""))).toEqual([])
    expect(links.length).toBeGreaterThan(0)
  })

  it("is not current beside the example; run npm run docs", () => {
    const file = new URL("../../examples/10-a-room-of-its-own/x-loans.md", import.meta.url)
    expect(readFileSync(file, "utf8")).toBe(text)
  })
})
