/** Pages that a person may open: a link to one that its roles do not read would lead to no page. */
import { records } from "../pages/Pages.ts"
import { areaPages } from "../shell/Areas.ts"

/** Read that a record's page makes first, by the first step of its address. */
const readOfPage: ReadonlyMap<string, string> = new Map([
  ...records.map(({ path, read }) => [path, read] as const),
  ...areaPages
    .filter(({ path }) => path.endsWith("/:id"))
    .map(({ path, reads }) => [path.slice(0, -"/:id".length), reads[0]] as const)
])

/** Checks whether the page at an address of a record is one that the reads admit. */
export const mayOpen = (path: string, mayRead: (read: string) => boolean): boolean => {
  const page = path.split(/[/?]/u)[0] ?? ""
  const read = readOfPage.get(page) ?? (page === "approvals" ? "approvals.get" : null)
  return read !== null && mayRead(read)
}
