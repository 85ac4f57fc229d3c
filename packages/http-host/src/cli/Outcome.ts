/**
 * Output and exit codes of commands: answers on standard output, one line on standard error for
 * each fault.
 */
import { Cause, Effect, Exit, type Runtime } from "effect"
import { CliError, CliOutput } from "effect/cli"

/** Exit codes of the command `bursar`. */
export const exitCodes = {
  done: 0,
  /** The command failed, or its verification found a fault. */
  failed: 1,
  /** The command line is not valid. */
  usage: 2,
  /** Interrupted by a person, as a shell reports it. */
  interrupted: 130
} as const

/** Prints text on standard output. */
export const print = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
  })

/** Escapes line breaks and other control characters, so that one fault stays one line. */
const line = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim()

/** Prints each fault on a line of standard error; the process then ends with `code`. */
const printFaults = (faults: ReadonlyArray<string>, code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const fault of faults) process.stderr.write(`bursar: ${line(fault)}\n`)
    process.exitCode = code
  })

/** An error that consists of several faults, each printed on a line. */
interface SeveralFaults {
  readonly faults: ReadonlyArray<string>
}

/** Prints the error of a command as sentences, without a stack. */
export const printError = (
  error: { readonly message: string } | SeveralFaults
): Effect.Effect<void> => {
  if (CliError.isCliError(error)) return usage(error)
  return printFaults("faults" in error ? error.faults : [error.message], exitCodes.failed)
}

const usage = (error: CliError.CliError): Effect.Effect<void> => {
  if (error._tag !== "ShowHelp") return printFaults([error.message], exitCodes.usage)
  const [, ...path] = error.commandPath
  const helpCommand = ["bursar", ...path, "--help"].join(" ")
  const faults = error.errors.map(({ message }) => `${message} (${helpCommand} says how)`)
  return printFaults(
    faults.length > 0 ? faults : [`a command is missing (${helpCommand} lists them)`],
    exitCodes.usage
  )
}

/**
 * Prints help where it was asked for; for an invalid command line it prints one line instead of the
 * help.
 */
export const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "Help" && event.reason === "Implicit"
      ? Effect.void
      : CliOutput.defaultPresenter.present(event)
})

/**
 * Exit code of the process once its main fiber has ended. An interrupt is a failure (130), except
 * of a command whose orderly end it is: that command sets `process.exitCode` itself.
 */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  const set = process.exitCode
  const code = typeof set === "number" ? set : undefined
  if (Exit.isSuccess(exit)) return onExit(code ?? exitCodes.done)
  if (Cause.hasInterruptsOnly(exit.cause)) return onExit(code ?? exitCodes.interrupted)
  return onExit(exitCodes.failed)
}
