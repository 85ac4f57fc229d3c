/** Template names at the door: by package name in requests, by package id in answers. */
import type { Ledger } from "@bursar/engine-core/ports"
import { Result } from "effect"
import * as LedgerError from "../LedgerError.ts"

export interface Package {
  readonly name: string
  readonly version: string
  readonly packageId: string
}

export interface TypeNames {
  readonly packages: ReadonlyArray<Package>
  readonly byName: ReadonlyMap<string, Package>
  readonly byId: ReadonlyMap<string, Package>
}

export const make = (packages: ReadonlyArray<Package>): TypeNames => ({
  packages,
  byName: new Map(packages.map((entry) => [entry.name, entry])),
  byId: new Map(packages.map((entry) => [entry.packageId, entry]))
})

export const unknownPackage = (name: string): LedgerError.LedgerError =>
  LedgerError.make("PACKAGE_NAMES_NOT_FOUND", `The package ${name} is not known`, {
    resources: [["PACKAGE_NAME", name]]
  })

const grammar = /^(#?)([A-Za-z0-9_-]{1,255}):([A-Za-z0-9_.]{1,255}):([A-Za-z0-9_.]{1,255})$/

/**
 * Parses `#package-name:Module:Entity`, and `package-id:Module:Entity`, the form of the door's own
 * answers.
 */
export const read = (
  names: TypeNames,
  text: string
): Result.Result<Ledger.TypeRef, LedgerError.LedgerError> => {
  const [, hash, packageRef, module, entity] = grammar.exec(text) ?? []
  if (packageRef === undefined || module === undefined || entity === undefined) {
    return Result.fail(
      LedgerError.make("INVALID_FIELD", `${text} is not #package-name:Module:Entity`)
    )
  }
  const found = hash === "#" ? names.byName.get(packageRef) : names.byId.get(packageRef)
  return found === undefined
    ? Result.fail(unknownPackage(packageRef))
    : Result.succeed({ packageName: found.name, module, entity })
}

export const print = (packageId: string, ref: Ledger.TypeRef): string =>
  `${packageId}:${ref.module}:${ref.entity}`

/** Prints a type with the id of the package that is in force under its name. */
export const printCurrent = (names: TypeNames, ref: Ledger.TypeRef): string =>
  print(names.byName.get(ref.packageName)?.packageId ?? `#${ref.packageName}`, ref)
