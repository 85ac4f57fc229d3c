/** `bursar token`: takes a bearer token from the demo's identity provider, to try the API with. */
import { JsonText } from "@bursar/engine-core/kernel"
import { Data, Effect, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Kind from "../config/Kind.ts"
import * as Outcome from "./Outcome.ts"

/** The provider issued no token; `reason` says why. */
class NoToken extends Data.TaggedError("NoToken")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

const askedWithin = 10_000

/** File in which the demo's identity provider stores its clients. */
const Kept = Schema.Struct({ secrets: Schema.Record(Schema.String, Schema.String) })
const Discovered = Schema.Struct({ token_endpoint: Schema.String })
const Granted = Schema.Struct({ access_token: Schema.String })

/** Checks the provider's address: a client's secret is sent only to https, or to this machine. */
const trusted = (address: string): Effect.Effect<URL, NoToken> => {
  const read = Kind.trustedAddress.read(address)
  return Result.isSuccess(read)
    ? Effect.succeed(read.success)
    : Effect.fail(new NoToken({ detail: `the address is not ${Kind.trustedAddress.limit}` }))
}

const ask = <A>(address: URL, answer: Schema.Codec<A, unknown>, init: RequestInit = {}) =>
  Effect.tryPromise({
    try: async (signal) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(askedWithin)])
      const response = await fetch(address, { ...init, redirect: "error", signal: within })
      return { status: response.status, json: (await response.json()) as unknown }
    },
    catch: () => new NoToken({ detail: `${address.origin} does not answer; does the demo run?` })
  }).pipe(
    Effect.flatMap(({ status, json }) =>
      Effect.mapError(
        Schema.decodeUnknownEffect(answer)(json),
        () => new NoToken({ detail: `${address.href} answers ${status}, without what was asked` })
      )
    )
  )

const secretOf = Effect.fnUntraced(function* (client: string, folder: string) {
  const file = join(folder, "identity.json")
  const text = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: () => new NoToken({ detail: `there is no ${file}; was the demo ever started?` })
  })
  const json = yield* Effect.mapError(
    Effect.fromResult(JsonText.parse(text)),
    ({ message }) => new NoToken({ detail: `${file}: ${message}` })
  )
  const demoSecrets = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Kept)(json),
    () => new NoToken({ detail: `${file} is not what the demo keeps` })
  )
  const secret = Object.entries(demoSecrets.secrets).find(([name]) => name === client)?.[1]
  if (secret !== undefined) return secret
  return yield* new NoToken({
    detail: `there is no client ${JSON.stringify(client)}; there are ${Object.keys(demoSecrets.secrets).join(", ")}`
  })
})

/** Takes a bearer token of a client from the demo's provider, by the secret in the demo's folder. */
export const tokenOf = Effect.fnUntraced(function* ({
  client,
  folder,
  issuer
}: {
  readonly client: string
  readonly folder: string
  readonly issuer: string
}) {
  const secret = yield* secretOf(client, folder)
  const base = yield* trusted(issuer)
  const discovery = new URL(".well-known/openid-configuration", `${base.href.replace(/\/$/, "")}/`)
  const { token_endpoint } = yield* ask(discovery, Discovered)
  const { access_token } = yield* ask(yield* trusted(token_endpoint), Granted, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded"
    },
    body: "grant_type=client_credentials"
  })
  return access_token
})

export const token = Command.make(
  "token",
  {
    client: Argument.String("client").pipe(
      Argument.withDescription("Who signs in, by role: operator, approver, risk, auditor, …")
    ),
    issuer: Flag.String("issuer").pipe(
      Flag.withDescription("The identity provider; http://127.0.0.1:9000 unless given"),
      Flag.withDefault("http://127.0.0.1:9000")
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Where the demo keeps its clients' secrets; .data/demo unless given"),
      Flag.withDefault(".data/demo")
    )
  },
  (flags) => Effect.flatMap(tokenOf(flags), Outcome.print)
).pipe(
  Command.withShortDescription("Take a token from the demo's identity provider"),
  Command.withDescription(
    "Prints a bearer token of the demo's identity provider, valid for an hour, for the client of a role. It needs the demo running (bursar demo)."
  ),
  Command.withExamples([
    {
      command:
        'curl -H "Authorization: Bearer $(bursar token operator)" http://127.0.0.1:8080/v1/instruments',
      description: "Read the instruments as an operator"
    }
  ])
)
