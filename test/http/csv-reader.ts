/** Reader of CSV exports by RFC 4180, independent of the engine's writer. */

/** A reader of RFC 4180 that shares nothing with the writer; a cell that was quoted says so. */
export const read = (
  text: string
): ReadonlyArray<ReadonlyArray<{ text: string; quoted: boolean }>> => {
  const rows: Array<Array<{ text: string; quoted: boolean }>> = []
  let at = 0
  while (at < text.length) {
    const row: Array<{ text: string; quoted: boolean }> = []
    for (;;) {
      let cell = ""
      const quoted = text[at] === '"'
      if (quoted) {
        for (at += 1; ; at += 1) {
          if (at >= text.length) throw new Error("a quote is left open")
          if (text[at] !== '"') cell += text[at]
          else if (text[at + 1] === '"') {
            cell += '"'
            at += 1
          } else break
        }
        at += 1
      } else {
        while (at < text.length && text[at] !== "," && text[at] !== "\r") cell += text[at++]
      }
      row.push({ text: cell, quoted })
      if (text[at] === ",") at += 1
      else break
    }
    if (text.slice(at, at + 2) !== "\r\n") throw new Error(`no line ends at ${at}`)
    at += 2
    rows.push(row)
  }
  return rows
}

/** The lines of a table by the names of its first line; a cell that is empty without quotes is null. */
export const records = (text: string): ReadonlyArray<Readonly<Record<string, string | null>>> => {
  const [head = [], ...lines] = read(text)
  return lines.map((line) =>
    Object.fromEntries(
      line.map(({ quoted, text }, nth) => [
        head[nth]?.text ?? "",
        text === "" && !quoted ? null : text
      ])
    )
  )
}
