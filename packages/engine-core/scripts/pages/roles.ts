/** Page of the roles, and the matrix of role and route. */
import { accesses } from "../../src/vocabulary/Access.ts"
import { Role, roleGroups, roles } from "../../src/vocabulary/Role.ts"
import { type DeclaredRead, reads, type Write, writes } from "./declared.ts"
import { code, type Page, page, table } from "./page.ts"

const sights = { all: "R", own: "own", near: "n", redacted: "r" } as const

const writeLetter = (write: Write, role: Role): string => {
  const makes = write.makers.includes(role) ? (write.approvers === 0 ? "W" : "M") : ""
  const approves =
    role === "approver" && write.approvers > 0 ? `A${write.approvers === 2 ? "²" : ""}` : ""
  return [makes, approves].filter((letter) => letter !== "").join(" ") || "–"
}

const readLetter = (read: DeclaredRead, role: Role): string => {
  const sight = read.audience[role]
  return sight === undefined ? "–" : sights[sight]
}

const head = ["", ...Role.members]

const matrix = (): ReadonlyArray<string> => [
  "## Writes",
  writes.length === 0
    ? "No write is declared yet."
    : table(
        head,
        writes.map((write) => [
          `[${code(write.kind)}](operations.md)`,
          ...Role.members.map((role) => writeLetter(write, role))
        ])
      ),
  "## Reads",
  reads.length === 0
    ? "No read is declared yet."
    : table(
        head,
        reads.map((read) => [
          code(read.route),
          ...Role.members.map((role) => readLetter(read, role))
        ])
      )
]

export const rolePage = (): Page =>
  page(
    "roles.md",
    "# Roles",
    table(
      ["Role", "Stands for", "What it is for"],
      Role.members.map((role) => [code(role), roleGroups[roles[role].group], roles[role].doc])
    ),
    "## Letters",
    table(
      ["Letter", "Meaning"],
      [
        ...Object.entries(accesses).map(([letter, meaning]) => [letter, meaning]),
        ["A²", "Approves, and two such approvers are needed."]
      ]
    ),
    ...matrix()
  )
