/** Page of the problems at /docs/problems, to which each problem links by its slug. */
import { Catalogue } from "@bursar/engine-core"

export const path = "/docs/problems"

/** Value of the Link header of a problem (RFC 8288): where its slug is explained. */
export const linkOf = (slug: string, basePath: string): string =>
  `<${basePath}${path}#${slug}>; rel="help"`

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const again = (retryable: boolean): string =>
  retryable
    ? "The same call may succeed later, not before <code>Retry-After</code>."
    : "The same call is refused again until something has changed."

const section = ([slug, { retryable, status, title }]: readonly [
  string,
  { readonly retryable: boolean; readonly status: number; readonly title: string }
]): string =>
  `<section id="${slug}">
<h2>${slug}</h2>
<p>Status ${status}. ${escaped(title)} ${again(retryable)}</p>
</section>`

/** The page's HTML, the same for every caller; the refusals of rooms come after those of the engine. */
export const textOf = (
  { refusals }: Pick<Catalogue.Catalogue, "refusals"> = Catalogue.builtIn
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Problems</title>
<style>body{font-family:sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}h2{font-size:1.1rem}:target{background:#fff3c4}</style>
</head>
<body>
<h1>Problems</h1>
<p>A refusal is a problem (RFC 9457) whose <code>type</code> is <code>urn:bursar:problem:</code> and one of these words. Its <code>detail</code> says what was wrong with this call, <code>errors</code> where, and <code>recovery</code> what to do.</p>
${Object.entries(refusals).map(section).join("\n")}
</body>
</html>
`
