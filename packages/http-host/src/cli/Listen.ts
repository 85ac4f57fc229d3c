/** `bursar listen`: posts the events of a venue to a developer's machine, signed as webhook deliveries are. */
import { DeliveryRules, Vocabulary } from "@bursar/engine-core"
import { Nearest } from "@bursar/engine-core/kernel"
import { Data, Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { createHash, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as Kind from "../config/Kind.ts"
import { type FeedPlace, follow, type ListenerProgress } from "./FeedListener.ts"
import { DurableFiles } from "../DataFolder.ts"
import * as Outcome from "./Outcome.ts"
import { tokenOf } from "./Token.ts"

/** The listener ended by a fault; the message says by which. */
class ListenerEnded extends Data.TaggedError("ListenerEnded")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Milliseconds for which a token of the demo's provider is used again; it is valid for an hour. */
const tokenKeptFor = 600_000

/** Flag of an address, or a fault of the command line where the text is none. */
const address = (name: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Result.getSuccess(Kind.trustedAddress.read(text)),
      (text) => `${JSON.stringify(text)} is not ${Kind.trustedAddress.limit}`
    )
  )

const secret = Flag.String("secret").pipe(
  Flag.filter(
    (text) => DeliveryRules.secretOf(text) !== undefined,
    () => "a secret is whsec_ and base64 of 24 to 64 bytes"
  ),
  Flag.withDescription("The secret that signs; made anew and printed unless given"),
  Flag.optional
)

const controlTypes = Vocabulary.EventType.members.filter((type) => Vocabulary.isControl(type))

/** Whether the venue may announce a type: words of rooms are known to the venue alone, which judges them. */
const mayBeAnnounced = (word: string): boolean =>
  Vocabulary.EventType.has(word) && Vocabulary.isControl(word)

const events = Flag.String("events").pipe(
  Flag.map((text) => text.split(",").map((word) => word.trim())),
  Flag.filter(
    (words) => words.every(mayBeAnnounced),
    (words) => {
      const wrong = words.find((word) => !mayBeAnnounced(word)) ?? ""
      return Nearest.sentence("event", { word: wrong, set: controlTypes })
    }
  ),
  Flag.withDescription(
    "Types of the events, separated by commas; every control event unless given"
  ),
  Flag.withDefault([] as ReadonlyArray<string>)
)

export const listen = Command.make(
  "listen",
  {
    to: address("to").pipe(
      Flag.withDescription("Where to post, such as http://localhost:3000/hook")
    ),
    from: address("from").pipe(
      Flag.withDescription("Address of the venue's API; http://127.0.0.1:8080 unless given"),
      Flag.withDefault(new URL("http://127.0.0.1:8080"))
    ),
    events,
    secret,
    fromStart: Flag.Boolean("from-start").pipe(
      Flag.withDescription(
        "Begin with the first event that the venue keeps, and not with the next"
      ),
      Flag.withDefault(false)
    ),
    tenant: Flag.String("tenant").pipe(
      Flag.withDescription("Id of the venue; venue-1 unless given"),
      Flag.withDefault("venue-1")
    ),
    token: Flag.String("token").pipe(
      Flag.withDescription(
        "File with a bearer token, read anew for each call; unless given, the demo's provider is asked"
      ),
      Flag.optional
    ),
    client: Flag.String("client").pipe(
      Flag.withDescription("Client of the demo's provider; operator unless given"),
      Flag.withDefault("operator")
    ),
    issuer: Flag.String("issuer").pipe(
      Flag.withDescription("The demo's identity provider; http://127.0.0.1:9000 unless given"),
      Flag.withDefault("http://127.0.0.1:9000")
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Where the demo keeps its clients' secrets; .data/demo unless given"),
      Flag.withDefault(".data/demo")
    ),
    state: Flag.String("state").pipe(
      Flag.withDescription(
        "File that keeps the place in the feed; one under .data/listen for each pair of addresses unless given"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ events, from, fromStart, state, tenant, to, ...flags }) {
    const secret = Option.getOrElse(
      flags.secret,
      () => `whsec_${randomBytes(32).toString("base64")}`
    )
    const file = Option.getOrElse(state, () => defaultFile(from, to))
    const readPlace = placeIn(file)
    yield* Outcome.print(
      `posting the events of ${from.href} to ${to.href}, signed with ${secret}; the place is kept in ${file}`
    )
    yield* Effect.tryPromise({
      try: (signal) =>
        follow(
          {
            baseUrl: from.href,
            authorization: authorizationOf(flags),
            tenantId: tenant,
            target: to,
            // The flag was parsed before.
            secret: DeliveryRules.secretOf(secret) ?? new Uint8Array(),
            types: controlTypes.filter((type) => events.includes(type)),
            isFromStart: fromStart,
            readPlace,
            keepPlace: (place) => keep(file, place),
            tell: print
          },
          signal
        ),
      catch: (error) =>
        new ListenerEnded({ detail: error instanceof Error ? error.message : String(error) })
    }).pipe(
      // An interrupt by a signal is the orderly end of a listener.
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          process.exitCode = Outcome.exitCodes.done
        })
      )
    )
  })
).pipe(
  Command.withShortDescription("Post events to a machine of yours, without a webhook"),
  Command.withDescription(
    "Follows the event feed and posts each control event to an address, with the body, the headers and the signature of a webhook's delivery; no webhook is registered, and nothing of the venue is changed. Events are posted one after another. One that is not taken is posted again, up to ten times within some minutes; then the command ends with 1. Started again, it goes on after the last event that was taken."
  ),
  Command.withExamples([
    {
      command: "bursar listen --to http://localhost:3000/hook",
      description: "Post the events of the demo that happen from now on"
    },
    {
      command:
        "bursar listen --to http://localhost:3000/hook --from https://api.example.com --token token.txt --events subscription.claimed,subscription.settled",
      description: "Post two types of events of another venue"
    }
  ])
)

const print = (progress: ListenerProgress): void => {
  if (progress.on === "taken") {
    process.stdout.write(`${progress.seq} ${progress.type}: ${progress.status}\n`)
    return
  }
  const { outcome, secondsLeft, seq } = progress
  process.stderr.write(
    `bursar: the delivery of event ${seq} ${outcome}; again in ${secondsLeft} s\n`
  )
}

const authorizationOf = ({
  client,
  folder,
  issuer,
  token
}: {
  readonly client: string
  readonly folder: string
  readonly issuer: string
  readonly token: Option.Option<string>
}): (() => Promise<string>) => {
  if (Option.isSome(token)) {
    const file = token.value
    return async () => `Bearer ${(await readFile(file, "utf8")).trim()}`
  }
  let cachedToken: { readonly value: string; readonly at: number } | undefined
  return async () => {
    if (cachedToken === undefined || Date.now() - cachedToken.at > tokenKeptFor) {
      const value = await Effect.runPromise(tokenOf({ client, folder, issuer }))
      cachedToken = { value, at: Date.now() }
    }
    return `Bearer ${cachedToken.value}`
  }
}

const defaultFile = (from: URL, to: URL): string => {
  const hash = createHash("sha256").update(`${from.href}\n${to.href}`).digest("hex")
  return join(".data", "listen", `${hash.slice(0, 16)}.json`)
}

/** Reads the place that was kept; a file that is not there is a first start. */
const placeIn = (file: string) => async (): Promise<FeedPlace | null> => {
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  }
  const place = placeOf(JSON.parse(text))
  if (place === undefined) {
    throw new Error(`${file} holds no place in a feed: delete it to begin anew`)
  }
  return place
}

/** Reads a place; those of before have no event of a page that is taken in part, or no cursor after it. */
const placeOf = (value: unknown): FeedPlace | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const textAt = (name: string): string | null | undefined => {
    const member: unknown = Reflect.get(value, name)
    return member === null || typeof member === "string" ? member : undefined
  }
  const [since, after] = [textAt("since"), textAt("after")]
  const [taken, pageEnd] = ["taken", "pageEnd"].map((name) => (name in value ? textAt(name) : null))
  return since === undefined || after === undefined || taken === undefined || pageEnd === undefined
    ? undefined
    : { since, after, taken, pageEnd }
}

/** Writes the place beside the file and renames it, so that a kill leaves the one or the other. */
const keep = async (file: string, place: FeedPlace): Promise<void> => {
  await DurableFiles.makeFolder(dirname(file))
  await DurableFiles.replace(file, `${JSON.stringify(place)}\n`)
}
