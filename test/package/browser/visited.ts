/** Outcome of the visit of `plain-page.ts`, wherever the page runs. */
export const visited = {
  awaiting: "awaiting",
  signed: "queued",
  ended: ["succeeded", "elf", 6, "0.15"],
  refused: ["already-exists", 409, true],
  read: ["elf", "0.15", true],
  listed: ["elf"],
  table: true,
  events: true,
  cursor: true
}
