/**
 * Output and exit codes of commands: answers on standard output, one line on standard error for
 * each fault.
 */
import { Cause, Effect, Exit, type Runtime } from "effect"
import { CliError, CliOutput } from "effect/cli"

/** How a process of `bursar` ends. */
export const exitCodes = {
  done: 0,
  /** The command could not do what it was asked for, or found what it was to find. */
  failed: 1,
  /** The command line is not one. */
  usage: 2,
  /** As a shell says that a person stopped it. */
  interrupted: 130
} as const

/** Prints an answer. */
export const print = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
  })

/** Line breaks and other control characters of a fault cannot make it look like two. */
const line = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim()

/** Tells each fault on a line of its own on standard error; the process then ends with `code`. */
const tell = (faults: ReadonlyArray<string>, code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const fault of faults) process.stderr.write(`bursar: ${line(fault)}\n`)
    process.exitCode = code
  })

/** Several faults that are told at once. */
interface Several {
  readonly faults: ReadonlyArray<string>
}

/** Whatever stops a command is told in a sentence, without a stack. */
export const told = (error: { readonly message: string } | Several): Effect.Effect<void> => {
  if (CliError.isCliError(error)) return usage(error)
  return tell("faults" in error ? error.faults : [error.message], exitCodes.failed)
}

const usage = (error: CliError.CliError): Effect.Effect<void> => {
  if (error._tag !== "ShowHelp") return tell([error.message], exitCodes.usage)
  const [, ...path] = error.commandPath
  const asked = ["bursar", ...path, "--help"].join(" ")
  const faults = error.errors.map(({ message }) => `${message} (${asked} says how)`)
  return tell(
    faults.length > 0 ? faults : [`a command is missing (${asked} lists them)`],
    exitCodes.usage
  )
}

/** Help is printed where it was asked for; a command line that is none is told in a line instead. */
export const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "Help" && event.reason === "Implicit"
      ? Effect.void
      : CliOutput.defaultPresenter.present(event)
})

/**
 * How the process ends when the main fiber has: a command that was interrupted failed, unless
 * being stopped is its orderly end, which it says by setting the process's code.
 */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  const set = process.exitCode
  const code = typeof set === "number" ? set : undefined
  if (Exit.isSuccess(exit)) return onExit(code ?? exitCodes.done)
  if (Cause.hasInterruptsOnly(exit.cause)) return onExit(code ?? exitCodes.interrupted)
  return onExit(exitCodes.failed)
}
