/** Port: posts webhook deliveries, and judges which addresses they may go to. */
import { Context, Effect } from "effect"
import type { Trace } from "../kernel/Trace.ts"

/** Reasons of a failed attempt, as callers read them (docs/contract/webhooks.md#retries). */
export const failures = ["dns", "address-refused", "connect", "tls", "timeout", "status"] as const

/** Reason why a post was not taken. */
export type Failure = (typeof failures)[number]

/** One attempt: the address, the headers and the bytes to post. */
export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The trace it is part of, to be passed on under a new parent id; null: none is known. */
  readonly trace: Trace | null
}

/** Outcome of an attempt: a status, or the reason why there is none. */
export type AttemptOutcome =
  | {
      readonly status: number
      /** The answer's Retry-After as it came; null: it has none. */
      readonly retryAfter: string | null
    }
  | { readonly failure: Exclude<Failure, "status"> }

/** Judgement of an address: undefined where deliveries may go to it, else the reason why not. */
export type Judgement = string | undefined

/** Sender of webhooks: it judges an address and posts to it. */
export interface Sender {
  /** True: the sender posts deliveries; one that does not refuses every address. */
  readonly sends: "yes" | "no"
  /**
   * Judges an address as it would be judged before an attempt: its form, and every address that its
   * name has. It may ask the network, so it MUST NOT be called inside a transaction.
   */
  readonly judge: (url: string) => Effect.Effect<Judgement>
  /**
   * Makes one attempt. It MUST judge the address anew and open its socket to an address it judged;
   * MUST verify TLS, follow nothing, ignore proxies of the environment, read at most 64 KiB of the
   * answer and keep none of it; and MUST end within 15 seconds, 5 of them to connect.
   */
  readonly post: (post: Post) => Effect.Effect<AttemptOutcome>
}

/** Default: no sender; webhooks cannot be registered, and nothing is sent. */
export const none: Sender = {
  sends: "no",
  judge: () => Effect.succeed("This deployment posts no webhooks."),
  post: () => Effect.succeed({ failure: "address-refused" })
}

/** Port of the sender of webhooks; an engine without one posts nothing. */
export const WebhookSender = Context.Reference<Sender>("@bursar/engine-core/ports/WebhookSender", {
  defaultValue: () => none
})
