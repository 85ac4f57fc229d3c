/**
 * Examples of the document: what the stories answer when they are played again. With WRITE_EXAMPLES=1 they
 * are written anew (`npm run examples:play`).
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { texts } from "#host/api/document/ExampleTexts.ts"
import { type Examples, play } from "./played.ts"

const file = new URL("../../packages/http-host/src/api/document/ExampleTexts.ts", import.meta.url)

const quoted = (text: string): string =>
  /['\\\n]/.test(text) || !text.includes('"') ? JSON.stringify(text) : `'${text}'`

const moduleOf = (examples: Examples): string =>
  [
    "/** Texts of bodies and answers of stories that were played: written by `npm run examples:play`. */",
    "",
    "export const texts: Readonly<Record<string, string>> = {",
    [...examples]
      .map(([name, text]) => `  ${JSON.stringify(name)}:\n    ${quoted(text)}`)
      .join(",\n"),
    "}",
    ""
  ].join("\n")

it("the examples of the document are what the stories answer", { timeout: 300_000 }, async () => {
  const played = await play()
  if (process.env["WRITE_EXAMPLES"] === "1") writeFileSync(fileURLToPath(file), moduleOf(played))
  else expect(Object.fromEntries(played)).toEqual(texts)
})
