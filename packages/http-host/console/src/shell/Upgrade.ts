/** A host that was upgraded under an open page: the page's further files are gone, and one reload finds the new. */

/** What browsers say of a module that they could not load. */
const missing =
  /(?:Failed to fetch|error loading) dynamically imported module|Importing a module script failed/iu

/** Checks whether an error says that a file of the page is missing. */
export const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && missing.test(error.message)

type Marks = Pick<Storage, "getItem" | "setItem" | "removeItem">

const name = "bursar.reloaded"

/** Checks whether the page was not reloaded for a missing file before, so that it never reloads without end. */
export const isFirst = (marks: Marks): boolean => marks.getItem(name) === null

export const mark = (marks: Marks): void => marks.setItem(name, "yes")

/** A page was loaded: a later upgrade is another. */
export const clear = (marks: Marks): void => marks.removeItem(name)
