/** Page of the demo's identity provider on which whoever signs in at the console chooses a person. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Provider } from "oidc-provider"
import { audience, people, type Person } from "./People.ts"

/** Client of the venue console: public, so that its sign-in needs a proof of the code (PKCE). */
export const clientId = "venue-web"

/** Path of the page of one sign-in, before its id. */
export const path = "/interaction/"

export const personOf = (sub: string): Person | undefined =>
  Object.values(people).find((person) => person.sub === sub)

/** Checks whether an origin is of this machine, on which alone the demo's console runs. */
export const isLoopback = (origin: string): boolean =>
  URL.canParse(origin) && ["127.0.0.1", "localhost"].includes(new URL(origin).hostname)

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
}

const button = ({ name, role, sub }: Person): string =>
  `<li><form method="post"><button name="sub" value="${sub}"><b>${name}</b> <span>${role}</span></button></form></li>`

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to the demo</title>
<style>
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:3rem auto;padding:0 1rem}
ul{list-style:none;padding:0;display:grid;gap:.5rem}
button{font:inherit;width:100%;display:flex;justify-content:space-between;padding:.6rem .8rem;cursor:pointer}
span{opacity:.75}
</style>
</head>
<body>
<h1>Who signs in?</h1>
<p>This provider is the demo's own: it asks for no secret, and runs on this machine alone.</p>
<ul>
${Object.values(people).map(button).join("\n")}
</ul>
</body>
</html>
`

/** Bytes of a form that names a person, and no more. */
const formMax = 1_000

const sentForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  let text = ""
  for await (const part of request) {
    text += String(part)
    if (text.length > formMax) throw new Error("the form is too long")
  }
  return new URLSearchParams(text)
}

/** Answers the page, or takes the choice and goes on with the sign-in. */
export const answer = async ({
  openid,
  request,
  response
}: {
  readonly openid: Provider
  readonly request: IncomingMessage
  readonly response: ServerResponse
}): Promise<void> => {
  await openid.interactionDetails(request, response)
  if (request.method !== "POST") {
    response.writeHead(200, headers).end(html)
    return
  }
  const chosen = personOf((await sentForm(request)).get("sub") ?? "")
  if (chosen === undefined) throw new Error("nobody has this name")
  const grant = new openid.Grant({ accountId: chosen.sub, clientId })
  grant.addOIDCScope("openid profile email")
  grant.addResourceScope(audience, "")
  const grantId = await grant.save()
  await openid.interactionFinished(
    request,
    response,
    { login: { accountId: chosen.sub }, consent: { grantId } },
    { mergeWithLastSubmission: false }
  )
}
