/**
 * Parser of a .http file, the format of editors' HTTP clients, with the expected answer of each
 * request.
 */

export interface Request {
  /** Text after `###`. */
  readonly title: string
  /** `# @name`: name by which later requests refer to the answer. */
  readonly name: string | undefined
  /** `# @expect 202 awaiting`: the expected status, and the state or the problem's slug. */
  readonly expect: { readonly status: number; readonly word: string | undefined }
  /** `# @until succeeded`: the request is repeated until the answer has this state. */
  readonly until: string | undefined
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Parses all requests, with their `{{variables}}` unresolved. */
export const requests = (file: string): ReadonlyArray<Request> =>
  file.split(/^###/m).slice(1).map(request)

const request = (part: string): Request => {
  const [title = "", ...lines] = part.split("\n")
  const directive = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`# @${name} `))?.slice(name.length + 4)
  const said = lines.filter((line) => !line.startsWith("#"))
  const first = said.findIndex((line) => line.trim() !== "")
  const [method = "", url = ""] = (said[first] ?? "").split(" ")
  const blank = said.findIndex((line, i) => i > first && line.trim() === "")
  const head = said.slice(first + 1, blank === -1 ? undefined : blank)
  const body = blank === -1 ? "" : said.slice(blank).join("\n").trim()
  const [status = "", word] = (directive("expect") ?? "200").split(" ")
  return {
    title: title.trim(),
    name: directive("name"),
    expect: { status: Number(status), word },
    until: directive("until"),
    method,
    url,
    headers: Object.fromEntries(
      head.map((line) => [
        line.slice(0, line.indexOf(":")),
        line.slice(line.indexOf(":") + 1).trim()
      ])
    ),
    body: body === "" ? undefined : body
  }
}

/** Replaces every `{{variable}}`; an unknown one is an error of the file. */
export const filled = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const value = variables.get(name)
    if (value === undefined) throw new Error(`the file does not say what {{${name}}} is`)
    return value
  })
