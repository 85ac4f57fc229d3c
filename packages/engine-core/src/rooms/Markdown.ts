/** Parts of pages that are drawn from declarations: tables, words in code, anchors. */

/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|")

export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map(cell).join(" | ")} |`)
    .join("\n")

export const code = (word: string): string => `\`${word}\``

/** Words in code, with commas; a dash where there are none. */
export const codes = (words: ReadonlyArray<string>): string =>
  words.length === 0 ? "–" : words.map(code).join(", ")

/** The anchor a heading gets: what GitHub makes of it. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 _-]/gu, "")
    .replaceAll(" ", "-")
