import type { OwnAbi } from '../decode/declarations.ts'
import { openFunctions } from '../decode/functions.ts'
import { parseRegistry } from '../decode/registry.ts'
import { parseSignature } from '../decode/signature.ts'
import type { AbiParam } from '../decode/types.ts'
import { isRecord } from '../lib/arrays.ts'
import { readAsset, readTextAsset } from '../lib/runtime.ts'
import type { Kind } from '../mapping/index.ts'
import { kindOfTarget, type RuleConfig } from './rule.ts'

export type OwnAbis = () => readonly Pick<OwnAbi, 'events' | 'functions'>[]

/** Types of values at a path below `args`, over all declarations; undefined if none has them. */
export type TypesAt = (steps: readonly string[]) => ReadonlySet<string> | undefined

/** Names looked up per rule, and functions per name: a lookup takes milliseconds. */
const MAX_LOOKED_UP_NAMES = 4
const MAX_FUNCTIONS = 500

/** Finds argument types lazily, by the events or methods that the rule's conditions name. */
export const argumentTypesOf = (config: Pick<RuleConfig, 'targetType' | 'targetMap'>, own: OwnAbis): TypesAt => {
  const kind = kindOfTarget(config.targetType)
  let declared: (readonly AbiParam[])[] | undefined
  return steps => {
    if (!declared) {
      const mine = own()
      const each = declaredNames(kind, config.targetMap).map(name => declarationsOf(kind, name, mine))
      declared = each.every(it => it !== undefined) ? each.flat() : []
    }
    const types = declared.flatMap(inputs => argumentTypes(inputs, steps))
    return types.length === 0 ? undefined : new Set(types)
  }
}

/** None if the conditions name none, or too many. */
const declaredNames = (kind: Kind, targetMap: unknown): string[] => {
  const field = kind === 'event' ? 'event' : 'method'
  for (const condition of Array.isArray(targetMap) ? targetMap : []) {
    if (!isRecord(condition)) continue
    const { name, operator, value } = condition
    const isName = (name === field || name === `${field}.raw`) && (operator === 'Equals' || operator === 'Equals any')
    if (!isName) continue
    const names = (Array.isArray(value) ? value : [value]).filter(it => typeof it === 'string')
    return names.length > MAX_LOOKED_UP_NAMES ? [] : names
  }
  return []
}

/** Undefined if there are too many. */
const declarationsOf = (kind: Kind, name: string, own: ReturnType<OwnAbis>): (readonly AbiParam[])[] | undefined => {
  const mine = own.flatMap(({ events, functions }) => (kind === 'event' ? events : functions))
  const bundled = kind === 'event' ? eventsNamed(name) : functionsNamed(name)
  return bundled && [...mine.filter(it => it.name === name), ...bundled].map(({ inputs }) => inputs)
}

let events: Map<string, string[]> | undefined
const eventsNamed = (name: string) => {
  events ??= Map.groupBy(
    parseRegistry(readTextAsset('events.txt')).map(({ signature }) => signature),
    signature => signature.slice(0, signature.indexOf('(')),
  )
  return (events.get(name) ?? []).map(signature => parseSignature(signature))
}

let functions: ReturnType<typeof openFunctions> | undefined
const functionsNamed = (name: string) => {
  functions ??= openFunctions(readAsset('functions.bin'))
  return functions.named(name, MAX_FUNCTIONS)
}

/** Finds an argument by name, or by position if none has that name. */
const argumentTypes = (inputs: readonly AbiParam[], [first = '', ...rest]: readonly string[]): string[] => {
  const named = inputs.filter(({ name }) => name === first)
  const found = named.length > 0 ? named : isListPosition(first) ? inputs.slice(Number(first), Number(first) + 1) : []
  return found.flatMap(param => typesBelow(param, rest))
}

/** Steps into types as conditions step into values: see `compareValues`. */
const typesBelow = (param: AbiParam, [step, ...rest]: readonly string[]): string[] => {
  const { type, components = [] } = param
  // Indexed arrays and tuples appear only as hashes.
  if (step === undefined) return [type]
  if (param.indexed && /[\])]$|^tuple/.test(type)) return []
  const inner = type.endsWith(']') ? { ...param, type: type.slice(0, type.lastIndexOf('[')) } : undefined
  if (inner && isListPosition(step)) return typesBelow(inner, rest)
  if (inner && components.length > 0) return typesBelow(inner, [step, ...rest])
  const named = components.filter(
    ({ name }, place) => name === step || (isListPosition(step) && place === Number(step)),
  )
  if (named.length > 0) return named.flatMap(component => typesBelow(component, rest))
  if (step === 'value') return typesBelow(param, rest)
  if (rest.length > 0) return []
  if (step === 'type') return ['string']
  return ['num', 'scaled', 'hex'].includes(step) ? [type] : []
}

export const isListPosition = (step: string): boolean => /^\d{1,15}$/.test(step)
