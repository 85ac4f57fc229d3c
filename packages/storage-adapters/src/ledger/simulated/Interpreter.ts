/**
 * Interpreter of a submission's commands: checks authority, visibility and consumption node by
 * node.
 */
import type { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import * as Disclosure from "./Disclosure.ts"
import * as Entity from "./Entity.ts"
import type { Contract, CreateNode, ExerciseNode, Node } from "./Entry.ts"
import * as Identifiers from "./Identifiers.ts"
import * as LedgerError from "./LedgerError.ts"
import * as Registry from "./Registry.ts"

type Refusal = LedgerError.LedgerError
type Parties = ReadonlyArray<Party.Party>

interface Ask {
  readonly actAs: Parties
  readonly readAs: Parties
  readonly commands: ReadonlyArray<Ledger.Command>
  readonly disclosed: ReadonlyArray<Ledger.DisclosedContract>
}

interface LedgerWorld {
  readonly registry: Registry.Registry
  /** Returns the contract if it is active. */
  readonly active: (contractId: string) => Contract | undefined
  readonly seed: Uint8Array
  readonly offset: Offset.Offset
  readonly now: Instant.Instant
  readonly inputsMax: number
}

export interface Interpretation {
  readonly nodes: ReadonlyArray<Node>
  /** Contracts of earlier transactions that the transaction used. */
  readonly inputs: ReadonlyMap<string, Contract>
  readonly created: ReadonlyArray<Contract>
  readonly archived: ReadonlyArray<string>
}

/** Largest depth of nested exercises, so that every choice terminates. */
const depthMax = 64

/** Context of a node: authorizing parties, witnesses of its parent, depth. */
interface Context {
  readonly authority: ReadonlySet<string>
  readonly witnesses: Parties
  readonly depth: number
}

/** A contract as this transaction has used it. */
interface UsedContract {
  readonly contract: Contract
  readonly instance: Entity.Instance
}

export const interpret = (world: LedgerWorld, ask: Ask): Result.Result<Interpretation, Refusal> => {
  if (ask.actAs.length === 0) return missing("actAs")
  if (ask.commands.length === 0) return missing("commands")
  const disclosed = new Map<string, string>()
  for (const contract of ask.disclosed) {
    const id = contract.contractId ?? Disclosure.contractId(contract.createdEventBlob)
    if (id === null) {
      return Result.fail(LedgerError.make("INVALID_DISCLOSED_CONTRACT", "The blob is not readable"))
    }
    disclosed.set(id, contract.createdEventBlob)
  }
  const run = new Run(world, new Set([...ask.actAs, ...ask.readAs]), disclosed)
  const root: Context = { authority: new Set(ask.actAs), witnesses: [], depth: 0 }
  for (const command of ask.commands) {
    const done = run.command(root, command)
    if (Result.isFailure(done)) return Result.fail(done.failure)
  }
  return Result.succeed(run.finish())
}

const missing = (field: string) =>
  Result.fail(LedgerError.make("MISSING_FIELD", `The field ${field} is missing`))

class Run {
  private readonly world: LedgerWorld
  private readonly readers: ReadonlySet<string>
  private readonly disclosed: ReadonlyMap<string, string>
  private readonly nodes: Array<Node> = []
  private readonly inputs = new Map<string, Contract>()
  private readonly used = new Map<string, UsedContract>()
  private readonly created = new Map<string, Contract>()
  private readonly consumed = new Set<string>()

  constructor(
    world: LedgerWorld,
    readers: ReadonlySet<string>,
    disclosed: ReadonlyMap<string, string>
  ) {
    this.world = world
    this.readers = readers
    this.disclosed = disclosed
  }

  command(root: Context, command: Ledger.Command): Result.Result<unknown, Refusal> {
    switch (command._tag) {
      case "Create":
        return this.create(root, command.template, command.args)
      case "Exercise":
        return this.exercise(root, command)
      case "CreateAndExercise":
        return Result.flatMap(this.create(root, command.template, command.args), (contractId) =>
          this.exercise(root, { ...command, target: command.template, contractId })
        )
    }
  }

  finish(): Interpretation {
    const transient = new Set([...this.created.keys()].filter((id) => this.consumed.has(id)))
    return {
      nodes:
        transient.size === 0
          ? this.nodes
          : this.nodes.map((node) =>
              transient.has(node.contractId) ? { ...node, transient: true } : node
            ),
      inputs: this.inputs,
      created: [...this.created.values()].filter(({ contractId }) => !transient.has(contractId)),
      archived: [...this.consumed].filter((id) => !transient.has(id))
    }
  }

  private create(
    context: Context,
    template: Ledger.TypeRef,
    args: Ledger.LfRecord
  ): Result.Result<string, Refusal> {
    const { registry, seed, offset, now } = this.world
    const read = Result.flatMap(Registry.entity(registry, template), (entity) => entity.read(args))
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const { signatories, observers, payload, ensured } = read.success
    const name = Templates.key(template)
    if (!ensured) {
      return Result.fail(
        LedgerError.make(
          "TEMPLATE_PRECONDITION_VIOLATED",
          `Template precondition violated in ${name}`
        )
      )
    }
    const lacking = this.lacking(context, signatories)
    if (lacking !== null)
      return Result.fail(LedgerError.notAuthorized(`create of ${name}`, lacking))
    const nodeId = this.nodes.length
    const contractId = Identifiers.contractId(seed, nodeId)
    const packageId = Registry.packageIdOf(registry, template)
    const contract: Contract = {
      contractId,
      template,
      packageId,
      payload,
      signatories,
      observers,
      createdAt: now,
      createdOffset: offset
    }
    this.nodes.push({
      _tag: "Create",
      nodeId,
      contractId,
      template,
      packageId,
      payload,
      signatories,
      observers,
      witnesses: Entity.distinct([...context.witnesses, ...signatories, ...observers]),
      transient: false
    } satisfies CreateNode)
    this.created.set(contractId, contract)
    this.used.set(contractId, { contract, instance: read.success })
    return Result.succeed(contractId)
  }

  private exercise(
    context: Context,
    act: {
      readonly target: Ledger.TypeRef
      readonly contractId: string
      readonly choice: string
      readonly arg: Ledger.LfValue
    }
  ): Result.Result<Ledger.LfValue, Refusal> {
    if (context.depth >= depthMax) {
      return Result.fail(LedgerError.make("DAML_FAILURE", "consequences nest too deep"))
    }
    const found = this.use(act.contractId)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    const { contract, instance } = found.success
    const typed = this.typed(contract, instance, act.target)
    if (Result.isFailure(typed)) return Result.fail(typed.failure)
    const prepared =
      act.choice === "Archive"
        ? Result.succeed(Entity.archive(contract.signatories))
        : instance.pending({
            contractId: act.contractId,
            choice: act.choice,
            argument: act.arg
          })
    if (Result.isFailure(prepared)) return Result.fail(prepared.failure)
    const pending = prepared.success
    const what = `exercise of ${Templates.key(contract.template)}.${act.choice}`
    const lacking = this.lacking(context, pending.controllers)
    if (lacking !== null) return Result.fail(LedgerError.notAuthorized(what, lacking))
    if (pending.consuming) this.consumed.add(act.contractId)
    return this.consequences(context, { contract, pending, act, iface: typed.success })
  }

  /** Appends the exercise before its consequences, and completes it after them. */
  private consequences(
    context: Context,
    {
      contract,
      pending,
      iface,
      act
    }: {
      readonly contract: Contract
      readonly pending: Entity.PendingChoice
      readonly act: { readonly contractId: string; readonly choice: string }
      readonly iface: Ledger.TypeRef | null
    }
  ): Result.Result<Ledger.LfValue, Refusal> {
    const informees = [
      ...contract.signatories,
      ...(pending.consuming ? contract.observers : []),
      ...pending.controllers,
      ...pending.observers
    ]
    const witnesses = Entity.distinct([...context.witnesses, ...informees])
    const nodeId = this.nodes.length
    const node: ExerciseNode = {
      _tag: "Exercise",
      nodeId,
      lastDescendant: nodeId,
      contractId: contract.contractId,
      template: contract.template,
      packageId: contract.packageId,
      signatories: contract.signatories,
      observers: contract.observers,
      witnesses,
      transient: false,
      iface,
      choice: act.choice,
      arg: pending.argument,
      result: null,
      actors: pending.controllers,
      consuming: pending.consuming
    }
    this.nodes.push(node)
    const result = pending.run(
      this.scope({
        authority: new Set([...contract.signatories, ...pending.controllers]),
        witnesses,
        depth: context.depth + 1
      })
    )
    if (Result.isSuccess(result)) {
      this.nodes[nodeId] = {
        ...node,
        lastDescendant: this.nodes.length - 1,
        result: result.success
      }
    }
    return result
  }

  private scope(context: Context): Entity.Scope {
    return {
      now: this.world.now,
      create: (template, payload) =>
        this.create(context, template.typeRef, Templates.encodePayload(template, payload)),
      exercise: (template, contractId, choice, argument) =>
        Result.flatMap(
          this.exercise(context, Templates.exercise(template, contractId, choice, argument)),
          (value) => readBack(Templates.decodeResult(template, choice, value))
        ),
      fetch: (template, contractId) =>
        Result.flatMap(this.fetch(context, template.typeRef, contractId), (payload) =>
          readBack(Templates.decodePayload(template, payload))
        ),
      archive: (template, contractId) =>
        Result.map(
          this.exercise(context, {
            target: template.typeRef,
            contractId,
            choice: "Archive",
            arg: {}
          }),
          () => undefined
        )
    }
  }

  private fetch(
    context: Context,
    template: Ledger.TypeRef,
    contractId: string
  ): Result.Result<Ledger.LfRecord, Refusal> {
    const found = this.use(contractId)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    const { contract, instance } = found.success
    const typed = this.typed(contract, instance, template)
    if (Result.isFailure(typed)) return Result.fail(typed.failure)
    const stakeholders = [...contract.signatories, ...contract.observers]
    return stakeholders.some((party) => context.authority.has(party))
      ? Result.succeed(contract.payload)
      : Result.fail(LedgerError.notAuthorized(`fetch of ${Templates.key(template)}`, stakeholders))
  }

  /** Returns the contract if it exists, is visible to the submission and not yet consumed. */
  private use(contractId: string): Result.Result<UsedContract, Refusal> {
    if (this.consumed.has(contractId)) {
      return Result.fail(
        LedgerError.make("CONTRACT_NOT_ACTIVE", `Contract ${contractId} was consumed before`, {
          resources: [["CONTRACT_ID", contractId]]
        })
      )
    }
    const usedContract = this.used.get(contractId)
    if (usedContract !== undefined) return Result.succeed(usedContract)
    const contract = this.world.active(contractId)
    if (contract === undefined || !this.visible(contract)) {
      return Result.fail(LedgerError.contractNotFound(contractId))
    }
    if (this.inputs.size >= this.world.inputsMax) {
      return Result.fail(
        LedgerError.make("INVALID_ARGUMENT", `more than ${this.world.inputsMax} input contracts`)
      )
    }
    const read = Result.flatMap(Registry.entity(this.world.registry, contract.template), (entity) =>
      entity.read(contract.payload)
    )
    return Result.map(read, (instance) => {
      const used = { contract, instance }
      this.inputs.set(contractId, contract)
      this.used.set(contractId, used)
      return used
    })
  }

  private visible(contract: Contract): boolean {
    for (const party of contract.signatories) if (this.readers.has(party)) return true
    for (const party of contract.observers) if (this.readers.has(party)) return true
    const blob = this.disclosed.get(contract.contractId)
    return blob !== undefined && blob === Disclosure.blob(contract)
  }

  /** The interface through which the contract is used; null for its template. */
  private typed(
    contract: Contract,
    instance: Entity.Instance,
    target: Ledger.TypeRef
  ): Result.Result<Ledger.TypeRef | null, Refusal> {
    if (Templates.same(contract.template, target)) return Result.succeed(null)
    const existing = Registry.checkExists(this.world.registry, target)
    if (Result.isFailure(existing)) return Result.fail(existing.failure)
    if (instance.view(target) !== null) return Result.succeed(target)
    const id = contract.contractId
    return Result.fail(
      Registry.isInterface(this.world.registry, target)
        ? LedgerError.make("CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE", `of ${id}`)
        : LedgerError.make("WRONGLY_TYPED_CONTRACT", `${id} is no ${Templates.key(target)}`)
    )
  }

  /** Returns the missing authorizers. An empty requirement authorizes nothing. */
  private lacking(context: Context, required: Parties): Parties | null {
    if (required.length === 0) return []
    const lacking = required.filter((party) => !context.authority.has(party))
    return lacking.length === 0 ? null : lacking
  }
}

/** Decodes a value that a choice's body returned; a mismatch is a bug of the simulator. */
const readBack = <A>(read: Result.Result<A, { readonly message: string }>) => {
  if (Result.isFailure(read)) throw new Error(read.failure.message)
  return Result.succeed(read.success)
}
