/** Registry of packages and of the rules of their templates. */
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import type { Entity } from "./Entity.ts"
import * as Identifiers from "./Identifiers.ts"
import * as LedgerError from "./LedgerError.ts"

export interface Package {
  readonly name: string
  readonly version: string
  readonly packageId: string
}

export interface Registry {
  readonly packages: ReadonlyArray<Package>
  readonly entities: ReadonlyMap<string, Entity>
  readonly interfaces: ReadonlySet<string>
  readonly packageIds: ReadonlyMap<string, string>
}

const version = "1.0.0"

const keyOf = ({ typeRef }: Entity): string => Templates.key(typeRef)

/** Finds the first template that is there twice; null: there is none. */
export const twiceIn = (entities: ReadonlyArray<Entity>): string | null => {
  const keys = entities.map(keyOf)
  return keys.find((key, at) => keys.indexOf(key) !== at) ?? null
}

/**
 * Makes the registry of templates, those of the engine first. Throws where a template is there twice: one
 * from outside takes the place of another only as a replacement.
 */
export const make = (rules: {
  readonly entities: ReadonlyArray<Entity>
  readonly replacements: ReadonlyArray<Entity>
}): Registry => {
  const replaced = new Map(rules.replacements.map((entity) => [keyOf(entity), entity]))
  const entities = rules.entities.map((entity) => replaced.get(keyOf(entity)) ?? entity)
  const twice = twiceIn(entities)
  if (twice !== null) throw new Error(`the template ${twice} is there twice`)
  const refs = entities.flatMap((entity) => [entity.typeRef, ...entity.interfaces])
  const names = [...new Set(refs.map((ref) => ref.packageName))].sort()
  const packages = names.map((name) => ({
    name,
    version,
    packageId: Identifiers.packageId({ name, version })
  }))
  return {
    packages,
    entities: new Map(entities.map((entity) => [Templates.key(entity.typeRef), entity])),
    interfaces: new Set(entities.flatMap((entity) => entity.interfaces.map(Templates.key))),
    packageIds: new Map(packages.map(({ name, packageId }) => [name, packageId]))
  }
}

export const packageIdOf = (registry: Registry, ref: Ledger.TypeRef): string => {
  const packageId = registry.packageIds.get(ref.packageName)
  if (packageId === undefined) throw new Error(`no package ${ref.packageName}`)
  return packageId
}

const unknownPackage = (name: string): LedgerError.LedgerError =>
  LedgerError.make("PACKAGE_NAMES_NOT_FOUND", `The package name ${name} is not known`, {
    context: { package_name: name },
    resources: [["PACKAGE_NAME", name]]
  })

const unknownEntity = (ref: Ledger.TypeRef): LedgerError.LedgerError =>
  LedgerError.make(
    "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME",
    `The package ${ref.packageName} has no ${ref.module}:${ref.entity}`,
    { resources: [["PACKAGE_NAME", ref.packageName]] }
  )

/** Finds a template's rules, or fails with the unknown part of its name. */
export const entity = (
  registry: Registry,
  ref: Ledger.TypeRef
): Result.Result<Entity, LedgerError.LedgerError> => {
  const found = registry.entities.get(Templates.key(ref))
  if (found !== undefined) return Result.succeed(found)
  return Result.fail(
    registry.packageIds.has(ref.packageName) ? unknownEntity(ref) : unknownPackage(ref.packageName)
  )
}

export const isInterface = (registry: Registry, ref: Ledger.TypeRef): boolean =>
  registry.interfaces.has(Templates.key(ref))

/** Checks whether a type that a filter names exists: a template or an interface. */
export const checkExists = (
  registry: Registry,
  ref: Ledger.TypeRef
): Result.Result<void, LedgerError.LedgerError> => {
  if (isInterface(registry, ref)) return Result.void
  const found = entity(registry, ref)
  return Result.isFailure(found) ? Result.fail(found.failure) : Result.void
}
